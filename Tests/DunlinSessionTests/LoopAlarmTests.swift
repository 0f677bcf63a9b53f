import Dunlin
import DunlinTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct `An alarm on a session's loop` {
    @Test func `an alarm rings at the nearest time that it was set to, and leaves no timer behind`() async throws {
        let clock = ManualClock()
        let loop = try PrivateLoop(clock: clock)
        var configuration = HTTPSession.Configuration(baseURL: nil, transport: MockTransport())
        configuration.use(loop)
        let session = try HTTPSession(configuration)
        let rings = Mutex(0)
        func time(in seconds: Int64) -> HTTP.Instant { session.loopTime.advanced(by: seconds * 1_000_000_000) }
        var alarm = LoopAlarm(on: session) { rings.withLock { $0 += 1 } }
        #expect(loop.openTimers == 0)
        alarm.set(time(in: 10))
        alarm.set(time(in: 5))
        alarm.set(time(in: 20))
        #expect(loop.openTimers == 1)
        for (seconds, expected) in [(4, 0), (1, 1), (100, 1)] {
            try await clock.advance(by: .seconds(seconds))
            #expect(rings.withLock(\.self) == expected)
        }
        alarm.set(time(in: 5))
        try await clock.advance(by: .seconds(5))
        #expect(rings.withLock(\.self) == 2)
        alarm.set(time(in: 5))
        _ = consume alarm
        #expect(loop.openTimers == 0)
        try await clock.advance(by: .seconds(5))
        #expect(rings.withLock(\.self) == 2)
    }

    @Test func `a wait has the session's total or its own, and the deadline of its code`() async throws {
        let clock = ManualClock()
        let session = try HTTPSession {
            try $0.use(clock)
            $0.timeouts.total = .seconds(60)
        }
        #expect(session.waitLimit(.session) == HTTPSession.WaitLimit(total: .seconds(60)))
        #expect(session.waitLimit(.none) == HTTPSession.WaitLimit(total: nil))
        try await session.withTimeout(.seconds(3)) {
            let end = session.loopTime.advanced(by: 3_000_000_000)
            let limit = HTTPSession.WaitLimit(total: .seconds(5), inherited: end, length: .seconds(3))
            #expect(session.waitLimit(.seconds(5)) == limit)
            try await clock.advance(by: .seconds(1))
            #expect(limit.end(from: session.loopTime) == end)
        }
    }
}
