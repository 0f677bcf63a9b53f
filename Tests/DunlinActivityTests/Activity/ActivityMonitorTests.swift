import Dunlin
import DunlinTesting
import LeakChecking
import LedgerRows
import Mocking
import Synchronization
import Testing

/// What goes on in sessions over a mock transport, shown by a clock that stands still.
@Suite(.leakChecked, .timeLimit(.minutes(10))) struct `Activity monitor` {
    private struct Stage {
        let clock = ManualClock()
        let mock: Mocked
        let monitor: ActivityMonitor

        /// The session lives by the clock too: how long ago a request ended is told by its loop.
        init() async throws {
            mock = try Mocked { [clock] in try $0.use(clock) }
            mock.transport.on(.get, "/").never().always()
            monitor = ActivityMonitor(clock: clock)
            await monitor.follow(mock.session)
        }

        func task() throws -> HTTPSession.RequestTask<Bytes> { try mock.session.task("/", as: .bytes) }

        /// Waits until the monitor waits in that state, and lets the time pass.
        func pass(_ time: Duration, _ state: ActivityMonitor.State) async throws {
            try await eventually("\(state)", following: clock) { await monitor.state == state }
            try await clock.waitForSleepers()
            try await clock.advance(by: time)
        }
    }

    @Test(.rows("AI-1", "AI-15"))
    func `an activity monitor shows nothing until it is enabled, and then counts what already runs`() async throws {
        let stage = try await Stage()
        #expect(await !stage.monitor.isEnabled)
        // Nobody is told of this one: it began before there was somebody to tell.
        let request = Task { [session = stage.mock.session] in try await session.get("/", as: .bytes) }
        try await stage.mock.transport.waitForRequests()
        #expect(await stage.monitor.state == .notActive)
        await stage.monitor.enable()
        #expect(await stage.monitor.state == .delayingStart)
        var changes = await stage.monitor.changes.makeAsyncIterator()
        #expect(await changes.next() == false)
        try await stage.pass(.seconds(1), .delayingStart)
        #expect(await changes.next() == true)
        request.cancel()
        try await stage.pass(.milliseconds(170), .delayingEnd)
        #expect(await changes.next() == false)
        #expect(await stage.monitor.state == .notActive)
    }

    @Test(.rows("AI-1"))
    func `the program's activity monitor is one, and off, and a monitor shows no session it does not follow`()
        async throws
    {
        #expect(ActivityMonitor.shared === ActivityMonitor.shared)
        #expect(await !ActivityMonitor.shared.isEnabled)
        let stage = try await Stage()
        let other = ActivityMonitor(clock: stage.clock)
        await other.enable()
        await stage.monitor.enable()
        let request = try stage.task()
        request.resume()
        try await stage.pass(.seconds(1), .delayingStart)
        try await eventually("its start", following: stage.clock) { await stage.monitor.state == .active }
        #expect(await other.state == .notActive)
        request.cancel()
        _ = await request.result
    }

    private final class Lamp: ActivityMonitor.Display {
        let told = Mutex<[Bool]>([])
        func activityChanged(to isActive: Bool) { told.withLock { $0.append(isActive) } }
    }

    @Test(.rows("AI-11")) func `a display takes the place of another at once, and is told what shows`() async throws {
        let stage = try await Stage()
        let lamps = [Lamp(), Lamp(), Lamp()]
        await stage.monitor.display(on: lamps[0])
        await stage.monitor.enable()
        let request = try stage.task()
        request.resume()
        try await stage.pass(.seconds(1), .delayingStart)
        try await eventually("its start", following: stage.clock) { await stage.monitor.isActive }
        await stage.monitor.display(on: lamps[1])
        await stage.monitor.display(on: nil)
        await stage.monitor.display(on: lamps[2])
        request.cancel()
        _ = await request.result
        try await stage.pass(.milliseconds(170), .delayingEnd)
        try await eventually("its end", following: stage.clock) { await !stage.monitor.isActive }
        #expect(lamps.map { $0.told.withLock { $0 } } == [[true, false], [true, false], [true, false]])
    }

    @Test func `an activity monitor's delays can be changed, for what begins or ends from then on`() async throws {
        let stage = try await Stage()
        let delays = ActivityMonitor.Delays(activation: .seconds(3), completion: .seconds(2))
        await stage.monitor.setDelays(delays)
        #expect(await stage.monitor.delays == delays)
        await stage.monitor.enable()
        let request = try stage.task()
        request.resume()
        try await stage.pass(.milliseconds(2999), .delayingStart)
        #expect(await stage.monitor.state == .delayingStart)
        try await stage.pass(.milliseconds(1), .delayingStart)
        try await eventually("its start", following: stage.clock) { await stage.monitor.state == .active }
        request.cancel()
        _ = await request.result
        try await stage.pass(.milliseconds(1999), .delayingEnd)
        #expect(await stage.monitor.state == .delayingEnd)
        try await stage.pass(.milliseconds(1), .delayingEnd)
        try await eventually("its end", following: stage.clock) { await stage.monitor.state == .notActive }
    }

    @Test(.rows("AI-11", "AI-19"))
    func `two requests that overlap, of four and of two seconds, are shown once and hidden once`() async throws {
        let stage = try await Stage()
        let transport = MockTransport(clock: stage.clock)
        for (path, time) in [("/long", 4), ("/short", 2)] {
            transport.on(.get, path).delay(.seconds(time)).respond(body: "done")
        }
        var configuration = HTTPSession.Configuration(baseURL: "http://api.test", transport: transport)
        configuration.useLoopOfTest()
        let session = try HTTPSession(configuration)
        await stage.monitor.follow(session)
        await stage.monitor.enable()
        let told = Mutex<[Bool]>([])
        await stage.monitor.display { isActive in told.withLock { $0.append(isActive) } }
        var changes = await stage.monitor.changes.makeAsyncIterator()
        #expect(await changes.next() == false)
        async let long = session.get("long", as: .string)
        async let short = session.get("short", as: .string)
        try await stage.clock.waitForSleepers(3)
        try await stage.clock.advance(by: .seconds(1))
        #expect(await changes.next() == true)
        try await stage.clock.advance(by: .seconds(1))
        #expect(try await short.value == "done")
        #expect(told.withLock { $0 } == [true])
        try await stage.clock.advance(by: .seconds(2))
        #expect(try await long.value == "done")
        // It may rest first, after the end of the short one.
        try await stage.clock.skippingWaits { [monitor = stage.monitor, clock = stage.clock] in
            try await eventually("its end", following: clock) { await monitor.state == .notActive }
        }
        #expect(await changes.next() == false)
        #expect(told.withLock { $0 } == [true, false])
    }

    @Test(.rows("AI-12", "AI-13"))
    func `a suspended request is no activity, and a cancelled one is taken off only once`() async throws {
        let stage = try await Stage()
        await stage.monitor.enable()
        var changes = await stage.monitor.changes.makeAsyncIterator()
        #expect(await changes.next() == false)
        let (first, second) = (try stage.task(), try stage.task())
        #expect(await stage.monitor.state == .notActive)
        first.resume()
        second.resume()
        try await stage.pass(.seconds(1), .delayingStart)
        #expect(await changes.next() == true)
        // AFNetworking takes one off for the suspension, and another for the end.
        first.suspend()
        first.cancel()
        _ = await first.result
        #expect(await stage.monitor.state == .active)
        second.suspend()
        try await stage.pass(.milliseconds(170), .delayingEnd)
        #expect(await changes.next() == false)
        second.resume()
        try await stage.pass(.seconds(1), .delayingStart)
        #expect(await changes.next() == true)
        await stage.mock.session.tasks.cancelAll()
        try await stage.pass(.milliseconds(170), .delayingEnd)
        #expect(await changes.next() == false)
    }

    @Test(.rows("AI-16")) func `a monitor that is disabled hides, and once enabled again it counts what still runs`()
        async throws
    {
        let stage = try await Stage()
        await stage.monitor.enable()
        let told = Mutex<[Bool]>([])
        await stage.monitor.display { isActive in told.withLock { $0.append(isActive) } }
        let token = stage.monitor.beginActivity()
        try await stage.pass(.seconds(1), .delayingStart)
        try await eventually("it is active", following: stage.clock) { await stage.monitor.isActive }
        await stage.monitor.disable()
        #expect(await stage.monitor.state == .notActive)
        #expect(told.withLock { $0 } == [true, false])
        await stage.monitor.enable()
        #expect(await stage.monitor.state == .delayingStart)
        await stage.monitor.disable()
        await stage.monitor.disable()
        #expect(told.withLock { $0 } == [true, false])
        token.end()
    }

    @Test(.rows("AI-18")) func `work under a token is shown until the token is ended or released`() async throws {
        let stage = try await Stage()
        await stage.monitor.enable()
        var changes = await stage.monitor.changes.makeAsyncIterator()
        #expect(await changes.next() == false)
        var tokens = [stage.monitor.beginActivity(), stage.monitor.beginActivity()]
        try await stage.pass(.seconds(1), .delayingStart)
        #expect(await changes.next() == true)
        tokens[0].end()
        tokens[0].end()
        tokens.removeFirst()
        #expect(await stage.monitor.state == .active)
        tokens = []
        try await stage.pass(.milliseconds(170), .delayingEnd)
        #expect(await changes.next() == false)
        async let work = stage.monitor.withActivity {
            try await stage.pass(.seconds(1), .delayingStart)
            return await stage.monitor.isEnabled
        }
        #expect(await changes.next() == true)
        #expect(try await work)
        try await stage.pass(.milliseconds(170), .delayingEnd)
        #expect(await changes.next() == false)
    }

    @Test func `a restarted session is still followed, and an ignored one is not`() async throws {
        let stage = try await Stage()
        await stage.monitor.enable()
        var changes = await stage.monitor.changes.makeAsyncIterator()
        #expect(await changes.next() == false)
        await stage.mock.session.restart()
        let task = try stage.task()
        task.resume()
        try await stage.pass(.seconds(1), .delayingStart)
        #expect(await changes.next() == true)
        await stage.monitor.unfollow(stage.mock.session)
        try await stage.pass(.milliseconds(170), .delayingEnd)
        #expect(await changes.next() == false)
        task.cancel()
        _ = await task.result
    }

    @Test(.rows("AI-12", "AI-17"))
    func `a monitor comes to rest after any mix of resumes, suspensions and cancels`() async throws {
        let stage = try await Stage()
        await stage.monitor.enable()
        var changes = await stage.monitor.changes.makeAsyncIterator()
        #expect(await changes.next() == false)
        let token = stage.monitor.beginActivity()
        try await stage.pass(.seconds(1), .delayingStart)
        #expect(await changes.next() == true)
        let tasks = try (0..<40).map { _ in try stage.task() }
        await withTaskGroup(of: Void.self) { group in
            for task in tasks {
                group.addTask {
                    for _ in 0..<20 {
                        switch Int.random(in: 0..<8) {
                        case 0..<4: task.resume()
                        case 4..<7: task.suspend()
                        default: task.cancel()
                        }
                    }
                    task.cancel()
                    _ = await task.result
                }
            }
        }
        token.end()
        let later = await stage.monitor.changes
        try await stage.clock.skippingWaits {
            for await isActive in later where !isActive { return }
        }
        #expect(await stage.monitor.state == .notActive)
    }

    @Test func `a monitor keeps no session alive, and its stream of changes ends with it`() async throws {
        let clock = ManualClock()
        var monitor: ActivityMonitor? = ActivityMonitor(clock: clock)
        await monitor?.enable()
        weak var session: HTTPSession?
        do {
            let mock = try Mocked { $0.useLoopOfTest() }
            session = mock.session
            await monitor?.follow(mock.session)
        }
        #expect(session == nil)
        let changes = try #require(await monitor?.changes)
        monitor = nil
        var told: [Bool] = []
        for await change in changes { told.append(change) }
        #expect(told == [false])
    }
}
