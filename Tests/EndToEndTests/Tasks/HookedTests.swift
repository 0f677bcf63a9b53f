import Dunlin
import DunlinTesting
import LedgerRows
import Synchronization
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A request with hooks` {
    @Test func `a request can be cancelled when its hook has answered and its body does not come`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(
                .response(fields: ["Content-Length": "10"]).then(.send("01234"), .stall))
            var options = HTTPSession.Options()
            options.hooks.response = { _, _ in .accept }
            let task = try stage.session.task("hangs", options: options, as: .bytes)
            task.resume()
            try await stage.eventually("some of the body has come") { task.downloaded.wireBytes == 5 }
            task.cancel()
            let error = try await NetworkError.thrown { _ = try await task.value }
            #expect(error.code == .cancelled)
            try await stage.expectHealthy()
        }
    }

    @Test(.rows("SM-25", "VD-3")) func `hooks run off the loop, though the caller is on it`() async throws {
        let threads = Mutex<[String: String]>([:])
        let note = { @Sendable (hook: String) in
            let thread = `Serializers on a loop`.ThreadName.current
            threads.withLock { $0[hook] = thread }
        }
        var hooks = HTTPSession.Hooks()
        hooks.redirect = { _ in
            note("redirect")
            return nil
        }
        hooks.response = { _, _ in
            note("response")
            return nil
        }
        hooks.data = { _, _ in note("data") }
        hooks.uploadProgress = { _, _ in note("uploadProgress") }
        hooks.downloadProgress = { _, _ in note("downloadProgress") }
        hooks.transferEnded = { _, _ in note("transferEnded") }
        hooks.metrics = { _, _ in note("metrics") }
        hooks.completed = { _ in note("completed") }
        let set = hooks
        try await Stage.with(configure: {
            $0.hooks = set
            $0.authenticationHandler = { _ in
                note("authenticate")
                return .performDefault
            }
        }) { (stage: Stage) async throws in
            stage.server.enqueue(.response(302, fields: ["Location": "/to"]), .response(body: "x"))
            let session = stage.session
            let caller = try await session.onEventLoop { @concurrent in
                _ = try await session.post("from", body: .bytes("ab"), as: .bytes)
                return `Serializers on a loop`.ThreadName.current
            }
            #expect(caller == "dunlin-private")
        }
        let seen = threads.withLock { $0 }
        #expect(seen.count == (Stage.isSecure ? 9 : 8) && !seen.values.contains("dunlin-private"), "\(seen)")
    }
}
