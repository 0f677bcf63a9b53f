import Articles
import Dunlin
import DunlinHTTPTypes
import HTTPTypes
import Testing

@Suite struct `The article on HTTPRequest and HTTPResponse` {
    @Test func `Every snippet is code of this test`() throws {
        let article = try Article(on: "HTTPTypes")
        #expect(article.parts.count == 3)
        #expect(article.blocksWithoutCode() == [])
    }

    @Test func `The manifest names the products, the trait and the oldest version that is tested`() throws {
        let missing = try Article(on: "HTTPTypes").missingInManifest(
            trait: "HTTPTypes", product: "HTTPTypes", of: "apple/swift-http-types")
        #expect(missing == [])
    }

    /// What the article shows, compiled.
    private func snippets(_ client: HTTPSession) async throws {
        let request = HTTPRequest(
            method: .get, scheme: "https", authority: "api.example.com",
            path: "/v1/users/42")
        let (response, body) = try await client.send(request)

        let (head, pieces) = try await client.stream(request)
        for try await piece in pieces { print(head.status, piece.count) }
        _ = (response, body)
    }

    private func snippetOfPassing(_ client: HTTPSession, _ request: HTTPRequest) async throws -> HTTPResponse {
        let options = HTTPSession.Options(decodesContent: false)
        let answer = try await client.stream(request, options: options)
        var response = answer.response
        let own = (response.headerFields[.connection] ?? "").split(separator: ",")
        let names =
            own.map(String.init) + [
                "Connection", "Keep-Alive", "Proxy-Authenticate",
                "Proxy-Connection", "Trailer", "Transfer-Encoding", "Upgrade",
            ]
        for name in names {
            let name = HTTPField.Name(name.filter { $0 != " " && $0 != "\t" })
            if let name { response.headerFields[name] = nil }
        }
        return response
    }
}
