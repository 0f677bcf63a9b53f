import Dunlin
import DunlinTesting
import LedgerRows
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A session's queue` {
    private static func limits(
        _ running: Int?, perHost: Int? = nil, waiting: Int = 10_000
    ) -> @Sendable (inout HTTPSession.Configuration) -> Void {
        { $0.queue = .init(running: running, runningPerOrigin: perHost, maximumWaiting: waiting) }
    }

    @Test(.rows("SM-5", "HS-28"), arguments: [(1, nil), (3, nil), (nil, 2), (4, 3)] as [(Int?, Int?)])
    func `the queue runs no more requests at once than its limits, of whatever kind they are`(
        running: Int?, perHost: Int?
    ) async throws {
        try await Stage.with(configure: Self.limits(running, perHost: perHost)) { (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            let session = stage.session
            let limit = min(running ?? .max, perHost ?? .max)
            try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<18 {
                    group.addTask {
                        switch number % 3 {
                        case 0: return try await session.get("\(number)", as: .string).value
                        case 1: return try await session.task("\(number)", as: .string).value
                        default:
                            return try await session.withResponse(from: "\(number)") { response in
                                var length = 0
                                for try await piece in response.body { length += piece.count }
                                return String(repeating: "x", count: length)
                            }
                        }
                    }
                }
                try await turnstile.pass(all: 18, atOnce: limit) {
                    try await stage.eventually("the others wait") {
                        await stage.queued + turnstile.arrived.count == 18
                    }
                }
                for try await value in group { #expect(value == "x") }
            }
            #expect(turnstile.peak == limit)
            #expect(Set(turnstile.arrived).count == 18)
            #expect(await stage.queued == 0)
        }
    }

    @Test(.rows("SM-5")) func `a full host does not delay requests to others`() async throws {
        let other = try Stage.makeServer()
        defer { other.stop() }
        other.respond { _ in .response(body: "other") }
        try await Stage.with(configure: Self.limits(2, perHost: 1)) { (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            let first = try await stage.begin("first")
            let second = try await stage.begin("second", behind: 0)
            let third = try await stage.begin("third", behind: 1)
            for _ in 0..<3 {
                let url = HTTP.Target(other.baseURL + "/b")
                #expect(try await stage.session.get(url, as: .string).value == "other")
            }
            #expect(turnstile.arrived == ["/first"])
            turnstile.open()
            for task in [first, second, third] { #expect(try await task.value == "x") }
            #expect(turnstile.arrived == ["/first", "/second", "/third"])
            #expect(turnstile.peak == 1)
        }
    }

    @Test(.rows("OP-11")) func `the queue serves by priority, which can change while a request waits`() async throws {
        try await Stage.with(configure: Self.limits(1)) { (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            var tasks = [try await stage.begin("first")]
            let priorities: [HTTP.Priority] = [.normal, .low, .normal, .high, .normal]
            for (index, priority) in priorities.enumerated() {
                tasks.append(try await stage.begin("\(index)", .init(priority: priority), behind: index))
            }
            tasks[2].setPriority(200)
            #expect(await stage.session.tasks[tasks[1].id]?.setPriority(.low) == true)
            let isHigher = await stage.session.tasks[tasks[5].id]?.setPriority(.high)
            #expect(isHigher == true)
            #expect(tasks.map(\.priority) == [.normal, .low, 200, .normal, .high, .high])
            #expect(await stage.session.tasks.all.map(\.priority) == tasks.map(\.priority))
            turnstile.open()
            for task in tasks { _ = try await task.value }
            #expect(turnstile.arrived == ["/first", "/1", "/3", "/4", "/2", "/0"])
            #expect(await stage.session.tasks[tasks[1].id]?.setPriority(.low) != true)
        }
    }

    @Test func `a queued request shows as waiting, in the phase of the pool`() async throws {
        try await Stage.with(configure: Self.limits(1)) { (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            let running = try await stage.begin("running")
            let waiting = try await stage.begin("waiting", behind: 0)
            #expect(waiting.snapshot.state == .waiting)
            #expect(waiting.snapshot.phase == .pool)
            #expect(running.snapshot.state == .running(hop: 1))
            turnstile.open()
            _ = try await waiting.value
        }
    }

    @Test func `a request that would wait behind too many in the queue is refused`() async throws {
        try await Stage.with(configure: Self.limits(1, waiting: 1)) { (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            let tasks = [try await stage.begin("1"), try await stage.begin("2", behind: 0)]
            let error = try await NetworkError.thrown { _ = try await stage.session.get("3", as: .bytes) }
            #expect(error.code == .queueFull)
            #expect(error.phase == .pool)
            #expect(error.isSafeToRetry && !error.requestMayHaveBeenSent)
            turnstile.open()
            for task in tasks { _ = try await task.value }
            #expect(try await stage.session.get("4", as: .string).value == "x")
        }
    }

    @Test func `a failed request makes room as a good one does`() async throws {
        try await Stage.with(tolerating: true, configure: Self.limits(1)) { (stage: Stage) async throws in
            for number in 0..<3 {
                stage.server.enqueue(.response(body: "x").resetAfter(5))
                let code = try await NetworkError.thrown { _ = try await stage.session.post("\(number)", as: .bytes) }
                #expect(code.code == .connectionClosed)
            }
            stage.server.enqueue(.response(body: "fine"))
            #expect(try await stage.session.get("4", as: .string).value == "fine")
        }
    }

    @Test(arguments: [(0, nil, 10), (nil, 0, 10), (1, 1, -1), (-1, nil, 0)] as [(Int?, Int?, Int)])
    func `a session whose queue limits are impossible is refused`(running: Int?, perHost: Int?, waiting: Int)
        async throws
    {
        var configuration = HTTPSession.Configuration()
        configuration.queue = .init(running: running, runningPerOrigin: perHost, maximumWaiting: waiting)
        let error = try await NetworkError.thrown { _ = try HTTPSession(configuration) }
        #expect(error.code == .invalidConfiguration)
    }
}
