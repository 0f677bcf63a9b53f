import Dunlin
import DunlinOpenAPI
import DunlinTesting
import Foundation
import HTTPTypes
import OpenAPIRuntime
import Testing

/// A task is cancelled at each point of an operation: the socket is closed, and what was still to come is not awaited.
@Suite(.timeLimit(.minutes(5))) struct `Cancelling an operation` {
    enum Point: CaseIterable {
        case beforeAnything, beforeBody, amidBody, beforeHead, beforeReading, amidReading
    }

    private func cancelled() async {
        while !Task.isCancelled { await Task.yield() }
    }

    @Test(arguments: Point.allCases) func `reaches the socket`(point: Point) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        let here = LoopbackServer.Gate()
        let never = LoopbackServer.Gate()
        if point == .beforeReading || point == .amidReading {
            server.enqueue([
                .message(.init(.ok, fields: ["Content-Length": "10"], body: "half")), .stall,
            ])
        } else {
            server.enqueue([.signal(here), .stall])
        }
        let stop: Int? =
            switch point {
            case .beforeBody: 0
            case .amidBody: 1
            default: nil
            }
        let pieces = Pieces(3) { number in
            guard number == stop else { return }
            here.open()
            try await never.opened(within: .seconds(300))
        }
        let transport = OpenAPITransport(try HTTPSession())
        let base = try #require(URL(string: server.baseURL))
        let task = Task {
            if point == .beforeAnything { await cancelled() }
            let request = HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/")
            let (_, body) = try await transport.send(
                request, body: pieces.body(), baseURL: base, operationID: "op")
            if point == .beforeReading {
                here.open()
                await cancelled()
            }
            for try await _ in body ?? HTTPBody() where point == .amidReading { here.open() }
        }
        if point != .beforeAnything { try await here.opened() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await server.wait { $0.open == 0 }
        #expect(server.connectionCount == (point == .beforeAnything ? 0 : 1))
    }

    @Test func `after the body was read changes nothing`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in .response(body: "hello") }
        let transport = OpenAPITransport(try HTTPSession())
        let base = try #require(URL(string: server.baseURL))
        let read = LoopbackServer.Gate()
        let task = Task {
            let request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/")
            let (_, body) = try await transport.send(request, body: nil, baseURL: base, operationID: "op")
            let text = try await String(collecting: body ?? HTTPBody(), upTo: 100)
            read.open()
            return text
        }
        try await read.opened()
        task.cancel()
        #expect(try await task.value == "hello")
        #expect(server.openConnections == 1)
    }
}
