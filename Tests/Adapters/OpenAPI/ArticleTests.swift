import Dunlin
import DunlinOpenAPI
import Foundation
import OpenAPIRuntime
import Testing

@Suite struct `The article on clients from OpenAPI documents` {
    private static let folder = URL(filePath: #filePath).appending(path: "../../../..").standardized

    private static func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: folder.appending(path: path)), as: UTF8.self)
    }

    private static func lines(_ path: String) throws -> [String] {
        try text(path).split(separator: "\n", omittingEmptySubsequences: false).map { String($0.drop { $0 == " " }) }
    }

    private static let article = "Sources/Dunlin/Dunlin.docc/DunlinOpenAPI.md"

    @Test func `Every snippet is code of this test`() throws {
        let code = try Self.lines("Tests/Adapters/OpenAPI/ArticleTests.swift")
        let parts = try Self.lines(Self.article).split(separator: "```swift").dropFirst().map {
            Array($0.prefix { $0 != "```" })
        }
        #expect(parts.count == 3)
        for part in parts where !part.contains(where: { $0.contains(".package(") }) {
            for block in part.filter({ !$0.hasPrefix("import ") }).split(separator: "").map(Array.init) {
                #expect(code.indices.contains { code[$0...].starts(with: block) }, "\(block)")
            }
        }
    }

    @Test func `The manifest names the products, the trait and the oldest version that is tested`() throws {
        let manifest = try Self.lines(Self.article).split(separator: "```swift").dropFirst().prefix(1).joined()
            .prefix { $0 != "```" }.joined(separator: " ")
        #expect(manifest.contains(#"traits: ["OpenAPI"])"#))
        for (name, package) in [
            ("Dunlin", "dunlin"), ("DunlinOpenAPI", "dunlin"), ("OpenAPIRuntime", "swift-openapi-runtime"),
        ] {
            #expect(manifest.contains(".product(name: \"\(name)\", package: \"\(package)\")"), "\(name)")
        }
        let tested = try Self.text("Tests/Adapters/Package.swift").firstMatch(
            of: /apple\/swift-openapi-runtime", from: "([0-9.]+)"/)
        let oldest = try #require(tested?.1)
        #expect(manifest.contains("apple/swift-openapi-runtime.git\", from: \"\(oldest)\""))
    }

    /// What the article shows, compiled.
    private func snippets() async throws {
        let session = try HTTPSession(baseURL: "https://api.example.com")
        let client = Client(
            serverURL: try Servers.Server1.url(),
            transport: OpenAPITransport(session))

        let pet = try await client.getPet(path: .init(id: 42)).ok.body.json

        let transport = OpenAPITransport(
            session, options: .init(timeouts: .init(total: .seconds(5))))
        _ = (pet, transport)
    }

    /// As much of what the generator makes as the snippets need.
    private struct Client {
        struct Path {
            let id: Int
        }

        struct Content {
            let json: Int
        }

        struct OK {
            let body: Content
        }

        struct Output {
            let ok: OK
        }

        let serverURL: URL
        let transport: any ClientTransport

        func getPet(path: Path) async throws -> Output { Output(ok: OK(body: Content(json: path.id))) }
    }

    private enum Servers {
        enum Server1 {
            static func url() throws -> URL { try #require(URL(string: "https://api.example.com")) }
        }
    }
}
