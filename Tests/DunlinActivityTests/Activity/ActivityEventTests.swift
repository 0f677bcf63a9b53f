import Dunlin
import DunlinTesting
import LeakChecking
import Mocking
import Testing

@testable import DunlinActivity

@Suite(.timeLimit(.minutes(10))) struct `Events of an activity monitor` {
    @Test(.leakChecked) func `the sessions of a monitor that is gone ring for it no more, and its wait ends`()
        async throws
    {
        let mock = try Mocked { $0.useLoopOfTest() }
        mock.transport.on(.get, "/").never()
        let (clock, task) = (ManualClock(), try mock.session.task("/", as: .bytes))
        task.resume()
        weak var rung: ActivityLedger?
        do {
            let monitor = ActivityMonitor(clock: clock)
            rung = monitor.ledger
            await monitor.follow(mock.session)
            await monitor.enable()
            try await clock.waitForSleepers()
            #expect(rung != nil)
        }
        try await eventually("nobody keeps whom it rings for", following: clock) { rung == nil }
        task.cancel()
        _ = await task.result
    }
}
