import Dunlin
import DunlinTesting
import LedgerRows
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A batch` {
    private static func requests(_ count: Int) -> [HTTPSession.BatchRequest] {
        (0..<count).map { .init("\($0)") }
    }

    @Test(.rows("SM-47", "OP-10", "HS-28"), arguments: [nil, 1, 3, 100] as [Int?])
    func `a batch brings values in the order in which they were asked for`(running: Int?) async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { request in .response(body: Bytes(Array(request.target.utf8))) }
            let batch = try stage.session.batch(Self.requests(20), running: running, as: .string)
            #expect(try await batch.values == (0..<20).map { "/\($0)" })
            #expect(batch.tasks.count == 20)
            #expect(await stage.session.tasks.count == 0)
            #expect(try await batch.values.count == 20)
        }
    }

    @Test func `a batch tells how each request ended, and its values throw the first error`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { request in
                .response(["/1": 404, "/3": 500][request.target] ?? .ok, body: "x")
            }
            let batch = try stage.session.batch(Self.requests(5), as: .string)
            let results = await batch.results
            #expect(results.map { try? $0.get().value } == ["x", nil, "x", nil, "x"])
            let error = try await NetworkError.thrown { _ = try await batch.values }
            #expect(error.response?.status == 404)
            #expect([batch.state.finished, batch.state.failed, batch.state.total] == [5, 2, 5])
        }
    }

    @Test(arguments: [1, 2, 4]) func `a batch runs no more at once than it says, and waiting in it has no time limit`(
        running: Int
    ) async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock) {
            $0.timeouts = Timeouts(pool: .seconds(1), firstByte: .seconds(1000), total: .seconds(2000))
        } _: { (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            let batch = try stage.session.batch(Self.requests(8), running: running, as: .string)
            #expect(await stage.session.tasks.count == 8)
            try await turnstile.pass(all: 8, atOnce: running) { try await clock.advance(by: .seconds(30)) }
            #expect(try await batch.values.count == 8)
            #expect(turnstile.peak == running)
            if running == 1 { #expect(turnstile.arrived == (0..<8).map { "/\($0)" }) }
        }
    }

    @Test func `a deadline that is over before a request's turn in a batch names what the batch was made with`()
        async throws
    {
        let clock = ManualClock()
        try await Stage.with(clock: clock) {
            $0.timeouts = .none
            $0.queue.running = 5
        } _: { (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            let session = stage.session
            let batch = try await session.withTimeout(.seconds(5)) {
                try session.batch(Self.requests(2), running: 1, as: .string)
            }
            try await stage.eventually("the second waits for the first") {
                batch.queued == 1 && turnstile.arrived.count == 1
            }
            try await clock.advance(by: .seconds(5))
            let late = try await NetworkError.thrown { _ = try await batch.tasks[1].value }
            #expect(late.code == .timedOut && late.phase == .pool)
            #expect(late.exceeded == .total && late.limit == .seconds(5) && late.elapsed == .seconds(5))
            #expect(late.reason.contains("`running` of the batch is 1"), "\(late)")
            #expect(!late.reason.contains("`queue.running`") && late.reason.contains("`withTimeout`"), "\(late)")
            #expect(await batch.results.count == 2)
        }
    }

    @Test func `a batch tells how many of its requests wait for their turn`() async throws {
        try await Stage.with(configure: { $0.queue.running = 2 }) { (stage: Stage) async throws in
            let gate = LoopbackServer.Gate()
            stage.server.respond { _ in .response(body: "x").waiting(for: gate) }
            #expect(try stage.session.batch([], running: 3, as: .string).queued == 0)
            #expect(try stage.session.batch(Self.requests(1), as: .string).queued == 0)
            let batch = try stage.session.batch(Self.requests(8), running: 3, as: .string)
            _ = try await stage.server.waitForRequests(2)
            // Three of the eight have their turn in the batch; with the other batch's one, two of four go.
            try await stage.eventually("five wait in the batch, and two in the session") {
                let gauges = await stage.session.gauges()
                return batch.queued == 5 && gauges.queued == 2 && gauges.requests == 9
            }
            gate.open()
            #expect(try await batch.values.count == 8)
            #expect(batch.queued == 0)
        }
    }

    @Test func `a batch keeps to the limits of its session too`() async throws {
        try await Stage.with(configure: { $0.queue = .init(running: 2, maximumWaiting: 1) }) {
            (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            let batch = try stage.session.batch(Self.requests(9), running: 3, as: .string)
            try await turnstile.pass(all: 9, atOnce: 2)
            #expect(try await batch.values.count == 9)
            #expect(turnstile.peak == 2)
        }
    }

    @Test(.rows("OP-10"))
    func `a batch's progress never decreases, and its final value reaches every observer`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server, body: "twelve bytes")
            let requests = (0..<5).map { HTTPSession.BatchRequest("\($0)", method: .post, body: .bytes("four")) }
            let batch = try stage.session.batch(requests, running: 1, as: .string)
            var steps: [HTTPSession.BatchProgress] = []
            var passed = 0
            for await step in batch.progress {
                steps.append(step)
                guard step.finished == passed, passed < 5 else { continue }
                try await turnstile.pass(passed)
                passed += 1
            }
            let last = try #require(steps.last)
            #expect(last.isFinal && last.fraction == 1)
            #expect([last.finished, last.failed, last.sentBytes, last.receivedBytes] == [5, 0, 20, 60])
            #expect(steps.map(\.finished) == steps.map(\.finished).sorted())
            #expect(steps.map(\.receivedBytes) == steps.map(\.receivedBytes).sorted())
            #expect(steps.count { $0.isFinal } == 1)
            for await late in batch.progress { #expect(late == last) }
        }
    }

    @Test(.rows("OP-10")) func `an empty batch is over at once`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            let batch = try stage.session.batch([], running: 1, as: .string)
            var steps: [HTTPSession.BatchProgress] = []
            for await step in batch.progress { steps.append(step) }
            #expect(steps.map(\.total) == [0])
            #expect(steps.map(\.isFinal) == [true])
            #expect(steps.map(\.fraction) == [1])
            #expect(try await batch.values.isEmpty)
        }
    }

    @Test(arguments: [false, true])
    func `a batch is cancelled as a whole, by its handle or with the task that waits`(byTask: Bool) async throws {
        try await Stage.with { (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            let batch = try stage.session.batch(Self.requests(10), running: 2, as: .string)
            try await turnstile.pass(0)
            try await stage.eventually("one has ended") { batch.state.finished == 1 && turnstile.arrived.count == 3 }
            let waiter = Task { await batch.results }
            if byTask { waiter.cancel() } else { batch.cancel() }
            let results = await waiter.value
            #expect(results.count == 10)
            for case .failure(let error) in results {
                #expect(byTask ? error is CancellationError : (error as? NetworkError)?.code == .cancelled)
            }
            #expect([batch.state.finished, batch.state.failed] == [10, 9])
            #expect(turnstile.arrived.count == 3)
            #expect(await stage.session.tasks.count == 0)
        }
    }

    @Test func `a batch goes on without its handle`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            _ = try stage.session.batch(Self.requests(4), running: 1, as: .string)
            for number in 0..<4 { try await turnstile.pass(number) }
            try await stage.eventually("all are over") { await stage.session.tasks.count == 0 }
            #expect(turnstile.arrived.count == 4)
        }
    }

    @Test func `a batch can contain requests that come after one another, in any order`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            var tasks: [HTTPSession.RequestTask<String>] = []
            for number in 0..<6 {
                var options = HTTPSession.Options()
                options.startsAfter = tasks.map(\.id)
                tasks.append(try stage.session.task("\(number)", options: options, as: .string))
            }
            let batch = try stage.session.batch(tasks.reversed(), running: 1)
            #expect(try await batch.values.count == 6)
            #expect(stage.server.requests.map(\.target) == (0..<6).map { "/\($0)" })
        }
    }

    @Test func `a batch serves by priority, which can change while a request waits`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            let batch = try stage.session.batch(Self.requests(5), running: 1, as: .string)
            try await stage.eventually("the others wait") { await stage.queued == 4 && turnstile.arrived.count == 1 }
            batch.tasks[4].setPriority(.high)
            batch.tasks[1].setPriority(.low)
            turnstile.open()
            _ = try await batch.values
            #expect(turnstile.arrived == ["/0", "/4", "/2", "/3", "/1"])
        }
    }

    @Test(arguments: [1, 2, 5])
    func `a batch goes on past requests that are cancelled before they begin`(running: Int) async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            for step in 1...8 {
                let batch = try stage.session.batch(Self.requests(12), running: running, as: .string)
                let cancelled = batch.tasks.indices.filter { $0.isMultiple(of: step) }
                for index in cancelled { batch.tasks[index].cancel() }
                let results = await batch.results
                for (index, result) in results.enumerated() {
                    switch result {
                    case .success(let response): #expect(response.value == "x")
                    case .failure(let error):
                        #expect(cancelled.contains(index) && (error as? NetworkError)?.code == .cancelled)
                    }
                }
            }
            #expect(await stage.session.tasks.count == 0)
        }
    }

    @Test(arguments: [1, 2, 5])
    func `a batch goes on past requests that are suspended before their turn`(running: Int) async throws {
        try await Stage.with { (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            let batch = try stage.session.batch(Self.requests(12), running: running, as: .string)
            try await stage.eventually("the first are there") { turnstile.arrived.count == running }
            let held = batch.tasks.dropFirst(running).enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
            for task in held { task.suspend() }
            turnstile.open()
            try await stage.eventually("all others have ended") { batch.state.finished == 12 - held.count }
            #expect(turnstile.arrived.count == 12 - held.count)
            for task in held { task.resume() }
            #expect(try await batch.values.count == 12)
        }
    }

    @Test func `a batch sends nothing if one of its requests cannot be sent, or none may run`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            let requests = [HTTPSession.BatchRequest("fine"), .init("ftp://nowhere")]
            let error = try await NetworkError.thrown { _ = try stage.session.batch(requests, as: .string) }
            #expect(error.code == .unsupportedScheme)
            let none = try await NetworkError.thrown { _ = try stage.session.batch([], running: 0, as: .string) }
            #expect(none.code == .invalidConfiguration)
            try await stage.eventually("nothing is left") { await stage.session.tasks.count == 0 }
            #expect(stage.server.requests.isEmpty)
        }
    }
}
