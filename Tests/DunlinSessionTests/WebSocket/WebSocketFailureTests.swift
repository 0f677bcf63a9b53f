import Dunlin
import DunlinTesting
import Mocking
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A WebSocket that fails` {
    private static let brokenFrame = Bytes([0xC1, 0x00])

    @Test func `after an error the reader has it at once, and for a second what comes is discarded`() async throws {
        let clock = ManualClock()
        let mock = try MockedSocket(clock: clock)
        let socket = try await mock.open()
        mock.peer.send(Self.brokenFrame)
        let error = try await NetworkError.thrown { _ = try await socket.all() }
        #expect(error.code == .webSocketFailed && !socket.isOpen)
        #expect(await mock.peer.next() == .close(1002))
        #expect(await mock.peer.next() == nil, "writing has ended")
        let count = socket.received
        mock.peer.send("more")
        try await eventually("it is read") { socket.received > count }
        #expect(await mock.session.tasks.count == 1)
        try await clock.advance(by: .seconds(2))
        try await eventually("the request has ended") { await mock.session.tasks.count == 0 }
    }

    enum Ending: CaseIterable { case stream, cancel, shutdown }

    @Test(arguments: Ending.allCases)
    func `a scope does not wait for what is discarded, and the session ends it`(ending: Ending) async throws {
        let mock = try MockedSocket(clock: ManualClock())
        let error = try await NetworkError.thrown {
            try await mock.session.withWebSocket("chat") { socket in
                mock.peer.send(Self.brokenFrame)
                for try await _ in socket.messages {}
            }
        }
        #expect(error.code == .webSocketFailed)
        #expect(await mock.session.tasks.count == 1)
        switch ending {
        case .stream: mock.peer.end()
        case .cancel: _ = await mock.session.tasks.cancelAll()
        case .shutdown: await mock.session.shutdown()
        }
        try await eventually("the request has ended") { await mock.session.tasks.count == 0 }
    }

    private struct Refused: Error {}

    @Test func `when a write fails, what the server said before is delivered, up to its close frame`() async throws {
        let mock = try MockedSocket(clock: ManualClock()) { throw Refused() }
        mock.peer.send(.text("a"))
        mock.peer.send(.text("b"))
        mock.peer.send(.close(1008, reason: "no more"))
        var settings = HTTPSession.WebSocketSettings()
        settings.backlogLimit = 1
        let socket = try await mock.open(settings)
        try await eventually("the backlog is full") { socket.received > 0 }
        for _ in 0..<2 {
            await #expect(throws: Refused.self) { try await socket.send("x") }
            await #expect(throws: Refused.self) { try await socket.ping() }
        }
        #expect(try await socket.all() == [.text("a"), .text("b")])
        #expect(socket.closeCode?.rawValue == 1008 && socket.closeReason == "no more")
        #expect(await mock.session.tasks.count == 0)
    }

    @Test(arguments: [true, false])
    func `a server that does not say why a write failed leaves its error`(endsStream: Bool) async throws {
        let clock = ManualClock()
        let mock = try MockedSocket(clock: clock) { throw Refused() }
        let socket = try await mock.open()
        await #expect(throws: Refused.self) { try await socket.send("x") }
        #expect(socket.isOpen)
        if endsStream { mock.peer.end() } else { try await clock.advance(by: .seconds(2)) }
        await #expect(throws: Refused.self) { _ = try await socket.all() }
        #expect(socket.closeCode == .abnormal)
        #expect(await mock.session.tasks.count == 0)
    }

    @Test func `closing after a failed write waits no longer than a second`() async throws {
        let clock = ManualClock()
        let mock = try MockedSocket(clock: clock) { throw Refused() }
        let socket = try await mock.open()
        await #expect(throws: Refused.self) { try await socket.send("x") }
        async let closing: Void = socket.close()
        // It may begin only when the first second is over.
        try await clock.advance(by: .seconds(2), until: "it is closed") { socket.closeCode != nil }
        try await closing
        #expect(!socket.isOpen && socket.closeCode == .abnormal)
    }

    @Test func `the end of the stream ends a socket whose answer to a ping cannot be written`() async throws {
        let gate = WriteGate()
        let mock = try MockedSocket(receives: gate.pass)
        var settings = HTTPSession.WebSocketSettings()
        settings.pingInterval = nil
        let socket = try await mock.open(settings)
        mock.peer.send(.ping("1"))
        await gate.arrival()
        mock.peer.end()
        let error = try await NetworkError.thrown { _ = try await socket.all() }
        #expect(error.underlying as? HTTP.WebSocketError == .endedWithoutClose)
        #expect(await mock.session.tasks.count == 0)
    }
}
