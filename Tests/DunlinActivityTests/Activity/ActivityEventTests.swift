import Dunlin
import DunlinTesting
import LeakChecking
import Mocking
import Synchronization
import Testing

@testable import DunlinActivity

@Suite struct `Events of an activity monitor` {
    private typealias Stream = AsyncStream<ActivityEvent>

    @Test func `one wait is on at a time, goes on over other events, and ends with the stream`() async throws {
        let clock = ManualClock()
        let (events, continuation) = Stream.makeStream()
        let heard = Mutex<[String]>([])
        async let all: Void = events.takeAll { event in
            switch event {
            case .ring:
                let count = heard.withLock { heard in
                    heard.append("ring")
                    return heard.count
                }
                // The third ring asks for another wait.
                return ActivityAlarm(count < 3 ? 1 : 2, after: .seconds(count < 3 ? 10 : 20), clock, continuation)
            case .waited(let number): heard.withLock { $0.append("waited \(number)") }
            case .work, .forget, .left: break
            }
            return nil
        }
        for count in 1...3 {
            continuation.yield(.ring)
            try await eventually("ring \(count)", following: clock) { heard.withLock { $0.count } == count }
            try await clock.waitForSleepers()
        }
        // The first wait was given up, so its time means nothing.
        try await clock.advance(by: .seconds(10))
        #expect(heard.withLock { $0 } == ["ring", "ring", "ring"])
        try await clock.advance(by: .seconds(10))
        try await eventually("its time", following: clock) { heard.withLock { $0.last } == "waited 2" }
        continuation.yield(.ring)
        try await clock.waitForSleepers()
        continuation.finish()
        await all
        #expect(heard.withLock { $0 } == ["ring", "ring", "ring", "waited 2", "ring"])
    }

    @Test(.leakChecked) func `the sessions of a monitor that is gone ring for it no more`() async throws {
        let mock = try Mocked { $0.useLoopOfTest() }
        let (events, continuation) = Stream.makeStream()
        weak var rung: ActivityLedger?
        do {
            let ledger = ActivityLedger(continuation)
            rung = ledger
            var followed = FollowedSession(mock.session.core)
            _ = await followed.look(for: .arrival, ledger)
            continuation.yield(.left([followed]))
        }
        #expect(rung != nil, "the session keeps whom it rings for")
        continuation.finish()
        await events.takeAll { _ in nil }
        #expect(rung == nil)
    }
}
