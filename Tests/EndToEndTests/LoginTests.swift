import Dunlin
import DunlinTesting
import Synchronization
import Testing

/// Hooks that answer a 401, over sockets.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10))) struct `A server that asks who the user is` {
    private static func with(
        right: String = "pw", _ asked: @escaping @Sendable (HTTPSession.AuthenticationChallenge) -> Void = { _ in },
        _ play: @Sendable @escaping (Stage) async throws -> Void
    ) async throws {
        try await Stage.with(configure: {
            $0.connections.perOrigin = 16
            $0.authenticationHandler = { challenge in
                guard case .protectionSpace = challenge.kind else { return .performDefault }
                asked(challenge)
                return .useCredential(.password(user: "ada", password: challenge.previousFailures == 0 ? "old" : "pw"))
            }
        }) { (stage: Stage) async throws in
            let basic = "Basic " + (right == "pw" ? "YWRhOnB3" : "never")
            stage.server.respond { request in
                request.fields["authorization"] == basic
                    ? .response(body: request.body.isEmpty ? "in" : request.body)
                    : .response(401, fields: ["WWW-Authenticate": "Basic realm=\"r\""], body: "who?")
            }
            try await play(stage)
        }
    }

    @Test func `two hundred requests that are asked at once all get in, with their bodies`() async throws {
        try await Self.with { (stage: Stage) async throws in
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        let body = "body \(number)"
                        return try await stage.session.post("x", body: .string(body), as: .string).value == body
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
            // Remembered: nobody is asked again.
            let response = try await stage.session.get("y", as: .string)
            #expect(response.value == "in" && response.metrics.hops.count == 1)
            #expect(stage.server.connectionCount <= 16)
        }
    }

    @Test func `a stream begins when the user is in`() async throws {
        let counts = Mutex<[Int]>([])
        try await Self.with({ challenge in counts.withLock { $0.append(challenge.previousFailures) } }) {
            (stage: Stage) async throws in
            let text = try await stage.session.withResponse(from: "x") { response in
                var text = ""
                for try await line in response.lines { text += line }
                return text
            }
            #expect(text == "in")
        }
        #expect(counts.withLock { $0 } == [0, 1])
    }

    @Test func `the same wrong answer again is the end, and leaves no connection behind`() async throws {
        try await Self.with(right: "never") { (stage: Stage) async throws in
            for _ in 0..<3 {
                let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .string) }
                #expect(error.code == .unacceptableStatus && error.response?.status == 401)
            }
            // The first tries two passwords; the others begin with the one that was given last.
            #expect(stage.server.requests.count == 7)
            #expect(stage.server.connectionCount == 1)
        }
    }
}
