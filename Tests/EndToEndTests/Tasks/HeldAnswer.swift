import Dunlin
import DunlinTesting
import Testing

/// The answer to a challenge, which a test holds back.
struct HeldAnswer: Sendable {
    private let asked = LoopbackServer.Gate()
    private let given = LoopbackServer.Gate()

    var handler: HTTPSession.AuthenticationHandler {
        { challenge in
            guard case .protectionSpace = challenge.kind else { return .performDefault }
            asked.open()
            do { try await given.opened() } catch { return .reject }
            return .useCredential(.password(user: "a", password: "b"))
        }
    }

    /// Has a request challenged, and suspended before the answer is given: then it takes a connection again, and sends
    /// nothing more.
    func suspend(
        _ task: HTTPSession.RequestTask<String>, on stage: Stage, _ clock: ManualClock
    ) async throws {
        task.resume()
        try await asked.opened()
        task.suspend()
        try await stage.eventually("the challenge gives its connection back") { stage.session.connections.idle == 1 }
        given.open()
        try await stage.eventually("the answer has a connection") { stage.session.connections.reuses == 1 }
        try await clock.advance(by: .seconds(1))
        #expect(stage.server.requests.count == 1 && task.snapshot.state == .suspended)
    }
}
