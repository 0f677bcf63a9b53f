import Articles
import Dunlin
import DunlinOpenAPI
import Foundation
import OpenAPIRuntime
import Testing

@Suite struct `The article on clients from OpenAPI documents` {
    @Test func `Every snippet is code of this test`() throws {
        let article = try Article(on: "OpenAPI")
        #expect(article.parts.count == 3)
        #expect(article.blocksWithoutCode() == [])
    }

    @Test func `The manifest names the products, the trait and the oldest version that is tested`() throws {
        let missing = try Article(on: "OpenAPI").missingInManifest(
            trait: "OpenAPI", product: "OpenAPIRuntime", of: "apple/swift-openapi-runtime")
        #expect(missing == [])
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
