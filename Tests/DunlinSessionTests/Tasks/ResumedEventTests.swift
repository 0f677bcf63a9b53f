import Dunlin
import DunlinTesting
import Glibc
import LeakChecking
import Mocking
import Testing

/// Listeners are told of a request's beginning once, whatever becomes of it on its way.
@Suite(.leakChecked, .timeLimit(.minutes(10))) struct `The beginning of a request` {
    enum Kind: CaseIterable, Sendable {
        case verb, failing, redirected, retried, scope, stream, download
        case awaitedHandle, resumedHandle, downloadHandle

        func make(_ session: HTTPSession) async throws {
            switch self {
            case .verb: _ = try await session.get("x", as: .bytes)
            case .failing: _ = try await networkError { _ = try await session.get("none", as: .bytes) }
            case .redirected: _ = try await session.get("moved", as: .bytes)
            case .retried:
                let options = HTTPSession.Options(retry: .constant(attempts: 2, every: .milliseconds(1)))
                _ = try await session.get("busy", options: options, as: .bytes)
            case .scope: try await session.withResponse(from: "x") { for try await _ in $0.body {} }
            case .stream: for try await _ in try await session.stream("x").body {}
            case .download: unlink(try await session.download("x", to: .temporary).value.path)
            case .awaitedHandle: _ = try await session.task("x", as: .bytes).value
            case .resumedHandle:
                let task = try session.task("x", as: .bytes)
                for _ in 0..<3 { task.resume() }
                _ = try await task.value
            case .downloadHandle: unlink(try await session.downloadTask("x", to: .temporary).value.path)
            }
        }
    }

    @Test(arguments: Kind.allCases, [nil, 1])
    func `the beginning of a request is reported once, before its completion`(kind: Kind, running: Int?) async throws {
        let mock = try Mocked {
            $0.useLoopOfTest()
            $0.queue = .init(running: running)
        }
        mock.transport.on(.get, "/x").stream(["one", "two"]).always()
        mock.transport.on(.get, "/none").respond(404)
        mock.transport.on(.get, "/moved").respond(302, fields: ["Location": "/x"])
        mock.transport.on(.get, "/busy").respond(503).respond(body: "fit")
        let events = mock.session.events
        try await kind.make(mock.session)
        await mock.session.shutdown()
        var told: [String] = []
        for await event in events {
            switch event {
            case .resumed: told.append("resumed")
            case .completed: told.append("completed")
            default: break
            }
        }
        #expect(told == ["resumed", "completed"])
    }
}
