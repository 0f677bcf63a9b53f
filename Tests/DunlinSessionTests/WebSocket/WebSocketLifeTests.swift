import Dunlin
import DunlinTesting
import LedgerRows
import Mocking
import Testing

@Suite(.timeLimit(.minutes(10))) struct `The life of a WebSocket` {
    @Test(.rules("6455-6.1-1", "6455-7.1.1-1", "6455-7.1.2-1"))
    func `closing says code and reason, and waits for the answer`() async throws {
        let mock = try MockedSocket()
        let socket = try await mock.open()
        mock.peer.send(.text("before"))
        async let closing: Void = socket.close(.init(rawValue: 4000), reason: "done")
        #expect(await mock.peer.next() == .close(4000, reason: "done"))
        mock.peer.send(.close(4000))
        mock.peer.end()
        try await closing
        #expect(socket.closeCode?.rawValue == 4000 && socket.closeReason == "done" && !socket.isOpen)
        // Closing twice is closing once.
        try await socket.close()
        let error = try await NetworkError.thrown { try await socket.send("late") }
        #expect(error.code == .connectionClosed)
        #expect(await mock.session.tasks.count == 0)
    }

    @Test func `a close frame that cannot be sent is an error, and closes nothing`() async throws {
        let mock = try MockedSocket()
        let socket = try await mock.open()
        let code = try await NetworkError.thrown { try await socket.close(.abnormal) }
        #expect(code.underlying as? HTTP.WebSocketError == .invalidCloseCode(1006))
        let long = String(repeating: "a", count: 124)
        let reason = try await NetworkError.thrown { try await socket.close(reason: long) }
        #expect(reason.underlying as? HTTP.WebSocketError == .closeReasonTooLong)
        try await socket.send("a")
        #expect(mock.peer.frames == [.text("a")])
    }

    @Test(.rules("6455-7.1.2-1")) func `a peer that does not answer a close frame is waited for up to the limit`()
        async throws
    {
        let clock = ManualClock()
        let mock = try MockedSocket(clock: clock)
        let socket = try await mock.open()
        async let closing: Void = socket.close()
        #expect(await mock.peer.next() == .close(1000))
        try await clock.advance(by: .seconds(11))
        try await closing
        #expect(try await socket.all().isEmpty && socket.closeCode == .abnormal)
    }

    @Test func `cancelling a close closes the connection at once`() async throws {
        let mock = try MockedSocket()
        let socket = try await mock.open()
        let closing = Task { try await socket.close() }
        #expect(await mock.peer.next() == .close(1000))
        closing.cancel()
        let outcome = await closing.result
        #expect(throws: CancellationError.self) { try outcome.get() }
        #expect(!socket.isOpen)
        #expect(await mock.session.tasks.count == 0)
    }

    @Test func `a ping returns the time until its answer`() async throws {
        let clock = ManualClock()
        let mock = try MockedSocket(clock: clock)
        let socket = try await mock.open()
        async let roundTrip = socket.ping()
        let ping = try #require(await mock.peer.next())
        #expect(ping.kind == .ping)
        try await clock.advance(by: .seconds(3))
        mock.peer.send(.pong(ping.payload))
        #expect(try await roundTrip == .seconds(3))
    }

    @Test func `a silent peer is pinged, and what it answers counts`() async throws {
        let clock = ManualClock()
        let mock = try MockedSocket(clock: clock)
        let socket = try await mock.open()
        for _ in 0..<3 {
            try await clock.advance(by: .seconds(31))
            let ping = try #require(await mock.peer.next())
            #expect(ping.kind == .ping)
            let count = socket.received
            mock.peer.send(.pong(ping.payload))
            try await eventually("the pong is read") { socket.received > count }
        }
        #expect(socket.isOpen)
    }

    @Test func `a peer that answers no ping is lost`() async throws {
        let clock = ManualClock()
        let mock = try MockedSocket(clock: clock)
        let socket = try await mock.open()
        try await clock.advance(by: .seconds(31))
        #expect(await mock.peer.next()?.kind == .ping)
        // The limit begins when the ping has been written, which the peer may see before.
        try await eventually("it is lost") {
            try await clock.advance(by: .seconds(21))
            return !socket.isOpen
        }
        let error = try await NetworkError.thrown { _ = try await socket.all() }
        #expect(error.code == .timedOut && error.underlying as? HTTP.WebSocketError == .noPong)
        #expect(await mock.session.tasks.count == 0)
    }

    @Test func `a peer that takes nothing is lost, though no ping can be written`() async throws {
        let clock = ManualClock()
        let mock = try MockedSocket(clock: clock) { try await ManualClock().sleep(for: .seconds(1)) }
        let socket = try await mock.open()
        async let sending = NetworkError.thrown { try await socket.send("a") }
        try await eventually("it is lost") {
            try await clock.advance(by: .seconds(31))
            return !socket.isOpen
        }
        #expect([.timedOut, .connectionClosed].contains(try await sending.code))
        let error = try await NetworkError.thrown { _ = try await socket.all() }
        #expect(error.code == .timedOut)
    }

    @Test func `without an interval no ping is sent`() async throws {
        let clock = ManualClock()
        let mock = try MockedSocket(clock: clock)
        var settings = HTTPSession.WebSocketSettings()
        settings.pingInterval = nil
        let socket = try await mock.open(settings)
        try await clock.advance(by: .seconds(3600))
        try await socket.send("a")
        #expect(mock.peer.frames == [.text("a")])
    }

    @Test(.rules("6455-7.2.1-2"))
    func `a scope closes its socket in peace when it returns, and at once when it throws`() async throws {
        struct Mine: Error {}
        let mock = try MockedSocket()
        let peer = mock.peer
        async let leaving: String = mock.session.withWebSocket("chat") { socket in
            try await socket.send("a")
            return "left"
        }
        #expect(await peer.next() == .text("a"))
        #expect(await peer.next() == .close(1000))
        peer.send(.close(1000))
        peer.end()
        #expect(try await leaving == "left")
        let other = try MockedSocket()
        await #expect(throws: Mine.self) {
            try await other.session.withWebSocket("chat") { _ in throw Mine() }
        }
        #expect(other.peer.frames.isEmpty)
        #expect(await other.session.tasks.count == 0)
    }

    @Test func `a socket that nobody has any more is closed`() async throws {
        let mock = try MockedSocket()
        var socket: HTTPSession.WebSocket? = try await mock.open()
        try await socket?.send("a")
        #expect(await mock.session.tasks.count == 1)
        socket = nil
        try await eventually("the request has ended") { await mock.session.tasks.count == 0 }
    }

    @Test func `a socket that nobody has any more waits for no frame that cannot be written`() async throws {
        let gate = WriteGate()
        let mock = try MockedSocket(clock: ManualClock(), receives: gate.pass)
        var socket: HTTPSession.WebSocket? = try await mock.open()
        #expect(socket?.isOpen == true)
        // A frame with a reserved bit, which is answered with a close frame.
        mock.peer.send(Bytes([0xC1, 0x00]))
        await gate.arrival()
        socket = nil
        try await eventually("the request has ended") { await mock.session.tasks.count == 0 }
    }

    @Test(arguments: [true, false])
    func `a shutdown with grace says going away, and closes a socket that is not answered in time`(
        answers: Bool
    ) async throws {
        let clock = ManualClock()
        let mock = try MockedSocket(clock: clock)
        let socket = try await mock.open()
        async let ended = mock.session.shutdown(grace: .seconds(5))
        #expect(await mock.peer.next() == .close(1001))
        if answers {
            mock.peer.send(.close(1001))
            mock.peer.end()
        } else {
            try await clock.advance(by: .seconds(6))
        }
        #expect(await ended == (answers ? 0 : 1))
        #expect(!socket.isOpen && socket.closeCode == (answers ? .goingAway : .abnormal))
    }

    @Test func `a shutdown without grace says nothing`() async throws {
        let mock = try MockedSocket()
        let socket = try await mock.open()
        #expect(await mock.session.shutdown() == 1)
        #expect(!socket.isOpen && socket.closeCode == .abnormal)
        #expect(mock.peer.frames.isEmpty)
    }

    @Test func `a socket that is opened while its session is shut down says going away too`() async throws {
        let gate = WriteGate()
        let mocked = try Mocked()
        let peer = MockWebSocket()
        mocked.transport.otherwise { request in
            await gate.pass()
            return peer.accept(request)
        }
        async let opening = mocked.session.webSocket("chat")
        await gate.arrival()
        async let ended = mocked.session.shutdown(grace: .seconds(1000))
        try await eventually("it is shut down") { mocked.session.isShutDown }
        gate.letThrough()
        let socket = try await opening
        #expect(await peer.next() == .close(1001))
        peer.send(.close(1001))
        peer.end()
        #expect(await ended == 0)
        #expect(socket.closeCode == .goingAway)
    }

    @Test func `cancelling its request ends a socket`() async throws {
        let mock = try MockedSocket()
        let socket = try await mock.open()
        async let reading = NetworkError.thrown { _ = try await socket.all() }
        await mock.session.tasks.cancelAll()
        #expect([.cancelled, .connectionClosed].contains(try await reading.code))
        #expect(!socket.isOpen)
    }

    @Test func `a scope may ask for more than the queue allows, and wait for the session to be empty`() async throws {
        let mocked = try Mocked { $0.queue.running = 1 }
        let peer = MockWebSocket()
        mocked.transport.otherwise { request in
            request.target == "/chat" ? peer.accept(request) : .respond(.ok, body: "x")
        }
        let session = mocked.session
        let value = try await session.withWebSocket("chat") { socket in
            let value = try await session.get("x", as: .string).value
            try await session.tasks.waitUntilEmpty()
            peer.end()
            return value
        }
        #expect(value == "x")
    }

    @Test func `a scope that shuts its session down closes its socket`() async throws {
        let mock = try MockedSocket()
        try await mock.session.withWebSocket("chat") { socket in
            await mock.session.shutdown()
            let error = try await NetworkError.thrown { _ = try await socket.all() }
            #expect([.cancelled, .connectionClosed].contains(error.code), "\(error)")
            #expect(!socket.isOpen)
        }
    }

    @Test func `a scope with unread messages that shuts its session down does not wait for itself`() async throws {
        let mock = try MockedSocket()
        var settings = HTTPSession.WebSocketSettings()
        settings.backlogLimit = 1
        try await mock.session.withWebSocket("chat", settings: settings) { socket in
            for text in ["a", "b", "c"] { mock.peer.send(.text(text)) }
            try await eventually("the backlog is full") { socket.received > 0 }
            await mock.session.shutdown()
            #expect(mock.session.isShutDown)
        }
    }
}
