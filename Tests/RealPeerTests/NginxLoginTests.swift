import Dunlin
import DunlinTesting
import LeakChecking
import Testing

/// Basic authentication by a server that others wrote.
@Suite(.needsNginx, .leakChecked, .timeLimit(.minutes(10)), .serialized)
struct `A login at nginx` {
    private static let ada = ("ada", "secret")

    private func with(
        _ login: (user: String, password: String) = ada,
        _ play: (Nginx, HTTPSession) async throws -> Void
    ) async throws {
        try await Nginx.with { nginx in
            var configuration = HTTPSession.Configuration(baseURL: nginx.baseURL)
            configuration.credentials = .password(user: login.user, password: login.password)
            configuration.useLoopOfTest()
            let session = try HTTPSession(configuration)
            try await play(nginx, session)
            await session.shutdown()
        }
    }

    @Test(arguments: [ada, ("eve", "s3cret, that is")])
    func `a password gets in once it is asked for, and unasked from then on`(login: (String, String)) async throws {
        try await with(login) { nginx, session in
            try nginx.publish(Array("in".utf8), as: "dav/page")
            for (attempt, hops) in [2, 1, 1].enumerated() {
                let response = try await session.get(url: "basic/page?\(attempt)", as: .string)
                #expect(response.value == "in")
                #expect(response.metrics.hops.count == hops)
            }
            #expect(session.connections.open == 1)
        }
    }

    @Test(arguments: [("ada", "Secret"), ("nobody", "secret"), ("ada", "")])
    func `a wrong password is answered once`(login: (String, String)) async throws {
        try await with(login) { nginx, session in
            try nginx.publish(Array("in".utf8), as: "dav/page")
            let error = try await NetworkError.thrown { _ = try await session.get("basic/page", as: .string) }
            #expect(error.code == .unacceptableStatus && error.response?.status == 401)
        }
    }

    @Test func `a hook is asked until it knows the password`() async throws {
        try await with { nginx, session in
            try nginx.publish(Array("in".utf8), as: "dav/page")
            let passwords = ["one", "two", "secret"]
            let options = HTTPSession.Options(authenticationHandler: { challenge in
                #expect(challenge.kind == .protectionSpace(.init(.basic, realm: "files")))
                return .useCredential(.password(user: "ada", password: passwords[challenge.previousFailures]))
            })
            let response = try await session.get("basic/page", options: options, as: .string)
            #expect(response.value == "in" && response.metrics.hops.count == 4)
        }
    }

    /// Whole and asked for its consent before, small and large: nginx refuses by the head.
    @Test(arguments: [10, 3 << 20], [true, false])
    func `a body is sent again with the password`(size: Int, expects: Bool) async throws {
        try await with { nginx, session in
            let body = Noise.bytes(size)
            let options = HTTPSession.Options(expectsContinue: expects)
            let response = try await session.put("basic/sent", body: .bytes(Bytes(body)), options: options)
            #expect(response.status == 201 && response.metrics.hops.count == 2)
            #expect(try nginx.contents(of: "dav/sent") == body)
        }
    }
}
