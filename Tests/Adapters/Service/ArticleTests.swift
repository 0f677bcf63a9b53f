import Dunlin
import DunlinService
import Foundation
import Logging
import ServiceLifecycle
import Testing
import UnixSignals

@Suite struct `The article on services` {
    private static let folder = URL(filePath: #filePath).appending(path: "../../../..").standardized

    private static func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: folder.appending(path: path)), as: UTF8.self)
    }

    private static func lines(_ path: String) throws -> [String] {
        try text(path).split(separator: "\n", omittingEmptySubsequences: false).map { String($0.drop { $0 == " " }) }
    }

    private static let article = "Sources/Dunlin/Dunlin.docc/DunlinService.md"

    @Test func `Every snippet is code of this test`() throws {
        let code = try Self.lines("Tests/Adapters/Service/ArticleTests.swift")
        let parts = try Self.lines(Self.article).split(separator: "```swift").dropFirst().map {
            Array($0.prefix { $0 != "```" })
        }
        #expect(parts.count == 2)
        for part in parts where !part.contains(where: { $0.contains(".package(") }) {
            for block in part.filter({ !$0.hasPrefix("import ") }).split(separator: "").map(Array.init) {
                #expect(code.indices.contains { code[$0...].starts(with: block) }, "\(block)")
            }
        }
    }

    @Test func `The manifest names the products, the trait and the oldest version that is tested`() throws {
        let manifest = try Self.lines(Self.article).split(separator: "```swift").dropFirst().prefix(1).joined()
            .prefix { $0 != "```" }.joined(separator: " ")
        #expect(manifest.contains(#"traits: ["ServiceLifecycle"])"#))
        for (name, package) in [
            ("Dunlin", "dunlin"), ("DunlinService", "dunlin"), ("ServiceLifecycle", "swift-service-lifecycle"),
        ] {
            #expect(manifest.contains(".product(name: \"\(name)\", package: \"\(package)\")"), "\(name)")
        }
        let tested = try Self.text("Tests/Adapters/Package.swift").firstMatch(
            of: /swift-server\/swift-service-lifecycle", from: "([0-9.]+)"/)
        let oldest = try #require(tested?.1)
        #expect(manifest.contains("swift-server/swift-service-lifecycle.git\", from: \"\(oldest)\""))
    }

    /// What the article shows, compiled.
    private func snippets(_ client: HTTPSession, _ server: some Service, _ logger: Logger) async throws {
        let group = ServiceGroup(
            services: [client.service(grace: .seconds(20)), server],
            gracefulShutdownSignals: [.sigint, .sigterm], logger: logger)
        try await group.run()
    }
}
