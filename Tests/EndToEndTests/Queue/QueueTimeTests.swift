import Dunlin
import DunlinTesting
import LedgerRows
import Testing

/// What the time in a queue counts for.
@Suite(.timeLimit(.minutes(10))) struct `Time in the queue` {
    private static func limits(
        queue: Duration? = nil, pool: Duration? = .seconds(10), total: Duration? = nil
    ) -> @Sendable (inout HTTPSession.Configuration) -> Void {
        {
            $0.queue.running = 1
            $0.timeouts.queue = queue
            $0.timeouts.pool = pool
            $0.timeouts.total = total
        }
    }

    @Test(arguments: [false, true])
    func `time in the queue has a limit of its own, whose error names the remedy`(isStreamed: Bool) async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock, configure: Self.limits(queue: .seconds(10), pool: .seconds(1))) {
            (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            let first = try await stage.begin("first")
            async let failure = NetworkError.thrown {
                guard isStreamed else { return _ = try await stage.session.get("late", as: .bytes) }
                try await stage.session.withResponse(from: "late") { _ in }
            }
            try await stage.eventually("it waits") { await stage.queued == 1 }
            try await clock.advance(by: .milliseconds(9999))
            #expect(await stage.queued == 1)
            try await clock.advance(by: .milliseconds(1))
            let error = try await failure
            #expect(error.code == .timedOut && error.phase == .pool)
            #expect(error.exceeded == .queue && error.limit == .seconds(10) && error.elapsed == .seconds(10))
            #expect(error.reason.contains("`queue.running` is 1") && error.reason.contains("`timeouts.queue`"))
            #expect(error.isSafeToRetry && !error.requestMayHaveBeenSent)
            #expect(error.hop?.duration(of: .pool) == .seconds(10))
            #expect(await stage.session.tasks.count == 1)
            turnstile.open()
            #expect(try await first.value == "x")
            #expect(turnstile.arrived == ["/first"])
        }
    }

    @Test func `requests behind the program's own queue wait without a limit`() async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock) {
            $0.queue.running = 2
            $0.timeouts = Timeouts(total: .seconds(100))
        } _: { (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            async let values = withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<12 {
                    group.addTask { try await stage.session.get("\(number)", as: .string).value }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            // Each round is longer than `timeouts.pool`, and all of them are longer than `timeouts.total`.
            for round in 0..<6 {
                try await stage.eventually("two are there, and the others wait") {
                    turnstile.arrived.count == 2 * round + 2 ? await stage.queued == 10 - 2 * round : false
                }
                try await clock.advance(by: .seconds(55))
                for number in 0..<2 { try await turnstile.pass(2 * round + number) }
            }
            #expect(try await values.count == 12)
        }
    }

    @Test(arguments: [HTTPSession.PerRequest<Duration>.session, .none, .seconds(20)])
    func `a request may have a limit of its own for its time in the queue`(own: HTTPSession.PerRequest<Duration>)
        async throws
    {
        let clock = ManualClock()
        try await Stage.with(clock: clock, configure: Self.limits(queue: .seconds(10))) {
            (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            let first = try await stage.begin("first", .init(timeouts: .patient))
            let late = try await stage.begin("late", .init(timeouts: .init(queue: own)), behind: 0)
            try await clock.advance(by: .seconds(15))
            if own == .session {
                #expect(try await NetworkError.thrown { _ = try await late.value }.limit == .seconds(10))
            } else if own != .none {
                try await clock.advance(by: .seconds(5))
                #expect(try await NetworkError.thrown { _ = try await late.value }.limit == .seconds(20))
            }
            turnstile.open()
            #expect(try await first.value == "x")
            if own == .none { #expect(try await late.value == "x") }
        }
    }

    @Test(arguments: [false, true])
    func `time in the queue counts for no other limit, and shows as the pool's`(isStreamed: Bool) async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock) {
            Self.limits(pool: .seconds(5), total: .seconds(5))(&$0)
            $0.timeouts.firstByte = .seconds(5)
        } _: { (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            let first = try await stage.begin("first", .init(timeouts: .patient))
            async let metrics = {
                guard isStreamed else { return try await stage.session.get("late", as: .bytes).metrics }
                return try await stage.session.withResponse(from: "late") { $0.metrics }
            }()
            try await stage.eventually("it waits") { await stage.queued == 1 }
            try await clock.advance(by: .seconds(15))
            try await turnstile.pass(0)
            _ = try await first.value
            try await stage.eventually("it is there") { turnstile.arrived.count == 2 }
            try await clock.advance(by: .seconds(4))
            try await turnstile.pass(1)
            let hops = try await metrics.hops
            #expect(hops.map { $0.duration(of: .pool) } == [.seconds(15)])
            #expect(hops.map { $0.duration(of: .firstByte) } == [.seconds(4)])
            if !isStreamed { #expect(try await metrics.total == .seconds(19)) }
        }
    }

    @Test func `the wait for a connection has all of the pool's limit, however long the queue took`() async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock) {
            Self.limits(pool: .seconds(10))(&$0)
            $0.queue.running = 2
            $0.connections.perOrigin = 1
        } _: { (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            let first = try await stage.begin("first")
            let second = try stage.session.task("second", as: .bytes)
            second.resume()
            try await stage.eventually("it waits for a connection") { stage.session.connections.waiting == 1 }
            let third = try await stage.begin("third", behind: 0)
            try await clock.advance(by: .seconds(6))
            second.cancel()
            try await stage.eventually("the next waits for one") {
                await stage.queued == 0 && stage.session.connections.waiting == 1 && third.snapshot.phase == .pool
            }
            try await clock.advance(by: .milliseconds(3999))
            try await clock.advance(by: .seconds(6))
            #expect(third.resultIfEnded == nil)
            try await clock.advance(by: .milliseconds(1))
            let error = try await NetworkError.thrown { _ = try await third.value }
            #expect(error.code == .timedOut && error.phase == .pool)
            #expect(error.exceeded == .pool && error.limit == .seconds(10) && error.elapsed == .seconds(10))
            turnstile.open()
            _ = try await first.value
        }
    }

    @Test func `time in the queue counts for a deadline that is inherited`() async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock, configure: Self.limits(queue: .seconds(100))) {
            (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            let first = try await stage.begin("first")
            let session = stage.session
            async let failure = NetworkError.thrown {
                try await session.withTimeout(.seconds(5)) {
                    // The deadline is older than the wait.
                    try await clock.advance(by: .seconds(1))
                    _ = try await session.get("late", as: .bytes)
                }
            }
            try await stage.eventually("it waits") { await stage.queued == 1 }
            try await clock.advance(by: .seconds(4))
            let error = try await failure
            #expect(error.code == .timedOut && error.phase == .pool)
            #expect(error.exceeded == .total && error.elapsed == .seconds(5))
            #expect(error.isSafeToRetry && error.reason.contains("`withTimeout`"))
            turnstile.open()
            _ = try await first.value
        }
    }

    @Test func `time in the queue does not count while a request is suspended or waits for others`() async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock, configure: Self.limits(queue: .seconds(10), total: .seconds(10))) {
            (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            let first = try await stage.begin("first", .init(timeouts: .patient))
            let held = try await stage.begin("held", behind: 0)
            var options = HTTPSession.Options()
            options.startsAfter = [first.id]
            let last = try stage.session.task("last", options: options, as: .string)
            last.resume()
            try await clock.advance(by: .seconds(6))
            held.suspend()
            try await stage.eventually("it stands aside") { await stage.queued == 0 }
            try await clock.advance(by: .seconds(60))
            held.resume()
            try await stage.eventually("it is back") { await stage.queued == 1 }
            try await clock.advance(by: .milliseconds(3999))
            #expect(held.resultIfEnded == nil)
            try await clock.advance(by: .milliseconds(1))
            let error = try await NetworkError.thrown { _ = try await held.value }
            #expect(error.phase == .pool && error.elapsed == .seconds(10))
            turnstile.open()
            #expect(try await first.value == "x")
            #expect(try await last.value == "x")
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct `Priority in the pool's queue` {
    @Test(.rows("OP-11"))
    func `the priority of an observed request can change while it waits for a connection`() async throws {
        try await Stage.with(configure: { $0.connections.perOrigin = 1 }) { (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            let session = stage.session
            var tasks = [try await stage.begin("first")]
            for index in 0..<4 {
                let task = try session.task("\(index)", options: .init(priority: .normal), as: .string)
                task.resume()
                try await stage.eventually("\(index) waits") { session.connections.waiting == index + 1 }
                tasks.append(task)
            }
            tasks[3].setPriority(.high)
            #expect(await session.tasks[tasks[1].id]?.setPriority(.low) == true)
            turnstile.open()
            for task in tasks { _ = try await task.value }
            #expect(turnstile.arrived == ["/first", "/2", "/1", "/3", "/0"])
        }
    }
}
