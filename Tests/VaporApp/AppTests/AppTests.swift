import Dunlin
import DunlinTesting
import Foundation
import Testing
import Vapor

@testable import App

@Suite(.timeLimit(.minutes(5))) struct `What the article shows for Vapor` {
    private func with(_ play: (Application, LoopbackServer) async throws -> Void) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { request in
            switch request.target {
            case "/users/42": .response(fields: ["Content-Type": "application/json"], body: #"{"id":42,"name":"Ada"}"#)
            case "/moved": .response(302, fields: ["Location": "/users/42"])
            case "/slow": .raw(.empty)
            case "/nothing": .response(404, fields: ["X-Why": "gone", "X-Why": "lost"], body: "no")
            default: .response(201)
            }
        }
        let client = try HTTPSession(baseURL: server.baseURL)
        let app = try await Application.make(.testing)
        configure(app, client: client)
        do {
            try await play(app, server)
        } catch {
            try await app.asyncShutdown()
            throw error
        }
        #expect(!client.isShutDown)
        try await app.asyncShutdown()
        #expect(client.isShutDown)
    }

    private static func url(_ server: LoopbackServer, _ path: String) -> URI { URI(string: server.baseURL + path) }

    @Test func `what a request says is sent, and the response comes back`() async throws {
        try await with { app, server in
            let headers: HTTPHeaders = ["X-A": "1", "X-A": "2"]
            let made = try await app.client.post(
                Self.url(server, "/make?a=b%20c"), headers: headers, content: ["name": "Ada"])
            #expect(made.status == .created && made.body?.readableBytes == 0)
            let sent = try #require(server.requests.last)
            #expect(sent.method == .post && sent.target == "/make?a=b%20c" && String(sent.body) == #"{"name":"Ada"}"#)
            #expect(sent.fields.filter { $0.name.lowercased() == "x-a" }.map(\.value) == ["1", "2"])
            #expect(sent.fields["content-type"]?.hasPrefix("application/json") == true)
            let found = try await app.client.get(Self.url(server, "/moved"))
            #expect(try found.content.decode(User.self).name == "Ada")
        }
    }

    @Test func `a status is no error, and a timeout is one`() async throws {
        try await with { app, server in
            let missing = try await app.client.get(Self.url(server, "/nothing"))
            #expect(missing.status == .notFound && missing.headers["X-Why"] == ["gone", "lost"])
            #expect(missing.body.map { String(buffer: $0) } == "no")
            let error = await #expect(throws: NetworkError.self) {
                try await app.client.get(Self.url(server, "/slow")) { $0.timeout = .milliseconds(50) }
            }
            #expect(error?.code == .timedOut)
        }
    }

    @Test func `a request's client is on the loop of the request`() async throws {
        try await with { app, server in
            let loop = app.eventLoopGroup.next()
            let request = Request(application: app, method: .GET, url: "/users/42", on: loop)
            #expect(request.client.eventLoop === loop)
            let found: EventLoopFuture<ClientResponse> = request.client.get(Self.url(server, "/users/42"))
            let isOnLoop = try await found.map { _ in loop.inEventLoop }.get()
            #expect(isOnLoop)
            let response = try await app.responder.respond(to: request).get()
            #expect(try response.content.decode(User.self).id == 42 && server.requests.count == 2)
        }
    }

    @Test func `the article has these files, whole`() throws {
        let package = URL(filePath: #filePath).appending(path: "../../../..").standardized
        func text(_ path: String) throws -> String {
            try String(contentsOf: package.appending(path: path), encoding: .utf8)
        }
        let parts = try text("Sources/Dunlin/Dunlin.docc/InAService.md").components(separatedBy: "```swift\n")
        let shown = parts.dropFirst().compactMap { $0.components(separatedBy: "```").first }
        let files = try ["Configure", "SessionClient"].map { try text("Tests/VaporApp/App/\($0).swift") }
        #expect(shown.filter { $0.contains("import Vapor") } == files)
    }
}
