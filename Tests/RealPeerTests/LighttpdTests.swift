import Dunlin
import DunlinTesting
import Testing

/// What a server that others wrote takes for an answer to its challenges.
@Suite(.needsLighttpd, .timeLimit(.minutes(10)), .serialized)
struct `Against lighttpd` {
    private func session(
        _ server: Lighttpd, password: String = Lighttpd.password, inClearText: Bool = false
    ) throws -> HTTPSession {
        try HTTPSession(baseURL: server.baseURL) {
            $0.credentials = .password(user: Lighttpd.user, password: password)
            if inClearText { $0.basicInClearText = .allowed }
        }
    }

    @Test(arguments: ["MD5", "SHA-256", "SHA-512-256", "basic"])
    func `a password gets in once it is asked for, and unasked from then on`(name: String) async throws {
        try await Lighttpd.with { server in
            let session = try session(server, inClearText: name == "basic")
            for (attempt, hops) in [2, 1, 1].enumerated() {
                let response = try await session.get(url: "\(server.baseURL)/\(name)/page?\(attempt)", as: .string)
                #expect(response.value == "in \(name)")
                #expect(response.metrics.hops.count == hops)
            }
            await session.shutdown()
        }
    }

    @Test(arguments: ["MD5", "SHA-256", "SHA-512-256", "basic"])
    func `a wrong password is answered once`(name: String) async throws {
        try await Lighttpd.with { server in
            let session = try session(server, password: "wrong", inClearText: true)
            do {
                _ = try await session.get(url: "\(server.baseURL)/\(name)/page", as: .string)
                Issue.record("it got in")
            } catch let error as NetworkError {
                #expect(error.code == .unacceptableStatus && error.response?.status == 401)
            }
            await session.shutdown()
        }
    }
}
