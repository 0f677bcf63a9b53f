import Dunlin
import DunlinLogging
import Foundation
import Logging
import Testing

@Suite struct `The article on logging` {
    private static let folder = URL(filePath: #filePath).appending(path: "../../../..").standardized

    private static func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: folder.appending(path: path)), as: UTF8.self)
    }

    private static func lines(_ path: String) throws -> [String] {
        try text(path).split(separator: "\n", omittingEmptySubsequences: false).map { String($0.drop { $0 == " " }) }
    }

    private static let article = "Sources/Dunlin/Dunlin.docc/DunlinLogging.md"

    @Test func `Every snippet is code of this test`() throws {
        let code = try Self.lines("Tests/Adapters/Logging/ArticleTests.swift")
        let parts = try Self.lines(Self.article).split(separator: "```swift").dropFirst().map {
            Array($0.prefix { $0 != "```" })
        }
        #expect(parts.count == 4)
        for part in parts where !part.contains(where: { $0.contains(".package(") }) {
            for block in part.filter({ !$0.hasPrefix("import ") }).split(separator: "").map(Array.init) {
                #expect(code.indices.contains { code[$0...].starts(with: block) }, "\(block)")
            }
        }
    }

    @Test func `The manifest names the products, the trait and the oldest version that is tested`() throws {
        let manifest = try Self.lines(Self.article).split(separator: "```swift").dropFirst().prefix(1).joined()
            .prefix { $0 != "```" }.joined(separator: " ")
        #expect(manifest.contains(#"traits: ["Logging"])"#))
        for (name, package) in [("Dunlin", "dunlin"), ("DunlinLogging", "dunlin"), ("Logging", "swift-log")] {
            #expect(manifest.contains(".product(name: \"\(name)\", package: \"\(package)\")"), "\(name)")
        }
        let tested = try Self.text("Tests/Adapters/Package.swift").firstMatch(
            of: /apple\/swift-log", from: "([0-9.]+)"/)
        let oldest = try #require(tested?.1)
        #expect(manifest.contains("apple/swift-log.git\", from: \"\(oldest)\""))
    }

    private struct User: Decodable, Sendable {}

    private struct Context {
        let logger: Logger
    }

    /// What the article shows, compiled.
    private func snippets(_ context: Context, _ logger: Logger, _ id: Int) async throws {
        var configuration = HTTPSession.Configuration(
            baseURL: "https://api.example.com/v1/")
        configuration.log(to: Logger(label: "api"))
        let client = try HTTPSession(configuration)

        let user = try await withLogger(context.logger) { _ in
            try await client.get("users/\(id, name: "id")", as: User.self)
        }

        configuration.log(to: logger) {
            $0.levels.success = .debug
            $0.levels.cancelled = nil
            $0.requestIDField = "X-Request-ID"
        }
        _ = user
    }

    @Test func `The table has every key and every step`() throws {
        let article = try Self.text(Self.article)
        for key in HTTPSession.LogKey.allCases { #expect(article.contains("`\(key.rawValue)`"), "\(key.rawValue)") }
        let steps = try Self.text("Sources/DunlinLogging/StepLine.swift").matches(of: /self\.init\("([a-z_]+)", "/)
            .map { String($0.1) }
        #expect(steps.count == 12)
        for step in steps { #expect(article.contains("`\(step)`"), "\(step)") }
        #expect(HTTPSession.SendingAgain.allCases.allSatisfy { article.contains("`\($0.rawValue)`") })
    }

    /// They cannot be compared in code, since no module sees both.
    @Test func `Steps have the names that spans have for them`() throws {
        let lines = try Self.text("Sources/DunlinLogging/StepLine.swift").matches(of: /self\.init\("([a-z_]+)", "/)
        let events = try Self.text("Sources/DunlinTracing/SpanEvent+Steps.swift").matches(of: /name = "([a-z_]+)"/)
        let (told, recorded) = (Set(lines.map { $0.1 }), Set(events.map { $0.1 }))
        #expect(told.subtracting(recorded) == ["proxy"] && recorded.subtracting(told) == [])
        let keys = try Self.text("Sources/DunlinTracing/SpanKey.swift")
        for key: HTTPSession.LogKey in [
            .method, .template, .status, .error, .phase, .exchanges, .reason, .wait, .offset, .cacheSource, .cacheState,
        ] {
            #expect(keys.contains("\"\(key.rawValue)\""), "\(key.rawValue)")
        }
    }
}
