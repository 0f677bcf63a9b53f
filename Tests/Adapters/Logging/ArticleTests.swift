import Articles
import Dunlin
import DunlinLogging
import Logging
import Testing

@Suite struct `The article on logging` {
    private static let article = "Sources/Dunlin/Dunlin.docc/DunlinLogging.md"

    @Test func `Every snippet is code of this test`() throws {
        let article = try Article(on: "Logging")
        #expect(article.parts.count == 4)
        #expect(article.blocksWithoutCode() == [])
    }

    @Test func `The manifest names the products, the trait and the oldest version that is tested`() throws {
        let missing = try Article(on: "Logging").missingInManifest(
            trait: "Logging", product: "Logging", of: "apple/swift-log")
        #expect(missing == [])
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
            $0.levels.success = .info
            $0.levels.cancelled = nil
            $0.requestIDField = "X-Request-ID"
        }
        _ = user
    }

    @Test func `The table has every key and every step`() throws {
        let article = try Article.text(Self.article)
        for key in HTTPSession.LogKey.allCases { #expect(article.contains("`\(key.rawValue)`"), "\(key.rawValue)") }
        let steps = try Article.text("Sources/DunlinLogging/StepLine.swift").matches(of: /self\.init\("([a-z_]+)", "/)
            .map { String($0.1) }
        #expect(steps.count == 12)
        for step in steps { #expect(article.contains("`\(step)`"), "\(step)") }
        #expect(HTTPSession.SendingAgain.allCases.allSatisfy { article.contains("`\($0.rawValue)`") })
    }

    /// They cannot be compared in code, since no module sees both.
    @Test func `Steps have the names that spans have for them`() throws {
        let lines = try Article.text("Sources/DunlinLogging/StepLine.swift").matches(of: /self\.init\("([a-z_]+)", "/)
        let events = try Article.text("Sources/DunlinTracing/SpanEvent+Steps.swift").matches(of: /name = "([a-z_]+)"/)
        let (told, recorded) = (Set(lines.map { $0.1 }), Set(events.map { $0.1 }))
        #expect(told.subtracting(recorded) == ["proxy"] && recorded.subtracting(told) == [])
        let keys = try Article.text("Sources/DunlinTracing/SpanKey.swift")
        for key: HTTPSession.LogKey in [
            .method, .template, .status, .error, .phase, .exchanges, .reason, .wait, .offset, .cacheSource, .cacheState,
        ] {
            #expect(keys.contains("\"\(key.rawValue)\""), "\(key.rawValue)")
        }
    }
}
