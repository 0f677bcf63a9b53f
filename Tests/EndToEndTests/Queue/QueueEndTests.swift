import Dunlin
import DunlinTesting
import LedgerRows
import Synchronization
import Testing

/// How requests end that wait, and how they are held.
@Suite(.timeLimit(.minutes(10))) struct `A request in the queue` {
    private static let one: @Sendable (inout HTTPSession.Configuration) -> Void = { $0.queue.running = 1 }

    enum QueueStatus: CaseIterable {
        case notBegun
        case afterAnother
        case inLine
        case suspendedInLine
        case running
    }

    enum Cancel: CaseIterable {
        case byHandle
        case byRegistry
        case byTask
    }

    @Test(arguments: QueueStatus.allCases, Cancel.allCases)
    func `a request is cancelled wherever it stands in the queue, and others get their turn`(
        standing: QueueStatus, cancel: Cancel
    ) async throws {
        try await Stage.with(configure: Self.one) { (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            let first = try await stage.begin("first")
            let task = try await Self.task(standing, first, on: stage)
            let last = try await stage.begin("last", behind: standing == .inLine ? 1 : 0)
            let waiter = Task { try await task.value }
            switch cancel {
            case .byHandle: task.cancel()
            case .byRegistry: #expect(await stage.session.tasks.cancel(task.id))
            case .byTask: waiter.cancel()
            }
            let result = await waiter.result
            #expect(throws: (any Error).self) { try result.get() }
            if case .failure(let error) = result {
                #expect(cancel == .byTask ? error is CancellationError : (error as? NetworkError)?.code == .cancelled)
            }
            turnstile.open()
            _ = await first.result
            #expect(try await last.value == "x")
            #expect(await stage.queued == 0)
            if standing != .running { #expect(turnstile.arrived == ["/first", "/last"]) }
            try await stage.expectHealthy()
        }
    }

    private static func task(
        _ standing: QueueStatus, _ first: HTTPSession.RequestTask<String>, on stage: Stage
    ) async throws -> HTTPSession.RequestTask<String> {
        switch standing {
        case .notBegun: return try stage.session.task("it", as: .string)
        case .afterAnother:
            var options = HTTPSession.Options()
            options.startsAfter = [first.id]
            let task = try stage.session.task("it", options: options, as: .string)
            task.resume()
            return task
        case .inLine: return try await stage.begin("it", behind: 0)
        case .suspendedInLine:
            let task = try await stage.begin("it", behind: 0)
            task.suspend()
            try await stage.eventually("it stands aside") { await stage.queued == 0 }
            // Whoever waits for it lets it go on: that of a task that has begun is for its holder to do.
            task.resume()
            task.suspend()
            return task
        case .running: return first
        }
    }

    @Test func `a suspended request in the queue lets others pass and keeps its position`() async throws {
        try await Stage.with(configure: Self.one) { (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            var tasks = [try await stage.begin("first")]
            for index in 0..<4 { tasks.append(try await stage.begin("\(index)", behind: index)) }
            tasks[1].suspend()
            tasks[3].suspend()
            try await stage.eventually("two stand aside") { await stage.queued == 2 }
            #expect(tasks[1].snapshot.state == .suspended)
            tasks[3].resume()
            try await stage.eventually("one is back") { await stage.queued == 3 }
            try await turnstile.pass(0)
            try await stage.eventually("the next runs") { turnstile.arrived == ["/first", "/1"] }
            tasks[1].resume()
            try await stage.eventually("the other is back") { await stage.queued == 3 }
            turnstile.open()
            for task in tasks { _ = try await task.value }
            #expect(turnstile.arrived == ["/first", "/1", "/0", "/2", "/3"])
            #expect(turnstile.peak == 1)
        }
    }

    @Test func `a request that is suspended on its way keeps its turn`() async throws {
        try await Stage.with(configure: Self.one) { (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            let first = try await stage.begin("first")
            let second = try await stage.begin("second", behind: 0)
            first.suspend()
            try await turnstile.pass(0)
            #expect(await stage.queued == 1)
            first.resume()
            #expect(try await first.value == "x")
            turnstile.open()
            #expect(try await second.value == "x")
            #expect(turnstile.arrived == ["/first", "/second"])
        }
    }

    @Test(arguments: [false, true]) func `a shutdown or cancelAll ends all requests, and waits until each end is told`(
        byShutdown: Bool
    ) async throws {
        let told = Atomic<Int>(0)
        let configure: @Sendable (inout HTTPSession.Configuration) -> Void = {
            $0.queue.running = 2
            $0.hooks.completed = { _ in told.add(1, ordering: .relaxed) }
        }
        try await Stage.with(configure: configure) { (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            let session = stage.session
            let verbs = (0..<10).map { number in Task { try await session.get("\(number)", as: .bytes) } }
            let tasks = try (10..<20).map { try session.task("\($0)", as: .bytes) }
            for task in tasks { task.resume() }
            try await stage.eventually("all are there") { await stage.queued == 18 && turnstile.arrived.count == 2 }
            let count = byShutdown ? await session.shutdown() : await session.tasks.cancelAll()
            #expect(count == 20)
            #expect(told.load(ordering: .relaxed) == 20)
            for verb in verbs {
                let error = try await NetworkError.thrown { _ = try await verb.value }
                #expect(error.code == .cancelled)
            }
            for task in tasks {
                let result = try #require(task.resultIfEnded)
                #expect(throws: NetworkError.self) { try result.get() }
            }
            #expect(turnstile.arrived.count == 2)
            #expect(await session.tasks.count == 0)
            #expect(told.load(ordering: .relaxed) == 20)
            if !byShutdown {
                turnstile.open()
                #expect(try await session.get("later", as: .string).value == "x")
            }
        }
    }

    @Test(.rows("SM-47"))
    func `waitUntilEmpty waits for queued requests, and a cancel of its task ends that wait alone`()
        async throws
    {
        try await Stage.with(configure: Self.one) { (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            let session = stage.session
            try await session.tasks.waitUntilEmpty()
            let tasks = [try await stage.begin("first"), try await stage.begin("second", behind: 0)]
            let impatient = Task { try await session.tasks.waitUntilEmpty() }
            let patient = Task { try await session.tasks.waitUntilEmpty() }
            impatient.cancel()
            await #expect(throws: CancellationError.self) { try await impatient.value }
            #expect(await session.tasks.count == 2)
            turnstile.open()
            try await patient.value
            #expect(tasks.allSatisfy { $0.resultIfEnded != nil })
        }
    }

    @Test(arguments: [false, true])
    func `a request that is suspended before its turn neither begins nor ends, and waitUntilEmpty waits for it`(
        isCancelled: Bool
    ) async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock) {
            Self.one(&$0)
            $0.timeouts.queue = .seconds(5)
            $0.timeouts.total = .seconds(5)
        } _: { (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            let first = try await stage.begin("first", .init(timeouts: .patient))
            let held = try await stage.begin("held", behind: 0)
            held.suspend()
            try await stage.eventually("it stands aside") { await stage.queued == 0 }
            turnstile.open()
            _ = try await first.value
            let isDrained = Atomic(false)
            let waiting = Task {
                try await stage.session.tasks.waitUntilEmpty()
                isDrained.store(true, ordering: .relaxed)
            }
            try await clock.advance(by: .seconds(1000))
            #expect(await stage.session.tasks.count == 1 && held.resultIfEnded == nil)
            #expect(isDrained.load(ordering: .relaxed) == false)
            if isCancelled { held.cancel() } else { held.resume() }
            try await waiting.value
            switch held.resultIfEnded {
            case .success(let response)?: #expect(!isCancelled && response.value == "x")
            case .failure(let error as NetworkError)?: #expect(isCancelled && error.code == .cancelled)
            case let other: Issue.record("\(String(describing: other))")
            }
        }
    }

    @Test func `many requests suspended, resumed and cancelled at random leave nothing behind`() async throws {
        try await Stage.with(configure: { $0.queue = .init(running: 3, runningPerOrigin: 2) }) {
            (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            let session = stage.session
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        var random = SeededGenerator(seed: UInt64(number))
                        let task = try session.task("\(number)", as: .string)
                        task.resume()
                        for _ in 0..<random.next(below: 6) {
                            switch random.next(below: 5) {
                            case 0: task.suspend()
                            case 1: task.resume()
                            case 2: task.setPriority(HTTP.Priority(random.next(below: 9)))
                            case 3 where number % 4 == 0: task.cancel()
                            default: await Task.yield()
                            }
                        }
                        task.resume()
                        if case .success(let response) = await task.result { #expect(response.value == "x") }
                    }
                }
                try await group.waitForAll()
            }
            #expect(await session.tasks.count == 0)
            try await stage.expectHealthy()
        }
    }
}
