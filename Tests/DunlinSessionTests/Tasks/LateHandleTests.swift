import Dunlin
import DunlinTesting
import LeakChecking
import Mocking
import Testing

@testable import DunlinSession

@Suite(.leakChecked, .timeLimit(.minutes(10))) struct `A handle that comes too late` {
    @Test(arguments: [false, true])
    func `a task that is created during a cancel of all or a restart ends like any other`(isClosed: Bool) async throws {
        let mock = try Mocked { $0.useLoopOfTest() }
        let events = mock.session.events
        // As if its thread had been stopped between the two.
        let call = try mock.session.core.call(.get, "/", options: .init(), isObserved: true)
        if isClosed { await mock.session.restart() } else { await mock.session.tasks.cancelAll() }
        let task = try mock.session.handle(for: call, into: WholeSink())
        let batch = try mock.session.batch([task], running: 1)
        let error = try await networkError { _ = try await task.value }
        #expect(error?.code == (isClosed ? .sessionShutDown : .cancelled))
        for await _ in task.downloadProgress {}
        for await _ in task.activity {}
        #expect(await batch.results.count == 1)
        try await eventually("it is over") { task.snapshot.state == .over }
        #expect(await mock.session.tasks.count == 0 && mock.transport.requests.isEmpty)
        await mock.session.shutdown()
        var ends = 0
        if !isClosed { for await case .completed in events { ends += 1 } }
        #expect(ends == (isClosed ? 0 : 1))
    }

    @Test func `draining a session without tasks returns even in a cancelled task`() async throws {
        let mock = try Mocked { $0.useLoopOfTest() }
        let waiting = Task {
            while !Task.isCancelled { await Task.yield() }
            try await mock.session.tasks.waitUntilEmpty()
        }
        waiting.cancel()
        try await waiting.value
    }
}
