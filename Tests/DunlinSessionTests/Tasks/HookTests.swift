import Dunlin
import DunlinTesting
import LeakChecking
import LedgerRows
import Mocking
import Synchronization
import Testing

/// What hooks and listeners are told, and in which order.
@Suite(.leakChecked, .timeLimit(.minutes(10))) struct `Hooks and events` {
    /// What was told, in order.
    final class Log: Sendable {
        private let entries = Mutex<[String]>([])

        var all: [String] { entries.withLock { $0 } }

        func note(_ entry: String) {
            entries.withLock { $0.append(entry) }
        }
    }

    private static func hooks(_ name: String, _ log: Log) -> HTTPSession.Hooks {
        var hooks = HTTPSession.Hooks()
        hooks.response = { _, head in
            log.note("\(name) response \(head.status.code)")
            return nil
        }
        hooks.data = { _, bytes in log.note("\(name) data \(bytes.count)") }
        hooks.transferEnded = { _, error in log.note("\(name) ended \(error == nil)") }
        hooks.metrics = { _, _ in log.note("\(name) metrics") }
        hooks.completed = { completion in log.note("\(name) completed \(completion.error == nil)") }
        return hooks
    }

    private func mocked(_ log: Log, hooks: HTTPSession.Hooks = .init()) throws -> Mocked {
        let mock = try Mocked {
            $0.useLoopOfTest()
            $0.hooks = hooks
        }
        mock.transport.on(.get, "/").stream(["one", "three"]).always()
        return mock
    }

    @Test(.rows("SM-49", "SM-92"), arguments: [false, true])
    func `hooks run in order, the request's before the session's and both before the caller`(
        byHandle: Bool
    ) async throws {
        let log = Log()
        let mock = try mocked(log, hooks: Self.hooks("session", log))
        let events = mock.session.events
        var options = HTTPSession.Options()
        options.hooks = Self.hooks("request", log)
        if byHandle {
            _ = try await mock.session.task("/", options: options, as: .string).value
        } else {
            _ = try await mock.session.get("/", options: options, as: .string)
        }
        log.note("caller")
        let told = ["response 200", "data 3", "data 5", "ended true", "metrics", "completed true"]
        let expected: [String] = told.flatMap { ["request \($0)", "session \($0)"] }
        #expect(log.all == expected + ["caller"])
        for await case .completed(let completion) in events {
            #expect(completion.response?.status == .ok)
            #expect(completion.body == "onethree")
            #expect(completion.url == "http://api.test/")
            break
        }
    }

    @Test(.rows("SM-90")) func `a failed request calls the hooks for its end, its metrics and its completion`()
        async throws
    {
        let log = Log()
        let mock = try mocked(log, hooks: Self.hooks("session", log))
        mock.transport.on(.get, "/broken").fail(.connectionReset)
        _ = try await networkError { _ = try await mock.session.get("broken", as: .string) }
        #expect(log.all == ["session ended false", "session metrics", "session completed false"])
    }

    @Test(.rows("SM-70", "SM-91")) func `a response hook can cancel a request before its body is read`() async throws {
        let log = Log()
        var hooks = Self.hooks("session", log)
        hooks.response = { _, _ in .cancel }
        let mock = try mocked(log, hooks: hooks)
        let error = try await networkError { _ = try await mock.session.get("/", as: .string) }
        #expect(error?.code == .cancelled)
        #expect(error?.response?.status == .ok)
        #expect(log.all.contains("session data 3") == false)
    }

    @Test(.rows("G-2", "HS-26"))
    func `the request's response hook decides before the session's unless it returns nil`() async throws {
        let log = Log()
        var (first, second) = (HTTPSession.Hooks(), HTTPSession.Hooks())
        first.response = { _, _ in .accept }
        second.response = { _, _ in .cancel }
        let mock = try mocked(log, hooks: second)
        var options = HTTPSession.Options(hooks: first)
        _ = try await mock.session.get("/", options: options, as: .string)
        options.hooks.response = { _, _ in nil }
        let error = try await networkError { _ = try await mock.session.get("/", options: options, as: .string) }
        #expect(error?.code == .cancelled)
    }

    @Test func `a response hook that never returns does not block a cancel`() async throws {
        let asked = LoopbackServer.Gate()
        let silence = AsyncStream.makeStream(of: Int.self)
        var hooks = HTTPSession.Hooks()
        hooks.response = { _, _ in
            asked.open()
            for await _ in silence.stream {}
            return nil
        }
        let mock = try mocked(Log(), hooks: hooks)
        let task = try mock.session.task("/", as: .string)
        task.resume()
        try await asked.opened()
        task.cancel()
        #expect(try await networkError { _ = try await task.value }?.code == .cancelled)
    }

    @Test(arguments: [false, true])
    func `a data hook that never returns blocks neither a cancel nor the total time limit`(
        isCancelled: Bool
    ) async throws {
        let asked = LoopbackServer.Gate()
        let silence = AsyncStream.makeStream(of: Int.self)
        var hooks = HTTPSession.Hooks()
        hooks.data = { _, _ in
            asked.open()
            for await _ in silence.stream {}
        }
        let mock = try mocked(Log(), hooks: hooks)
        var options = HTTPSession.Options()
        if !isCancelled { options.timeouts = .init(total: .milliseconds(300)) }
        let task = try mock.session.task("/", options: options, as: .string)
        task.resume()
        if isCancelled {
            try await asked.opened()
            task.cancel()
        }
        let error = try await networkError { _ = try await task.value }
        #expect(error?.code == (isCancelled ? .cancelled : .timedOut))
    }

    @Test(.rows("SM-100", "AP-13")) func `a repeated resume and a suspend after the end cause no event`() async throws {
        let mock = try mocked(Log())
        let events = mock.session.events
        let task = try mock.session.task("/", as: .string)
        task.resume()
        task.resume()
        _ = try await task.value
        task.suspend()
        await mock.session.shutdown()
        var told: [String] = []
        for await event in events {
            switch event {
            case .resumed: told.append("resumed")
            case .suspended: told.append("suspended")
            case .downloadResumed, .fileMoved, .fileMoveFailed: told.append("file")
            case .journalEmptied, .journalIssue: told.append("journal")
            case .storingEnded: told.append("stored")
            case .waitingForConnectivity, .retrying, .reconnecting, .interimResponse, .reachability:
                told.append("network")
            case .completed: told.append("completed")
            case .shutDown: told.append("shutDown")
            }
        }
        #expect(told == ["resumed", "completed", "shutDown"])
    }

    @Test(.rows("SM-14")) func `the session's shutDown hook runs last, once nothing runs`() async throws {
        let log = Log()
        var hooks = HTTPSession.Hooks()
        hooks.completed = { _ in log.note("completed") }
        hooks.shutDown = { log.note("shutDown") }
        let mock = try mocked(log, hooks: hooks)
        mock.transport.on(.get, "/never").never()
        let task = try mock.session.task("never", as: .string)
        task.resume()
        try await mock.transport.waitForRequests()
        #expect(await mock.session.shutdown() == 1)
        #expect(log.all == ["completed", "shutDown"])
    }

    @Test(.rows("SM-92")) func `a stream calls the same hooks, and those for its end when its scope is left`()
        async throws
    {
        let log = Log()
        let mock = try mocked(log, hooks: Self.hooks("session", log))
        try await mock.session.withResponse(from: "/") { response in
            for try await piece in response.body { log.note("read \(piece.count)") }
        }
        #expect(
            log.all == [
                "session response 200", "session data 3", "read 3", "session data 5", "read 5", "session ended true",
                "session metrics", "session completed true",
            ])
    }

    @Test(.rows("G-4", "SM-25", "SM-89", "VD-2"))
    func `the progress hooks are told once that each body has ended`() async throws {
        let log = Log()
        var hooks = HTTPSession.Hooks()
        hooks.downloadProgress = { _, progress in
            if progress.isFinal { log.note("down \(progress.wireBytes)") }
        }
        hooks.uploadProgress = { _, progress in
            if progress.isFinal { log.note("up \(progress.wireBytes) of \(progress.totalBytes ?? -1)") }
        }
        let mock = try mocked(log, hooks: hooks)
        mock.transport.on(.post, "/").respond(body: "answer")
        let pieces = AsyncThrowingStream<Bytes, any Error> {
            $0.yield("ab")
            $0.yield("cd")
            $0.finish()
        }
        _ = try await mock.session.post("/", body: .stream(pieces, length: 4), as: .bytes)
        #expect(log.all.sorted() == ["down 6", "up 4 of 4"])
    }
}

@Suite(.leakChecked, .timeLimit(.minutes(10))) struct `Restarted session` {
    @Test(.rows("SM-11", "VD-5")) func `a restarted session accepts requests again and has cancelled the earlier ones`()
        async throws
    {
        let mock = try Mocked { $0.useLoopOfTest() }
        mock.transport.on(.get, "/never").never().always()
        mock.transport.on(.get, "/").respond(body: "again").always()
        async let before = networkError { _ = try await mock.session.get("never", as: .bytes) }
        try await mock.transport.waitForRequests()
        #expect(await mock.session.restart() == 1)
        #expect(try await before?.code == .cancelled)
        #expect(!mock.session.isShutDown)
        #expect(try await mock.session.get("/", as: .string).value == "again")
    }
}
