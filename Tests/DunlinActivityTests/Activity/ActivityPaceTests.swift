import Dunlin
import DunlinTesting
import LedgerRows
import Mocking
import Synchronization
import Testing

/// How seldom an activity monitor looks, and that it misses nothing by that. Sessions live by the monitor's clock.
@Suite(.timeLimit(.minutes(10))) struct `Pace of an activity monitor` {
    fileprivate struct Stage {
        let clock = CountingClock()
        let mock: Mocked
        let monitor: ActivityMonitor
        let told = ToldActivity()

        init() async throws {
            mock = try Mocked { [clock] in try $0.use(clock.clock) }
            mock.transport.on(.get, "/never").never().always()
            mock.transport.on(.get, "/").respond(body: "done").always()
            monitor = ActivityMonitor(clock: clock)
            await monitor.follow(mock.session)
            await monitor.display { [told] in told.note($0) }
        }

        func task(_ path: HTTP.Target = "/never") throws -> HTTPSession.RequestTask<Bytes> {
            try mock.session.task(path, as: .bytes)
        }

        func advance(_ milliseconds: Int) async throws {
            try await clock.clock.advance(by: .milliseconds(milliseconds))
        }

        /// Returns once it is in that state and waits, if it waits there.
        func comes(to state: ActivityMonitor.State, waiting: Bool = true) async throws {
            try await eventually("\(state)", following: clock.clock) { await monitor.state == state }
            try await eventually("its wait", following: clock.clock) { clock.sleepers == (waiting ? 1 : 0) }
        }

        /// Requests one after the other on each of so many lanes, while `operation` runs.
        func withStream(_ lanes: Int = 1, _ operation: () async throws -> Void) async throws {
            let isOver = Mutex(false)
            let lane: @concurrent @Sendable () async throws -> Void = { [session = mock.session] in
                while !isOver.withLock({ $0 }) {
                    _ = try await session.get("/", as: .bytes)
                    // The clock goes on only when the loop rests, which it may not under many.
                    if lanes > 1 { try await Task.sleep(for: .milliseconds(1)) }
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<lanes { group.addTask(operation: lane) }
                defer { isOver.withLock { $0 = true } }
                try await operation()
            }
        }

        func requests(_ more: Int) async throws {
            try await mock.transport.waitForRequests(mock.transport.requests.count + more, within: .seconds(300))
        }
    }

    @Test(.rows("AI-5"))
    func `short requests that follow each other at once are one activity, without a break`() async throws {
        let stage = try await Stage()
        await stage.monitor.enable()
        try await stage.withStream {
            try await stage.comes(to: .delayingStart)
            // In small steps towards the end: whoever is between two requests then has just ended one.
            try await stage.advance(995)
            for _ in 0..<5 {
                #expect(stage.told.all == [])
                try await stage.requests(20)
                try await stage.advance(1)
            }
            try await eventually("it is told", following: stage.clock.clock) { !stage.told.all.isEmpty }
            for _ in 0..<40 {
                try await stage.requests(20)
                try await stage.advance(25)
            }
            #expect(stage.told.all == [true])
            // Otherwise the last may have ended before the clock was moved, and the wait counts from there.
            try await stage.requests(1)
        }
        // It rested when the last ended, or was told of it.
        try await stage.hides(after: 170)
    }

    @Test(arguments: [1, 16])
    func `hundreds of requests wake the monitor no more often than one does`(lanes: Int) async throws {
        let stage = try await Stage()
        await stage.monitor.enable()
        let token = stage.monitor.beginActivity()
        try await stage.show()
        let before = stage.clock.sleeps
        try await stage.withStream(lanes) {
            try await stage.requests(100)
            token.end()
            for _ in 0..<10 {
                try await stage.requests(200)
                try await stage.advance(50)
            }
        }
        // After each move of the clock it looks, waits and rests a few times, more where it hears of something late.
        // There are two thousand requests.
        #expect(stage.clock.sleeps - before <= 11 * 9)
        #expect(stage.told.all == [true])
    }

    @Test(.rows("AI-6")) func `the wait before hiding counts from the last end, even one the monitor was not told of`()
        async throws
    {
        let stage = try await Stage()
        await stage.monitor.enable()
        let (first, second) = (try stage.task(), try stage.task())
        first.resume()
        second.resume()
        try await stage.show()
        // It has asked for the end of the first, and rests once that is over.
        first.cancel()
        _ = await first.result
        try await stage.comes(to: .active)
        try await stage.advance(20)
        second.cancel()
        try await stage.mock.session.tasks.waitUntilEmpty()
        try await stage.hides(after: 170)
        #expect(stage.told.all == [true, false])
    }

    @Test func `what comes and ends while nobody looks puts off the end of what is shown`() async throws {
        let stage = try await Stage()
        await stage.monitor.enable()
        let task = try stage.task()
        task.resume()
        try await stage.show()
        task.cancel()
        _ = await task.result
        try await stage.comes(to: .delayingEnd)
        try await stage.advance(100)
        _ = try await stage.mock.session.get("/", as: .bytes)
        try await stage.hides(after: 170)
    }

    @Test func `an activity monitor sets no timer while it is idle or while a request goes on alone`() async throws {
        let stage = try await Stage()
        await stage.monitor.enable()
        #expect(stage.clock.sleeps == 0)
        let held = try stage.task()
        #expect(stage.clock.sleeps == 0)
        let task = try stage.task()
        task.resume()
        try await stage.show()
        #expect(stage.clock.sleepers == 0)
        let before = stage.clock.sleeps
        try await stage.advance(20_000)
        #expect(stage.clock.sleeps == before)
        task.cancel()
        try await stage.comes(to: .delayingEnd)
        try await stage.hides(after: 170)
        #expect(stage.clock.sleeps == before + 1)
        held.cancel()
        _ = await held.result
    }

    @Test(.rows("AI-12")) func `a request suspended before the monitor was enabled is shown once it is resumed`()
        async throws
    {
        let stage = try await Stage()
        let task = try stage.task()
        task.resume()
        task.suspend()
        await stage.monitor.enable()
        #expect(await stage.monitor.state == .notActive)
        task.resume()
        try await stage.show()
        task.suspend()
        try await stage.comes(to: .delayingEnd)
        try await stage.hides(after: 170)
        task.cancel()
        _ = await task.result
    }

    @Test func `a session that is busy goes on showing when another has come to rest`() async throws {
        let stage = try await Stage()
        let other = try Mocked { try $0.use(stage.clock.clock) }
        other.transport.on(.get, "/").never().always()
        await stage.monitor.follow(other.session)
        await stage.monitor.enable()
        let (one, two) = (try stage.task(), try other.session.task("/", as: .bytes))
        one.resume()
        two.resume()
        try await stage.show()
        one.cancel()
        try await stage.mock.session.tasks.waitUntilEmpty()
        for _ in 0..<5 { try await stage.advance(60) }
        #expect(stage.told.all == [true])
        two.cancel()
        try await other.session.tasks.waitUntilEmpty()
        try await stage.hides(after: 170)
    }

    @Test func `a monitor sets no timer for a session that it no longer follows`() async throws {
        let stage = try await Stage()
        await stage.monitor.enable()
        await stage.monitor.unfollow(stage.mock.session)
        let task = try stage.task()
        task.resume()
        #expect(await stage.monitor.state == .notActive)
        await stage.monitor.disable()
        await stage.monitor.follow(stage.mock.session)
        #expect(stage.clock.sleeps == 0)
        task.cancel()
        _ = await task.result
    }

    @Test func `a token that ends at once still begins an activity, which a later token continues`() async throws {
        let stage = try await Stage()
        stage.monitor.beginActivity().end()
        await stage.monitor.enable()
        #expect(await stage.monitor.state == .notActive)
        stage.monitor.beginActivity().end()
        try await stage.comes(to: .delayingStart)
        let token = stage.monitor.beginActivity()
        try await stage.advance(1000)
        try await stage.comes(to: .active, waiting: false)
        token.end()
        try await stage.comes(to: .delayingEnd)
        try await stage.hides(after: 170)
    }
}

extension `Pace of an activity monitor`.Stage {
    /// Until it asked to be told of an end.
    func show() async throws {
        try await comes(to: .delayingStart)
        try await advance(1000)
        try await comes(to: .active, waiting: false)
        await finishLooking()
        #expect(told.all.last == true)
    }

    /// The looks that have begun are over: nothing is begun by this where it is enabled already.
    private func finishLooking() async { await monitor.enable() }

    /// Hides after that time, and not a millisecond before.
    func hides(after milliseconds: Int) async throws {
        await finishLooking()
        let end = clock.now.advanced(by: .milliseconds(milliseconds))
        try await advance(milliseconds - 1)
        try await comes(to: .delayingEnd)
        #expect(await monitor.isActive)
        try await clock.clock.skippingWaits {
            try await eventually("its end", following: clock.clock) { await monitor.state == .notActive }
        }
        #expect(clock.now <= end.advanced(by: .milliseconds(1)))
        #expect(told.all.last == false)
    }
}

/// What a display was told.
private final class ToldActivity: Sendable {
    private let values = Mutex<[Bool]>([])

    var all: [Bool] { values.withLock { $0 } }

    func note(_ value: Bool) {
        values.withLock { $0.append(value) }
    }
}

/// Stands still until it is moved, and counts who sleeps by it.
private final class CountingClock: Clock, Sendable {
    let clock = ManualClock()
    private let state = Mutex((sleeps: 0, asleep: Set<Int>()))

    var now: ManualClock.Instant { clock.now }
    var minimumResolution: Duration { clock.minimumResolution }
    /// How often anybody lay down.
    var sleeps: Int { state.withLock { $0.sleeps } }
    /// How many sleep just now.
    var sleepers: Int { state.withLock { $0.asleep.count } }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.sleeps += 1
            state.asleep.insert(state.sleeps)
            return state.sleeps
        }
        defer { rises(id) }
        try await withTaskCancellationHandler {
            try await clock.sleep(until: deadline, tolerance: tolerance)
        } onCancel: {
            rises(id)
        }
    }

    private func rises(_ id: Int) {
        state.withLock { _ = $0.asleep.remove(id) }
    }
}
