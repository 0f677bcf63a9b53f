import Dunlin
import DunlinTesting
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A request with hooks` {
    @Test func `can still be cancelled by its handle when a hook has answered and the body hangs`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(
                .response(fields: ["Content-Length": "10"]).then(.send("01234"), .stall))
            var options = HTTPSession.Options()
            options.hooks.response = { _, _ in .take }
            let task = try stage.session.task("hangs", options: options, as: .bytes)
            task.resume()
            try await stage.eventually("some of the body has come") { task.downloaded.wireBytes == 5 }
            task.cancel()
            let error = try await NetworkError.thrown { _ = try await task.value }
            #expect(error.code == .cancelled)
            try await stage.expectHealthy()
        }
    }
}
