import Foundation
import Testing

extension Recipes {
    @Suite struct `The article on services` {
        private static let package = URL(filePath: #filePath).appending(path: "../../../..").standardized

        private static func text(_ path: String) throws -> String {
            try String(contentsOf: package.appending(path: path), encoding: .utf8)
        }

        private static func snippets() throws -> [String] {
            try text("Sources/Dunlin/Dunlin.docc/InAService.md").components(separatedBy: "```swift\n").dropFirst().map {
                try #require($0.components(separatedBy: "```").first)
            }
        }

        /// Code of Vapor, and a manifest, are no part of the recipes.
        private static func isOther(_ snippet: String) -> Bool {
            snippet.contains("import Vapor") || snippet.contains(".package(")
        }

        @Test func `shows files of the recipes, whole`() throws {
            let paths = [
                "Gateway/Client.swift", "Gateway/Application.swift", "Gateway/RequestLogger.swift",
                "Gateway/BackendErrors.swift", "Gateway/Proxy.swift", "Gateway/HTTPFields+EndToEnd.swift",
                "HealthChecker/HealthChecker.swift",
            ]
            let shown = try Self.snippets().filter { !Self.isOther($0) }
            #expect(try shown == paths.map { try Self.text("Tests/Recipes/\($0)") })
        }

        @Test func `names the products that the recipes use`() throws {
            let manifest = try Self.text("Tests/Recipes/Package.swift")
            let article = try Self.text("Sources/Dunlin/Dunlin.docc/InAService.md")
            for trait in ["Logging", "Metrics", "Tracing", "ServiceLifecycle", "HTTPTypes"] {
                #expect(manifest.contains("\"\(trait)\"") && article.contains("\"\(trait)\""))
            }
        }
    }
}
