import Dunlin
import DunlinHTTPTypes
import Foundation
import HTTPTypes
import Testing

@Suite struct `The article on HTTPRequest and HTTPResponse` {
    private static let folder = URL(filePath: #filePath).appending(path: "../../../..").standardized

    private static func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: folder.appending(path: path)), as: UTF8.self)
    }

    private static func lines(_ path: String) throws -> [String] {
        try text(path).split(separator: "\n", omittingEmptySubsequences: false).map { String($0.drop { $0 == " " }) }
    }

    private static let article = "Sources/Dunlin/Dunlin.docc/DunlinHTTPTypes.md"

    @Test func `Every snippet is code of this test`() throws {
        let code = try Self.lines("Tests/Adapters/HTTPTypes/ArticleTests.swift")
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
        #expect(manifest.contains(#"traits: ["HTTPTypes"])"#))
        for (name, package) in [("Dunlin", "dunlin"), ("DunlinHTTPTypes", "dunlin"), ("HTTPTypes", "swift-http-types")]
        {
            #expect(manifest.contains(".product(name: \"\(name)\", package: \"\(package)\")"), "\(name)")
        }
        let tested = try Self.text("Tests/Adapters/Package.swift").firstMatch(
            of: /apple\/swift-http-types", from: "([0-9.]+)"/)
        let oldest = try #require(tested?.1)
        #expect(manifest.contains("apple/swift-http-types.git\", from: \"\(oldest)\""))
    }

    /// What the article shows, compiled.
    private func snippets(_ client: HTTPSession) async throws {
        let request = HTTPRequest(
            method: .get, scheme: "https", authority: "api.example.com", path: "/v1/users/42")
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
                "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Connection",
                "Trailer", "Transfer-Encoding", "Upgrade",
            ]
        for name in names {
            let name = HTTPField.Name(name.filter { $0 != " " && $0 != "\t" })
            if let name { response.headerFields[name] = nil }
        }
        return response
    }
}
