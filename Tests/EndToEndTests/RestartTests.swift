import Dunlin
import DunlinTesting
import Synchronization
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Restarting a session` {
    /// The hook that is told of the end holds the restart up; the shutdown's own passes.
    @Test func `a session that is shut down while it restarts stays shut down`() async throws {
        let (told, goOn) = (LoopbackServer.Gate(), LoopbackServer.Gate())
        let isFirst = Mutex(true)
        let configure: (inout HTTPSession.Configuration) -> Void = {
            $0.hooks.invalidated = {
                let waits = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                guard waits else { return }
                told.open()
                do { try await goOn.opened() } catch { Issue.record(error) }
            }
        }
        try await Stage.with(configure: configure) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            let session = stage.session
            let restart = Task { await session.restart() }
            try await told.opened()
            await session.shutdown()
            goOn.open()
            _ = await restart.value
            #expect(session.isClosed)
            let error = try await NetworkError.thrown { _ = try await session.get("x", as: .bytes) }
            #expect(error.code == .sessionClosed)
            #expect(stage.server.requests.isEmpty)
            // Nobody shuts it down meanwhile.
            await session.restart()
            #expect(try await session.get("x", as: .string).value == "x")
        }
    }
}
