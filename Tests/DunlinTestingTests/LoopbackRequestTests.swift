import DunlinTesting
import DunlinTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct LoopbackRequestTests {
    private static let post = "POST /p?q HTTP/1.1\r\nHost: h\r\n"

    private static let bodies: [(String, String, Fields)] = [
        ("Content-Length: 5\r\n\r\nhello", "hello", [:]),
        ("Content-Length: 0\r\n\r\n", "", [:]),
        ("\r\n", "", [:]),
        ("Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n", "hello", [:]),
        ("Transfer-Encoding: Chunked\r\n\r\n005\r\nhello\r\n0\r\nT: v\r\nU:\r\n\r\n", "hello", ["t": "v", "u": ""]),
    ]

    @Test(arguments: bodies)
    func `the server reads bodies whole and byte by byte`(rest: String, body: String, trailers: Fields) throws {
        let server = try LoopbackServer()
        let peer = try Peer(server.address)
        let request = Bytes(Self.post + rest)
        peer.send(request)
        _ = peer.readResponse()
        for byte in request { peer.send(Bytes([byte])) }
        _ = peer.readResponse()
        #expect(server.requests.count == 2)
        for seen in server.requests {
            #expect(seen.method == .post)
            #expect(seen.target == "/p?q")
            #expect(seen.version == .http11)
            #expect(seen.fields["host"] == "h")
            #expect(request.starts(with: seen.head))
            #expect(String(seen.head).hasSuffix("\r\n\r\n"))
            #expect(String(seen.body) == body)
            #expect(seen.bodyCount == body.utf8.count)
            #expect(seen.trailers == trailers)
            #expect(seen.isComplete)
        }
        #expect(server.failures.isEmpty)
    }

    @Test(arguments: [
        "GET  / HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET / HTTP/1.1 \r\nHost: h\r\n\r\n",
        "GET /\r\nHost: h\r\n\r\n",
        "GET / HTTP/1.2\r\nHost: h\r\n\r\n",
        "GET /ä HTTP/1.1\r\nHost: h\r\n\r\n",
        "G(T / HTTP/1.1\r\nHost: h\r\n\r\n",
        "\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n",
        "GET / HTTP/1.1\nHost: h\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\rX: y\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\u{1}\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : h\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\n folded\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\n: empty\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: +5\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: \r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nbad trailer\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nLong: \(String(repeating: "x", count: 2000))\r\n\r\n",
    ])
    func `a malformed request is refused and recorded`(request: String) throws {
        var configuration = LoopbackServer.Configuration()
        configuration.headLimit = 1500
        let server = try LoopbackServer(configuration: configuration)
        let peer = try Peer(server.address)
        peer.send(Bytes(request))
        let (text, ending) = peer.readToEnd()
        #expect(text.hasPrefix("HTTP/1.1 400 "))
        #expect(ending == .closed)
        #expect(server.failures.map(\.kind) == [.malformed])
        #expect(server.failures.first?.connection == 0)
    }

    @Test(arguments: [
        ("GET / HT", 0), ("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nhalf", 4),
        ("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nha", 2),
    ])
    func `a client that leaves in the middle of a request is recorded`(request: String, bodyCount: Int) async throws {
        let server = try LoopbackServer()
        let peer = try Peer(server.address)
        peer.send(Bytes(request))
        peer.hangUp()
        try await server.wait { $0.failures == 1 && $0.open == 0 }
        #expect(server.failures.map(\.kind) == [.truncated])
        #expect(server.requests.count == (bodyCount == 0 ? 0 : 1))
        #expect(server.requests.allSatisfy { !$0.isComplete && $0.bodyCount == bodyCount })
    }

    @Test func `the server keeps bodies up to the limit and hashes longer ones`() throws {
        var configuration = LoopbackServer.Configuration()
        configuration.keptBodyLimit = 100_000
        let server = try LoopbackServer(configuration: configuration)
        let peer = try Peer(server.address)
        for length in [100_000, 100_001, 300_000] {
            peer.send(Bytes("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: \(length)\r\n\r\n"))
            peer.send(LoopbackServer.GeneratedBody.bytes(0..<length))
            _ = peer.readResponse()
            let seen = server.requests.last
            #expect(seen?.bodyCount == length)
            #expect(seen?.body.count == (length == 100_000 ? length : 0))
            #expect(seen?.bodyHash == LoopbackServer.GeneratedBody.hash(length: length))
        }
    }

    @Test func `the server answers an expectation before it reads the body`() throws {
        let server = try LoopbackServer()
        server.enqueue(.response(body: "done"))
        let peer = try Peer(server.address)
        peer.send("PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        #expect(peer.readResponse() == "HTTP/1.1 100 Continue\r\n\r\n")
        #expect(server.requests.isEmpty)
        peer.send("hi")
        #expect(peer.readResponse().hasSuffix("done"))
        #expect(server.requests.map(\.wasContinued) == [true])
        #expect(server.requests.map { String($0.body) } == ["hi"])
    }

    @Test func `the server leaves an expectation unanswered when told to`() throws {
        var configuration = LoopbackServer.Configuration()
        configuration.answersExpectations = false
        let server = try LoopbackServer(configuration: configuration)
        server.enqueue(.response(body: "done"))
        let peer = try Peer(server.address)
        peer.send("PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        peer.send("hi")
        #expect(peer.readResponse().hasPrefix("HTTP/1.1 200"))
        #expect(server.requests.map(\.wasContinued) == [false])
    }

    @Test func `a reply may come before the body`() async throws {
        let server = try LoopbackServer()
        server.enqueue(.response(417, body: "no").beforeBody, .response(body: "next"))
        let peer = try Peer(server.address)
        peer.send("PUT /1 HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        #expect(peer.readResponse().hasPrefix("HTTP/1.1 417"))
        #expect(server.requests.map(\.isComplete) == [false])
        peer.send("hi")
        peer.send(.get("/2"))
        #expect(peer.readResponse().hasSuffix("next"))
        #expect(server.requests.map { String($0.body) } == ["hi", ""])
        #expect(server.requests.map(\.isComplete) == [true, true])
        #expect(server.failures.isEmpty)
    }
}
