import Dunlin
import DunlinTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A request within another that has its turn` {
    @Test func `a request made while a stream is read waits for no turn`() async throws {
        try await Stage.with(configure: { $0.queue = .init(running: 1) }) { (stage: Stage) async throws in
            stage.server.respond { .response(body: Bytes($0.target.utf8)) }
            let session = stage.session
            let inner = try await session.withResponse(from: "outer") { response in
                let inner = try await session.get("inner", as: .string).value
                for try await _ in response.body {}
                return inner
            }
            #expect(inner == "/inner")
            // The turn has come back, and counts again.
            let turnstile = Turnstile(at: stage.server)
            let first = try await stage.begin("first")
            let second = try await stage.begin("second", behind: 0)
            #expect(await stage.queued == 1)
            try await turnstile.pass(all: 2, atOnce: 1) {}
            _ = (try await first.value, try await second.value)
        }
    }

    @Test func `an upload in a scope of its own waits for no turn while a stream is read`() async throws {
        try await Stage.with(configure: { $0.queue = .init(running: 1) }) { (stage: Stage) async throws in
            stage.server.respond { .response(body: Bytes($0.target.utf8)) }
            let session = stage.session
            let inner = try await session.withResponse(from: "outer") { _ in
                try await session.withUpload(to: "inner", body: .string("x"), as: .string) { try await $0.value }
            }
            #expect(inner == "/inner")
        }
    }

    @Test func `a hook's own request waits for no turn`() async throws {
        let session = Mutex<HTTPSession?>(nil)
        try await Stage.with(configure: {
            $0.queue = .init(running: 1)
            $0.hooks.response = { task, head in
                guard task.targetTemplate == "outer", let session = session.withLock(\.self) else { return nil }
                do { _ = try await session.get("inner", as: .bytes) } catch { return .cancel }
                return .accept
            }
        }) { (stage: Stage) async throws in
            session.withLock { $0 = stage.session }
            defer { session.withLock { $0 = nil } }
            stage.server.respond { .response(body: Bytes($0.target.utf8)) }
            #expect(try await stage.session.get("outer", as: .string).value == "/outer")
            #expect(stage.server.requests.map(\.target) == ["/outer", "/inner"])
        }
    }
}
