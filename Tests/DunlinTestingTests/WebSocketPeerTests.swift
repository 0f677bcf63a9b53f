import Dunlin
import DunlinTesting
import Mocking
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Peers of WebSockets` {
    @Test(arguments: [(0, 2), (125, 127), (126, 130), (65_535, 65_539), (65_536, 65_546)])
    func `a frame has the shortest head that says its length`(payload: Int, whole: Int) {
        let frame = WebSocketFrame.binary(Bytes([UInt8](repeating: 1, count: payload)))
        #expect(frame.bytes.count == whole && frame.bytes[0] == 0x82)
    }

    @Test(arguments: [true, false])
    func `a server that awaits a frame goes on, and complains about any other`(isAwaited: Bool) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { .webSocket(answering: $0, .expectFrame(.text("a")), .frame(.close(1001))) }
        let session = try HTTPSession(.init(baseURL: server.baseURL))
        let socket = try await session.webSocket("x")
        try await socket.send(isAwaited ? "a" : "b")
        var messages = socket.messages.makeAsyncIterator()
        if isAwaited {
            #expect(try await messages.next() == nil)
            #expect(socket.closeCode == .goingAway)
        } else {
            await #expect(throws: NetworkError.self) { _ = try await messages.next() }
        }
        try await server.wait { $0.open == 0 }
        #expect(server.failures.isEmpty == isAwaited)
        await session.shutdown()
    }

    @Test func `a server answers each frame with its own steps, until there are none`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond {
            .webSocket(
                answering: $0,
                .answerFrames { $0 == .text("end") ? nil : [.frame($0), .frame(.text("more"))] }, .frame(.close()))
        }
        let session = try HTTPSession(.init(baseURL: server.baseURL))
        let socket = try await session.webSocket("x")
        for text in ["a", "b", "end"] { try await socket.send(text) }
        var messages: [HTTPSession.WebSocket.Message] = []
        for try await message in socket.messages { messages.append(message) }
        #expect(messages == ["a", "more", "b", "more"].map { .text($0) })
        await session.shutdown()
    }

    @Test func `a mock's peer has the client's frames in order`() async throws {
        let mock = try Mocked()
        let peer = MockWebSocket()
        mock.transport.otherwise { peer.accept($0) }
        let socket = try await mock.session.webSocket("x")
        try await socket.send("a")
        try await socket.send(Bytes([1]))
        #expect(await peer.next() == .text("a"))
        #expect(await peer.next() == .binary(Bytes([1])))
        #expect(peer.frames.count == 2)
    }
}
