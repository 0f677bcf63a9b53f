import Dunlin
import DunlinTesting
import Testing

/// What a session promises of any request, of WebSockets.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A WebSocket as a request` {
    private static var settings: HTTPSession.WebSocketSettings {
        var settings = HTTPSession.WebSocketSettings()
        settings.pingInterval = nil
        return settings
    }

    @Test func `a guard that forbids the server forbids the handshake`() async throws {
        try await Stage.with(configure: { $0.guard = .publicInternet }) { (stage: Stage) async throws in
            let error = try await NetworkError.thrown { _ = try await stage.session.webSocket("chat") }
            #expect(error.code == .guardRefused && stage.server.connectionCount == 0)
        }
    }

    @Test func `the total limits the handshake, and nothing after it`() async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock, tolerating: true) { (stage: Stage) async throws in
            stage.server.respond {
                $0.target == "/chat" ? .webSocket(answering: $0, .echoMessages) : LoopbackServer.Reply([.stall])
            }
            let socket = try await stage.session.webSocket("chat", settings: Self.settings, timeout: .seconds(5))
            try await clock.advance(by: .seconds(1000))
            try await socket.send("hello")
            var messages = socket.messages.makeAsyncIterator()
            #expect(try await messages.next() == .text("hello"))
            async let failing = NetworkError.thrown {
                _ = try await stage.session.webSocket("silent", settings: Self.settings, timeout: .seconds(5))
            }
            _ = try await stage.server.waitForRequests(2)
            try await clock.waitForDeadlines()
            try await clock.advance(by: .seconds(6))
            let error = try await failing
            #expect(error.code == .timedOut && error.exceeded == .total, "\(error)")
            try await socket.close()
        }
    }

    @Test func `metrics count the bytes of frames, each once`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { .webSocket(answering: $0, .echoMessages) }
            let socket = try await stage.session.webSocket("chat", settings: Self.settings)
            let before = try #require(socket.metrics.hops.last)
            try await socket.send("hello")
            var messages = socket.messages.makeAsyncIterator()
            #expect(try await messages.next() == .text("hello"))
            let after = try #require(socket.metrics.hops.last)
            // Two bytes of head; four of the mask, which only clients have.
            #expect(after.bytesSent - before.bytesSent == 11)
            #expect(after.bytesReceived - before.bytesReceived == 7 && after.bodyBytes == 7)
            #expect(socket.metrics.hops.count == 1)
            try await socket.close()
        }
    }
}
