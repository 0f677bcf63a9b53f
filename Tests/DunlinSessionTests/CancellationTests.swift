import Dunlin
import DunlinTesting
import LeakChecking
import LedgerRows
import Mocking
import Testing

/// How requests end before their time, over a transport that never answers.
@Suite(.leakChecked, .timeLimit(.minutes(10))) struct CancellationTests {
    private func silent() throws -> Mocked {
        let mock = try Mocked { $0.useLoopOfTest() }
        mock.transport.on(.get, "/").never().always()
        return mock
    }

    @Test func `a cancelled task gets CancellationError`() async throws {
        let mock = try silent()
        let task = Task { try await mock.session.get("/", as: .bytes) }
        try await mock.transport.waitForRequests()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(await mock.session.tasks.count == 0)
    }

    enum Way: CaseIterable {
        case whole, streamed, inScope
    }

    /// Many times, since what is sent by another task may be stopped in time by luck.
    @Test(arguments: Way.allCases) func `a task cancelled beforehand sends nothing`(way: Way) async throws {
        let mock = try silent()
        for _ in 0..<50 {
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                switch way {
                case .whole: _ = try await mock.session.get("/", as: .bytes)
                case .streamed: _ = try await mock.session.stream("/")
                case .inScope: try await mock.session.withResponse(from: "/") { _ in }
                }
            }
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(mock.transport.requests.isEmpty)
    }

    @Test func `a request cancelled by its handle fails with code cancelled`() async throws {
        let mock = try silent()
        async let answer = networkError {
            _ = try await mock.session.get("/", options: .init(label: "report"), as: .bytes)
        }
        try await mock.transport.waitForRequests()
        let running = try #require(await mock.session.tasks.all.first)
        #expect(running.label == "report")
        #expect(running.state == .running(hop: 1))
        #expect(await mock.session.tasks.cancel(running.id))
        #expect(try await answer?.code == .cancelled)
        #expect(await !mock.session.tasks.cancel(running.id))
    }

    @Test func `cancelAll returns after the last request has ended`() async throws {
        let mock = try silent()
        try await withThrowingTaskGroup(of: NetworkError.Code?.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await networkError { _ = try await mock.session.get("/", as: .bytes) }?.code
                }
            }
            try await mock.transport.waitForRequests(20)
            #expect(await mock.session.tasks.cancelAll() == 20)
            #expect(await mock.session.tasks.count == 0)
            for try await code in group { #expect(code == .cancelled) }
        }
    }

    @Test(.rows("SM-10")) func `a session that is shut down cancels what runs and takes no more`() async throws {
        let mock = try silent()
        async let answer = networkError { _ = try await mock.session.get("/", as: .bytes) }
        try await mock.transport.waitForRequests()
        #expect(await mock.session.shutdown() == 1)
        #expect(try await answer?.code == .cancelled)
        let late = try await networkError { _ = try await mock.session.get("/", as: .bytes) }
        #expect(late?.code == .sessionShutDown)
        #expect(await mock.session.shutdown() == 0)
        #expect(mock.transport.requests.count == 1)
    }

    @Test(arguments: [false, true])
    func `a cancel that comes while the body is read ends the request`(isStreamed: Bool) async throws {
        let mock = try Mocked { $0.useLoopOfTest() }
        let second = LoopbackServer.Gate()
        mock.transport.on(.get, "/").reply(
            .stream { index in
                if index == 0 { return "first" }
                second.open()
                try await ManualClock().sleep(for: .seconds(1))
                return nil
            })
        async let answer = networkError {
            guard isStreamed else { return _ = try await mock.session.get("/", as: .bytes) }
            try await mock.session.withResponse(from: "/") { for try await _ in $0.body {} }
        }
        try await second.opened(within: .seconds(300))
        #expect(await mock.session.shutdown() == 1)
        #expect(try await answer?.code == .cancelled)
    }

    @Test(.rows("RQ-53"), arguments: [false, true])
    func `the total limit ends a request, its body included`(isStreamed: Bool) async throws {
        let clock = ManualClock()
        let mock = try Mocked(clock: clock) {
            try $0.use(clock)
            $0.timeouts.total = .seconds(60)
        }
        mock.transport.on(.get, "/").reply(
            .stream { _ in
                try await clock.sleep(for: .seconds(3600))
                return nil
            })
        async let answer = networkError {
            guard isStreamed else { return _ = try await mock.session.get("/", as: .bytes) }
            try await mock.session.withResponse(from: "/") { for try await _ in $0.body {} }
        }
        try await clock.waitForSleepers()
        try await clock.waitForDeadlines()
        try await clock.advance(by: .seconds(60))
        let error = try #require(try await answer)
        #expect(error.code == .timedOut)
        #expect(error.phase == .receive)
        #expect(error.exceeded == .total)
        #expect(error.limit == .seconds(60))
    }
}
