import Dunlin
import DunlinReactor
import DunlinTesting
import Mocking
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10))) struct `A session whose loop has ended` {
    @Test func `a session whose loop has ended sends, cancels, drains and shuts down like any other`() async throws {
        let reactor = try Reactor(name: "test")
        let mock = try Mocked { $0.loops = [reactor] }
        mock.transport.on(.get, "/").respond(body: "fit").always()
        let task = try mock.session.task("/", as: .string)
        #expect(try await task.value == "fit")
        reactor.retire()
        while await withTaskExecutorPreference(reactor, operation: { reactor.isCurrent }) {}
        #expect(await mock.session.tasks.count == 0)
        let held = try mock.session.task("/", as: .string)
        #expect(try await mock.session.get("/", as: .string).value == "fit")
        // Without the loop there is no order of who comes there first.
        try await eventually("it is there") { await mock.session.tasks.count > 0 }
        #expect(await mock.session.tasks.cancel(held.id))
        #expect(try await networkError { _ = try await held.value }?.code == .cancelled)
        try await mock.session.tasks.waitUntilEmpty()
        #expect(await mock.session.shutdown() == 0)
    }
}
