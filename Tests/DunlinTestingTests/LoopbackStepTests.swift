import DunlinTesting
import DunlinTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct LoopbackStepTests {
    typealias Reply = LoopbackServer.Reply
    typealias Step = LoopbackServer.Step
    typealias Gate = LoopbackServer.Gate

    static let hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

    private static let pieces: [(Reply, Int)] = [
        (Reply.response(body: "hello"), 1),
        (.raw("12345678").dripping(1), 8),
        (.response(body: "hello").dripping(7, every: .microseconds(1)), (hello.utf8.count + 6) / 7),
        (.response(body: "hello").split(at: 3, 9), 3),
        (.response(body: "hello").split(at: -1, 0, 3, 3, 1000), 2),
        ([.send("HTTP/1.1 200 OK\r\n"), .send("Content-Length: 5\r\n\r\n"), .send("hello")], 3),
        (.generated(length: 5).inOnePiece, 1),
        (.chunked(["a", "b"]), 4),
        (.chunked(["a", "b"]).inOnePiece, 1),
    ]

    /// The kernel may send the last one again when the acknowledgement is late, but not each time.
    @Test(arguments: pieces)
    func `a reply is sent in as many pieces as it says`(reply: Reply, pieces: Int) async throws {
        var seen = try await Self.segments(of: reply)
        for _ in 0..<2 where seen == pieces + 1 { seen = try await Self.segments(of: reply) }
        #expect(seen == pieces)
    }

    /// Nobody reads before all is sent: the kernel may join segments that arrive while a reader holds the socket.
    private static func segments(of reply: Reply) async throws -> Int {
        let server = try LoopbackServer()
        let sent = Gate()
        server.enqueue(reply.then(.signal(sent)))
        let peer = try Peer(server.address)
        peer.send(.get())
        try await sent.opened()
        return peer.segmentsReceived
    }

    @Test func `more pieces than the congestion window holds leave one by one as well`() async throws {
        let server = try LoopbackServer()
        let sent = Gate()
        server.enqueue([.drip(Bytes(Self.hello)), .signal(sent)])
        let peer = try Peer(server.address)
        peer.send(.get())
        try await sent.opened()
        // The kernel may send one again when nobody reads for long.
        #expect(peer.segmentsReceived >= Self.hello.utf8.count)
        #expect(peer.readResponse() == Self.hello)
    }

    private static let cuts: [(Reply, Int, Peer.Ending)] = [
        (Reply.response(body: "hello").resetAfter(40), 40, Peer.Ending.reset),
        (.response(body: "hello").resetAfter(0), 0, .reset),
        (.response(body: "hello").resetAfter(1000), hello.utf8.count, .reset),
        (.response(body: "hello").dripping(1).resetAfter(17), 17, .reset),
        (.response(body: "hello").resetAfter(17).dripping(1), 17, .reset),
        (.response(body: "hello").split(at: 5).truncatedAfter(9), 9, .closed),
        (.response(body: "hello").truncatedAfter(0), 0, .closed),
        (.response(body: "hello").closingSilently, hello.utf8.count, .closed),
        (.untilClose("hello").resetAfter(1000), 43, .reset),
        (.generated(length: 500_000).truncatedAfter(300_000), 300_000, .closed),
        (.generated(length: 500_000).resetAfter(300_000), 300_000, .reset),
        (.response(body: "hello").then(.halfClose), hello.utf8.count, .closed),
        ([.reset], 0, .reset),
        ([.close, .send("never")], 0, .closed),
    ]

    @Test(arguments: cuts)
    func `a reply is cut at the given byte and ends as the fault says`(reply: Reply, count: Int, ending: Peer.Ending)
        throws
    {
        let server = try LoopbackServer()
        server.enqueue(reply)
        let peer = try Peer(server.address)
        peer.send(.get())
        let result = peer.readBytes(upTo: .max)
        #expect(result.bytes.count == count)
        #expect(result.ending == ending)
        #expect(server.failures.isEmpty)
    }

    @Test func `a reset waits for what a slow reader has not let through yet`() async throws {
        var configuration = LoopbackServer.Configuration()
        configuration.sendBuffer = 262_144
        let server = try LoopbackServer(configuration: configuration)
        let sent = Gate()
        server.enqueue([.generate(100_000), .signal(sent), .reset])
        let peer = try Peer(server.address, receiveBuffer: 4096)
        peer.send(.get())
        try await sent.opened()
        let (bytes, ending) = peer.readBytes(upTo: .max)
        #expect(bytes.count == 100_000)
        #expect(ending == .reset)
    }

    @Test func `a gate holds the reply until the test opens it`() async throws {
        let server = try LoopbackServer()
        let reached = Gate()
        let goOn = Gate()
        server.enqueue([.send("a"), .signal(reached), .waitForSignal(goOn), .send("b"), .close])
        let peer = try Peer(server.address)
        peer.send(.get())
        try await reached.opened()
        #expect(server.bytesSent == 1)
        goOn.open()
        #expect(peer.readToEnd().text == "ab")
    }

    @Test func `an open gate holds nobody`() async throws {
        let server = try LoopbackServer()
        let gate = Gate()
        gate.open()
        gate.open()
        #expect(gate.isOpen)
        try await gate.opened()
        server.enqueue(.response(body: "hello").waiting(for: gate))
        let peer = try Peer(server.address)
        peer.send(.get())
        #expect(peer.readResponse() == Self.hello)
    }

    @Test func `one gate holds many connections`() async throws {
        let server = try LoopbackServer()
        let gate = Gate()
        server.respond { _ in .response(body: "hello").waiting(for: gate) }
        let first = try Peer(server.address)
        let second = try Peer(server.address)
        first.send(.get())
        second.send(.get())
        _ = try await server.waitForRequests(2)
        gate.open()
        #expect(first.readResponse() == Self.hello)
        #expect(second.readResponse() == Self.hello)
    }

    @Test func `a wait for a closed gate ends at its time limit, or with a cancel`() async throws {
        let gate = Gate()
        await #expect(throws: LoopbackServer.WaitTimedOut.self) { try await gate.opened(within: .zero) }
        let waiting = Task { try await gate.opened() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test func `a delay is not shorter than asked`() throws {
        let server = try LoopbackServer()
        server.enqueue(.response(body: "hello").delayed(.milliseconds(5)))
        let peer = try Peer(server.address)
        let clock = ContinuousClock()
        let spent = clock.measure {
            peer.send(.get())
            _ = peer.readResponse()
        }
        #expect(spent >= .milliseconds(5))
    }

    @Test(arguments: [
        Step.stall, .pause(.seconds(3600)), .waitForSignal(Gate()), .awaitInput, .drain,
        .drip("ab", every: .seconds(3600)),
    ])
    func `a waiting reply ends when the peer hangs up`(step: Step) async throws {
        let server = try LoopbackServer()
        let reached = Gate()
        server.enqueue([.signal(reached), step])
        let peer = try Peer(server.address)
        peer.send(.get())
        try await reached.opened()
        #expect(server.openConnections == 1)
        peer.hangUp()
        try await server.wait { $0.open == 0 }
        #expect(server.failures.isEmpty)
    }

    @Test func `an aborting peer is no failure`() async throws {
        let server = try LoopbackServer()
        server.enqueue(.response().then(.stall))
        let peer = try Peer(server.address)
        peer.send(.get())
        _ = try await server.nextRequest()
        peer.abort()
        try await server.wait { $0.open == 0 }
        #expect(server.failures.isEmpty)
    }

    @Test func `a reply may stall in the middle of its head`() async throws {
        let server = try LoopbackServer()
        server.enqueue(.response(body: "hello").stallingAfter(10))
        let peer = try Peer(server.address)
        peer.send(.get())
        #expect(peer.read(10) == "HTTP/1.1 2")
        #expect(server.openConnections == 1)
        server.stop()
        #expect(peer.readToEnd().ending == .closed)
    }

    @Test func `a connection may be closed when the next request begins`() async throws {
        let server = try LoopbackServer()
        server.enqueue(.response(body: "hello").closingOnNextRequest)
        let peer = try Peer(server.address)
        peer.send(.get())
        #expect(peer.readResponse() == Self.hello)
        #expect(server.openConnections == 1)
        peer.send("G")
        #expect(peer.readToEnd().ending == .reset)
        #expect(server.requests.count == 1)
    }

    @Test func `a connection may be closed silently after the response`() throws {
        let server = try LoopbackServer()
        server.enqueue(.response(body: "hello").closingSilently)
        let peer = try Peer(server.address)
        peer.send(.get())
        let (text, ending) = peer.readToEnd()
        #expect(text == Self.hello)
        #expect(ending == .closed)
    }

    @Test func `a half close followed by a drain never resets`() async throws {
        let server = try LoopbackServer()
        server.enqueue([.send("early"), .halfClose, .drain])
        let peer = try Peer(server.address)
        peer.send(.get())
        #expect(peer.readToEnd().ending == .closed)
        peer.send(Bytes([UInt8](repeating: 1, count: 100_000)))
        peer.halfClose()
        try await server.wait { $0.open == 0 }
        #expect(peer.readToEnd().ending == .closed)
    }

    @Test(arguments: [LoopbackServer.Endpoint.ipv4, .abstract])
    func `a peer that does not read makes the server wait`(endpoint: LoopbackServer.Endpoint) async throws {
        let length = 32 << 20
        var configuration = LoopbackServer.Configuration()
        configuration.sendBuffer = 65_536
        let server = try LoopbackServer(endpoint, configuration: configuration)
        server.enqueue(.generated(length: length).closingSilently)
        let peer = try Peer(server.address, receiveBuffer: 65_536)
        peer.send(.get())
        try await server.wait { $0.blockedSends > 0 }
        #expect(server.bytesSent < 1 << 20)
        let head = peer.read("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n".utf8.count)
        #expect(head.hasSuffix("\r\n\r\n"))
        let (body, ending) = peer.readBytes(upTo: .max)
        #expect(body.count == length)
        #expect(ending == .closed)
        let hash = LoopbackServer.BodyHash(Bytes(body)).value
        #expect(hash == LoopbackServer.GeneratedBody.hash(length: length))
        #expect(server.bytesSent == head.utf8.count + length)
    }
}
