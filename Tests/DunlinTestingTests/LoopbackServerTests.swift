import DunlinTesting
import DunlinTypes
import Glibc
import Testing

@Suite(.timeLimit(.minutes(10))) struct LoopbackServerTests {
    typealias Reply = LoopbackServer.Reply

    @Test(arguments: [
        LoopbackServer.Endpoint.ipv4, .ipv6, .abstract, .unix("/tmp/dunlin-test-\(getpid()).socket"),
        .unix("\0dunlin-test-\(getpid())"),
    ])
    func `the server answers over every kind of socket`(endpoint: LoopbackServer.Endpoint) throws {
        let server = try LoopbackServer(endpoint)
        server.enqueue(.response(fields: ["X": "y"], body: "hello"))
        let peer = try Peer(server.address)
        peer.send(.get())
        #expect(peer.readResponse() == "HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 5\r\n\r\nhello")
        #expect(server.failures.isEmpty)
    }

    @Test func `the server names its address`() throws {
        let four = try LoopbackServer()
        #expect(four.baseURL == "http://127.0.0.1:\(four.port)")
        #expect(four.port != 0)
        let six = try LoopbackServer(.ipv6)
        #expect(six.baseURL == "http://[::1]:\(six.port)")
        let unix = try LoopbackServer(.unix("\0dunlin-name-\(getpid())"))
        #expect(unix.baseURL == "http://localhost")
        #expect(unix.address == .unix("\0dunlin-name-\(getpid())"))
    }

    @Test func `a path is taken once, and free again after stop`() throws {
        let path = "/tmp/dunlin-path-\(getpid()).socket"
        let server = try LoopbackServer(.unix(path))
        #expect(throws: (any Error).self) { try LoopbackServer(.unix(path)) }
        server.stop()
        #expect(access(path, F_OK) != 0)
        let second = try LoopbackServer(.unix(path))
        server.stop()
        #expect(access(path, F_OK) == 0, "a second stop must leave the new server's socket alone")
        second.stop()
    }

    @Test func `a path that is too long is an error`() {
        #expect(throws: (any Error).self) { try LoopbackServer(.unix("/tmp/" + String(repeating: "x", count: 108))) }
    }

    @Test func `routes come before the queue, the queue before the closure, and 404 is last`() throws {
        let server = try LoopbackServer()
        let peer = try Peer(server.address)
        func status(_ target: String) -> String {
            peer.send(.get(target))
            return String(peer.readResponse().prefix(12).suffix(3))
        }
        #expect(status("/") == "404")
        server.respond { request in .response(request.target == "/closure" ? 202 : 203) }
        #expect(status("/closure") == "202")
        server.enqueue(.response(500), .response(503))
        server.route(.get, "/route", .response(301), .response(302))
        #expect(
            ["/route", "/", "/route?q=1", "/other", "/route", "/", "/closure"].map(status) == [
                "301", "500", "302", "503", "302", "203", "202",
            ])
    }

    @Test func `a route with a query matches that query alone, and the newest route wins`() throws {
        let server = try LoopbackServer()
        server.route(.get, "/a?x=1", .response(201))
        server.route(.post, "/a?x=2", .response(201))
        server.route(.get, "/b", .response(201))
        server.route(.get, "/b", .response(202))
        let peer = try Peer(server.address)
        let statuses = ["/a?x=1", "/a?x=2", "/a", "/b"].map { target in
            peer.send(.get(target))
            return peer.readResponse().prefix(12).suffix(3)
        }
        #expect(statuses == ["201", "404", "404", "202"])
    }

    private static let exactReplies: [(Reply, String)] = [
        (Reply.response(204), "HTTP/1.1 204 No Content\r\n\r\n"),
        (.response(304), "HTTP/1.1 304 Not Modified\r\n\r\n"),
        (.response(299, body: "x"), "HTTP/1.1 299 \r\nContent-Length: 1\r\n\r\nx"),
        (.response(fields: ["content-length": "9"], body: "x"), "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx"),
        (.response(body: "x").closingAfter, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx"),
        (.untilClose("all"), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall"),
        (
            .chunked(["0123456789", "", "b"], trailers: ["t": "v"]),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n1\r\nb\r\n0\r\nt: v\r\n\r\n"
        ),
        (.generated(length: 3), "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n\u{0}\u{1}\u{2}"),
        (.raw("HTTP/9 \n"), "HTTP/9 \n"),
        (
            .response().precededBy(interim: 103, ["Link": "</x>"]),
            "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        ),
        (
            [.message(.init(200, reason: "Fine", fields: ["A": ""])), .send("1"), .send("2")],
            "HTTP/1.1 200 Fine\r\nA: \r\n\r\n12"
        ),
    ]

    @Test(arguments: exactReplies)
    func `a reply is sent exactly as it was written`(reply: Reply, expected: String) throws {
        let server = try LoopbackServer()
        server.enqueue(reply.closingSilently)
        let peer = try Peer(server.address)
        peer.send(.get())
        let (text, ending) = peer.readToEnd()
        #expect(text == expected)
        #expect(ending == .closed)
        #expect(server.bytesSent == expected.utf8.count)
    }

    private static let headReplies: [(Reply, String)] = [
        (Reply.response(body: "hello"), "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"),
        (.generated(length: 9), "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"),
        (.chunked(["a"]), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
        (
            .response(body: "a").precededBy(interim: 103),
            "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"
        ),
        (.raw("as is"), "as is"),
    ]

    @Test(arguments: headReplies)
    func `a HEAD gets no body unless the reply is raw`(reply: Reply, expected: String) throws {
        let server = try LoopbackServer()
        server.enqueue(reply.closingSilently)
        let peer = try Peer(server.address)
        peer.send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(peer.readToEnd().text == expected)
    }

    @Test func `the server counts connections and requests on them`() async throws {
        let server = try LoopbackServer()
        server.respond { _ in .response() }
        let first = try Peer(server.address)
        let second = try Peer(server.address)
        for _ in 0..<2 {
            first.send(.get("/first"))
            _ = first.readResponse()
        }
        second.send(.get("/second"))
        _ = second.readResponse()
        let seen = server.requests
        #expect(seen.map(\.target) == ["/first", "/first", "/second"])
        #expect(seen.map(\.connection) == [0, 0, 1])
        #expect(seen.map(\.indexOnConnection) == [0, 1, 0])
        #expect(server.connectionCount == 2)
        #expect(server.openConnections == 2)
        first.hangUp()
        try await server.wait { $0.open == 1 }
        #expect(server.connectionCount == 2)
    }

    @Test func `requests are handed out one by one as they come`() async throws {
        let server = try LoopbackServer()
        server.respond { _ in .response() }
        let peer = try Peer(server.address)
        async let early = server.nextRequest()
        peer.send(.get("/1"))
        #expect(try await early.target == "/1")
        peer.send(.get("/2"))
        #expect(try await server.waitForRequests(2).map(\.target) == ["/1", "/2"])
        #expect(try await server.nextRequest().target == "/2")
    }

    @Test func `a wait for what does not come ends`() async throws {
        let server = try LoopbackServer()
        let timeout = await #expect(throws: LoopbackServer.WaitTimedOut.self) {
            try await server.nextRequest(within: .zero)
        }
        #expect(timeout?.description.contains("a request") == true)
        #expect(timeout?.description.contains("accepted: 0") == true)
        let waiting = Task { try await server.waitForRequests(1) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test(arguments: [("HTTP/1.1", "close"), ("HTTP/1.1", "x, Close"), ("HTTP/1.0", "x")])
    func `the server closes a connection when the request asks for it`(version: String, connection: String) throws {
        let server = try LoopbackServer()
        server.enqueue(.response(body: "bye"))
        let peer = try Peer(server.address)
        peer.send(Bytes("GET / \(version)\r\nHost: x\r\nConnection: \(connection)\r\n\r\n"))
        let (text, ending) = peer.readToEnd()
        #expect(text.hasSuffix("bye"))
        #expect(ending == .closed)
    }

    @Test func `the server serves pipelined requests in order`() throws {
        let server = try LoopbackServer()
        server.respond { .response(body: Bytes($0.target)) }
        let peer = try Peer(server.address)
        peer.send(Bytes(Bytes.get("/1").array + Bytes.get("/2").array))
        #expect(peer.readResponse().hasSuffix("/1"))
        #expect(peer.readResponse().hasSuffix("/2"))
    }

    @Test func `the server counts requests without keeping them when told to`() async throws {
        var configuration = LoopbackServer.Configuration()
        configuration.recordsRequests = false
        let server = try LoopbackServer(configuration: configuration)
        let peer = try Peer(server.address)
        peer.send(.get())
        _ = peer.readResponse()
        #expect(server.requests.isEmpty)
        #expect(server.activity.requests == 1)
    }
}
