import Dunlin
import DunlinTesting
import LeakChecking
import LedgerRows
import Mocking
import Testing

/// Requests with a handle, over a mock transport.
@Suite(.leakChecked, .timeLimit(.minutes(10))) struct `Request task` {
    private func answering() throws -> Mocked {
        let mock = try Mocked { $0.useLoopOfTest() }
        mock.transport.on(.get, "/user").respond(json: User(id: 1, name: "Ada")).always()
        return mock
    }

    private func silent() throws -> Mocked {
        let mock = try Mocked { $0.useLoopOfTest() }
        mock.transport.on(.get, "/").never().always()
        return mock
    }

    @Test(.rows("SM-20", "SM-26", "HS-10", "VD-1")) func `a task does not begin before it is resumed`() async throws {
        let mock = try answering()
        let task = try mock.session.task("user", as: .json(User.self))
        #expect(task.snapshot.state == .suspended)
        #expect(await mock.session.tasks.all.map(\.id) == [task.id])
        #expect(mock.transport.requests.isEmpty)
        task.resume()
        try await mock.transport.waitForRequests()
        #expect(try await task.value == User(id: 1, name: "Ada"))
        #expect(task.snapshot.state == .over)
        #expect(await mock.session.tasks.count == 0)
    }

    @Test(.rows("SM-20"))
    func `a task begins when its value is awaited, and gives it to every caller`() async throws {
        let mock = try answering()
        let task = try mock.session.task("user", as: .json(User.self))
        #expect(task.resultIfEnded == nil)
        async let first = task.value
        async let second = task.response.status
        #expect(try await first.name == "Ada")
        #expect(try await second == .ok)
        #expect(try await task.value.id == 1)
        #expect(try task.resultIfEnded?.get().value.id == 1)
        #expect(mock.transport.requests.count == 1)
    }

    @Test(.rows("SM-102", "OP-3"), arguments: 1...3)
    func `a task runs after one resume, however often it was suspended`(times: Int) async throws {
        let mock = try answering()
        let task = try mock.session.task("user", as: .json(User.self))
        for _ in 0..<times { task.suspend() }
        task.resume()
        #expect(try await task.value.id == 1)
    }

    @Test(.rows("SM-54"))
    func `a task that is cancelled before it begins sends nothing and fails with code cancelled`() async throws {
        let mock = try answering()
        let task = try mock.session.task("user", as: .json(User.self))
        task.cancel()
        task.resume()
        #expect(try await networkError { _ = try await task.value }?.code == .cancelled)
        #expect(mock.transport.requests.isEmpty)
        #expect(await mock.session.tasks.count == 0)
    }

    @Test func `a task that is released before it begins is cancelled`() async throws {
        let mock = try answering()
        let ended = LoopbackServer.Gate()
        let events = mock.session.events
        do { _ = try mock.session.task("user", as: .json(User.self)) }
        for await case .completed(let completion) in events {
            #expect((completion.error as? NetworkError)?.code == .cancelled)
            ended.open()
            break
        }
        try await ended.opened()
        #expect(mock.transport.requests.isEmpty)
    }

    @Test(.rows("G-10", "OP-12")) func `a running task completes without its handle`() async throws {
        let mock = try answering()
        let events = mock.session.events
        try mock.session.task("user", as: .json(User.self)).resume()
        for await case .completed(let completion) in events {
            #expect(completion.value as? User == User(id: 1, name: "Ada"))
            break
        }
    }

    @Test(.rows("SM-31"))
    func `a task is cancelled with a waiting caller, and another caller gets code cancelled`()
        async throws
    {
        let mock = try silent()
        let task = try mock.session.task("/", as: .bytes)
        let waiter = Task { try await task.value }
        async let other = networkError { _ = try await task.value }
        try await mock.transport.waitForRequests()
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
        #expect(try await other?.code == .cancelled)
    }

    @Test(.rows("G-1")) func `a task fails with what went wrong, also with an unacceptable status`() async throws {
        let mock = try Mocked { $0.useLoopOfTest() }
        mock.transport.on(.get, "/").fail(.connectionReset).thenRespond(.notFound, body: "none")
        let errors = try [
            await networkError { _ = try await mock.session.task("/", as: .bytes).value },
            await networkError { _ = try await mock.session.task("/", as: .bytes).value },
        ]
        #expect(errors.map { $0?.code } == [.connectionClosed, .unacceptableStatus])
        #expect(errors[1]?.body == "none")
    }

    @Test(.rows("SM-12")) func `a task cannot be made after the session is shut down`() async throws {
        let mock = try answering()
        let task = try mock.session.task("user", as: .json(User.self))
        #expect(await mock.session.shutdown() == 1)
        #expect(try await networkError { _ = try await task.value }?.code == .cancelled)
        let late = try await networkError { _ = try mock.session.task("user", as: .bytes) }
        #expect(late?.code == .sessionShutDown)
    }

    @Test(.rows("SM-15")) func `a task is found by id, kind and tag, and cancelled by tag`() async throws {
        let mock = try silent()
        var options = HTTPSession.Options(label: "first")
        options.tags = ["nightly", "report"]
        let tagged = try (0..<3).map { _ in try mock.session.task("/", options: options, as: .bytes) }
        let upload = try mock.session.task("/", method: .put, body: .file("/etc/hostname"), as: .bytes)
        let tasks = mock.session.tasks
        #expect(await tasks.all(tagged: "nightly").map(\.id) == tagged.map(\.id))
        #expect(await tasks.all(.upload).map(\.id) == [upload.id])
        #expect(await tasks.all(.data).count == 3)
        #expect(await tasks.all.first?.label == "first")
        #expect(await tasks.all.allSatisfy { $0.age >= .zero && $0.phase == nil })
        #expect(await tasks.cancel(tagged: "report") == 3)
        for task in tagged { #expect(try await networkError { _ = try await task.value }?.code == .cancelled) }
        #expect(await tasks.all.map(\.id) == [upload.id])
        let kind = await tasks[upload.id]?.kind
        #expect(kind == .upload)
    }

    /// A body whose second piece is never asked for while it is held.
    private struct HeldBody: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let hold: @Sendable () async -> Void
        var count = 0

        func makeAsyncIterator() -> HeldBody { self }

        mutating func next() async throws -> Bytes? {
            count += 1
            if count == 1 { await hold() }
            return count < 3 ? "piece" : nil
        }
    }

    @Test func `a task that is suspended over another transport fails at its total time limit`() async throws {
        let mock = try Mocked { $0.useLoopOfTest() }
        mock.transport.on(.post, "/").respond(body: "taken")
        let options = HTTPSession.Options(timeouts: .init(total: .seconds(1)))
        let tasks = mock.session.tasks
        let body = HeldBody { for task in await tasks.all { _ = await tasks[task.id]?.suspend() } }
        let task = try mock.session.task("/", method: .post, body: .stream(body), options: options, as: .string)
        let error = try await networkError { _ = try await task.value }
        #expect(error?.code == .timedOut)
        #expect(error?.phase == .firstByte)
        #expect(error?.exceeded == .total)
    }

    @Test(arguments: [("bytes", 5, 5), ("none", 0, nil)] as [(String, Int, Int?)])
    func `a task knows the bytes that another transport has sent once there is a response`(
        body: String, sent: Int, total: Int?
    ) async throws {
        let mock = try Mocked { $0.useLoopOfTest() }
        mock.transport.on(.post, "/").respond(body: "taken")
        let body: RequestBody = body == "none" ? .none : .string("12345")
        let task = try mock.session.task("/", method: .post, body: body, as: .string)
        _ = try await task.value
        #expect(task.uploaded.wireBytes == sent)
        #expect(task.uploaded.totalBytes == total)
    }

    @Test(.rows("SM-50"))
    func `later changes to a task's options do not affect it`() async throws {
        let mock = try answering()
        var options = HTTPSession.Options(fields: ["X-Mark": "before"])
        let task = try mock.session.task("user", options: options, as: .bytes)
        options.fields = ["X-Mark": "after"]
        options.validatesResponse = false
        _ = try await task.value
        #expect(mock.transport.requests.first?.fields["x-mark"] == "before")
    }
}
