import Dunlin
import DunlinOpenAPI
import DunlinTesting
import Foundation
import HTTPTypes
import OpenAPIRuntime
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct `Bodies of operations` {
    let server: LoopbackServer
    let transport: OpenAPITransport
    let base: URL

    init() throws {
        var small = LoopbackServer.Configuration()
        (small.sendBuffer, small.receiveBuffer) = (64 << 10, 64 << 10)
        // Other tests look at how much memory there is.
        small.keptBodyLimit = 1 << 20
        server = try LoopbackServer(configuration: small)
        transport = OpenAPITransport(try HTTPSession())
        base = try #require(URL(string: server.baseURL))
    }

    func send(_ body: HTTPBody?, _ method: HTTPRequest.Method = .post) async throws -> (HTTPResponse, HTTPBody?) {
        let request = HTTPRequest(method: method, scheme: nil, authority: nil, path: "/")
        return try await transport.send(request, body: body, baseURL: base, operationID: "op")
    }

    @Test(arguments: [true, false], [IterationBehavior.single, .multiple])
    func `are sent with a length if it is known, else in chunks`(
        isKnown: Bool, behavior: IterationBehavior
    ) async throws {
        defer { server.stop() }
        server.enqueue(.response())
        let pieces = Pieces(5, of: 100)
        _ = try await send(pieces.body(known: isKnown, behavior))
        let seen = try await server.nextRequest()
        #expect(seen.fields["content-length"] == (isKnown ? "500" : nil))
        #expect(seen.fields["transfer-encoding"] == (isKnown ? nil : "chunked"))
        #expect(!seen.fields.contains("content-type"))
        #expect(seen.body == pieces.whole)
    }

    @Test func `of no bytes, and none at all`() async throws {
        defer { server.stop() }
        server.respond { _ in .response() }
        for body in [nil, HTTPBody(), Pieces(0).body()] { _ = try await send(body) }
        #expect(server.requests.map { $0.fields["content-length"] } == ["0", "0", nil])
        #expect(server.requests.allSatisfy { $0.isComplete && $0.bodyCount == 0 })
    }

    @Test(arguments: [3, 5]) func `must have the length that they say`(length: Int64) async throws {
        defer { server.stop() }
        server.respond { _ in .response() }
        let body = HTTPBody(Pieces(1), length: .known(length), iterationBehavior: .single)
        await #expect { try await send(body) } throws: {
            let error = $0 as? NetworkError
            return error?.code == .bodyLengthMismatch && error?.reason.contains("operation op") == true
        }
        let impossible = HTTPBody(Pieces(1), length: .known(-1), iterationBehavior: .single)
        await #expect { try await send(impossible) } throws: { ($0 as? NetworkError)?.code == .invalidRequest }
    }

    @Test func `are sent again after a redirect if they can be iterated again`() async throws {
        defer { server.stop() }
        server.respond { request in
            request.target == "/" ? .response(.temporaryRedirect, fields: ["Location": "/there"]) : .response()
        }
        let twice = Pieces(3)
        #expect(try await send(twice.body(.multiple)).0.status == .ok)
        #expect(twice.readings.load(ordering: .relaxed) == 2)
        #expect(server.requests.map(\.body) == [twice.whole, twice.whole])
        let once = Pieces(3)
        await #expect { try await send(once.body()) } throws: { ($0 as? NetworkError)?.code == .bodyNotReplayable }
        #expect(once.readings.load(ordering: .relaxed) == 1)
    }

    struct Own: Error {}

    @Test func `that fail end the request`() async throws {
        defer { server.stop() }
        let pieces = Pieces(3) { if $0 == 2 { throw Own() } }
        await #expect(throws: (any Error).self) { try await send(pieces.body()) }
        try await server.wait { $0.open == 0 }
        #expect(server.requests.allSatisfy { !$0.isComplete })
    }

    @Test func `are made only as fast as the server reads`() async throws {
        defer { server.stop() }
        let goOn = LoopbackServer.Gate()
        server.enqueue(
            LoopbackServer.Reply([.waitForSignal(goOn), .message(.init(.ok, fields: ["Content-Length": "0"]))])
                .beforeBody)
        let pieces = Pieces(1024, of: 64 << 10)
        async let answer = send(pieces.body())
        // As much as the kernel's buffers take, and no more: far from the 64 MiB.
        var (last, looks) = (0, 0)
        try await eventually("a standstill") {
            let made = pieces.made.load(ordering: .relaxed)
            looks = made == last ? looks + 1 : 0
            last = made
            return made > 0 && looks >= 10
        }
        #expect(pieces.made.load(ordering: .relaxed) < 512)
        goOn.open()
        #expect(try await answer.0.status == .ok)
    }

    @Test func `of responses are received only as fast as they are read`() async throws {
        defer { server.stop() }
        let length = 64 << 20
        server.enqueue(.generated(length: length))
        let (_, body) = try await send(nil, .get)
        var pieces = try #require(body).makeAsyncIterator()
        var count = try await pieces.next()?.count ?? 0
        try await server.wait { $0.blockedSends > 0 }
        #expect(server.bytesSent < length / 2)
        while let piece = try await pieces.next() {
            #expect(piece.first == LoopbackServer.GeneratedBody.byte(at: count))
            count += piece.count
        }
        #expect(count == length)
    }

    @Test(arguments: [false, true]) func `of responses that are released end the exchange`(isBegun: Bool) async throws {
        defer { server.stop() }
        server.enqueue(.generated(length: 64 << 20))
        do {
            let (_, body) = try await send(nil, .get)
            if isBegun {
                var pieces = try #require(body).makeAsyncIterator()
                _ = try await pieces.next()
            }
        }
        try await server.wait { $0.accepted == 1 && $0.open == 0 }
    }
}
