import Dunlin
import DunlinTesting
import Mocking
import Synchronization
import Testing

/// Hooks that are told what happens while a request runs, and do not return.
@Suite(.timeLimit(.minutes(10))) struct `Hooks that are told news` {
    enum News: CaseIterable { case upload, download, interim }
    enum End: CaseIterable { case handle, shutdown, awaitingTask, total }

    private final class Waiting: Sendable {
        let clock: ManualClock
        let began = AsyncStream.makeStream(of: Void.self)
        let calls = Atomic(0)
        let finals = Atomic(0)

        init(_ clock: ManualClock) { self.clock = clock }

        func forever(_ progress: HTTPSession.TransferProgress?) async {
            calls.add(1, ordering: .relaxed)
            if progress?.isFinal == true { finals.add(1, ordering: .relaxed) }
            began.continuation.yield()
            do { try await clock.sleep(for: .seconds(1_000_000)) } catch {}
        }

        func add(_ news: News, to hooks: inout HTTPSession.Hooks) {
            switch news {
            case .upload: hooks.uploadProgress = { [self] _, progress in await forever(progress) }
            case .download: hooks.downloadProgress = { [self] _, progress in await forever(progress) }
            case .interim: hooks.interimResponse = { [self] _, _ in await forever(nil) }
            }
        }
    }

    @Test(arguments: News.allCases, End.allCases)
    func `are cancelled with their request, also once its transfer is over`(news: News, end: End) async throws {
        let clock = ManualClock()
        let waiting = Waiting(clock)
        let server = try LoopbackServer()
        server.respond { _ in .response(body: "body").precededBy(interim: .earlyHints) }
        var configuration = HTTPSession.Configuration()
        configuration.baseURL = server.baseURL
        try configuration.use(clock)
        configuration.timeouts.total = .seconds(60)
        waiting.add(news, to: &configuration.hooks)
        let session = try HTTPSession(configuration)
        let task = try session.task("x", method: .post, body: .string("body"), as: .string)
        task.resume()
        for await _ in waiting.began.stream { break }
        switch end {
        case .handle: task.cancel()
        case .shutdown: await session.shutdown()
        case .awaitingTask:
            let waiter = Task { _ = await task.result }
            waiter.cancel()
            await waiter.value
        case .total: try await clock.advance(by: .seconds(61))
        }
        _ = await task.result
        await session.shutdown()
        #expect(waiting.finals.load(ordering: .relaxed) == (news == .interim ? 0 : 1))
        server.stop()
    }

    @Test func `may take their time within the limits of a request that has succeeded`() async throws {
        let told = Mutex<[Bool]>([])
        let gate = LoopbackServer.Gate()
        let mocked = try Mocked {
            $0.hooks.downloadProgress = { _, progress in
                do { try await gate.opened() } catch { Issue.record(error) }
                told.withLock { $0.append(progress.isFinal) }
            }
        }
        mocked.transport.on(.get, "/x").respond(.ok, body: "body")
        async let value = mocked.session.get("x", as: .string).value
        for _ in 0..<20 { await Task.yield() }
        #expect(told.withLock { $0.isEmpty })
        gate.open()
        #expect(try await value == "body")
        #expect(told.withLock { $0.last } == true)
        await mocked.session.shutdown()
    }

    @Test func `get an error, at once, instead of the outcome of the request that waits for them`() async throws {
        let handle = Mutex<HTTPSession.RequestTask<String>?>(nil)
        let codes = Mutex<[NetworkError.Code?]>([])
        @Sendable func awaitOwn() async {
            let result = await handle.withLock(\.self)?.result
            codes.withLock { $0.append(result?.failure?.code) }
        }
        let mocked = try Mocked {
            $0.hooks.response = { _, _ in
                await awaitOwn()
                return nil
            }
            $0.hooks.downloadProgress = { _, progress in if progress.isFinal { await awaitOwn() } }
            $0.hooks.completed = { _ in await awaitOwn() }
        }
        mocked.transport.on(.get, "/x").respond(.ok, body: "body")
        let task = try mocked.session.task("x", as: .string)
        handle.withLock { $0 = task }
        #expect(try await task.value == "body")
        await mocked.session.shutdown()
        #expect(codes.withLock(\.self) == [.invalidRequest, .invalidRequest, .invalidRequest])
        handle.withLock { $0 = nil }
    }
}

extension Result {
    fileprivate var failure: NetworkError? {
        if case .failure(let error) = self { error as? NetworkError } else { nil }
    }
}
