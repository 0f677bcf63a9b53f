import Dunlin
import DunlinTesting

extension Recorded {
    /// Servers that ask who the user is.
    static let passwords: [Recorded] = [
        Recorded(
            "Basic is answered, and sent unasked afterwards", .asking(), .respond(body: "in"), .respond(body: "known"),
            .asking(),
            with: password
        ) {
            take, session in
            await take.get("asked", session, "/d/a")
            await take.get("unasked", session, "/d/b")
            await take.get("elsewhere", session, "http://other.test/d/c")
        },
        Recorded(
            "Digest is answered, and counted afterwards", .asking(Scenario.digest("one")), .respond(body: "in"),
            .respond(body: "known"), with: password
        ) {
            take, session in
            await take.get("asked", session, "/d/a")
            await take.get("unasked", session, "/d/b")
        },
        Recorded(
            "a stale nonce is replaced", .asking(Scenario.digest("one")),
            .asking(Scenario.digest("two", isStale: true)), .respond(body: "in"), with: password),
        Recorded("a password is refused", .asking(), .asking(), with: password),
        Recorded(
            "Digest is chosen over Basic", .asking("Basic realm=\"r\", " + Scenario.digest("one")), .respond(),
            with: password),
        Recorded("an unknown scheme is left alone", .asking("Negotiate"), with: password),
        Recorded("a password is not for another origin", .moved("http://other.test/b"), .asking(), with: password),
        Recorded(
            "a password is answered after a redirect at home", .moved("/b"), .asking(), .respond(body: "in"),
            with: password),
        Recorded("a body goes along with an answer", .asking(), .respond(body: "in"), with: password) { take, session in
            await take.send(.post, session)
        },
        Recorded("a body that can be sent once has no answer", .asking(), with: password) { take, session in
            await take.send(.post, session, body: .once)
        },
        Recorded("a request without credentials delivers a 401", .asking(), with: password) { take, session in
            await take.get("get", session, "/a", .init(credentials: .none))
        },
        Recorded(
            "a request's own password is for it alone", .asking(), .respond(body: "eve"), .asking(),
            .respond(body: "ada"), with: password
        ) {
            take, session in
            let own = HTTPSession.Options(credentials: .value(.password(user: "eve", password: "other")))
            await take.get("own", session, "/a", own)
            await take.get("the session's", session)
        },
        Recorded("user info in a URL answers", .asking(), .respond(body: "in")) { take, session in
            await take.get("get", session, "http://bob:pw@api.test/a")
        },
        Recorded(
            "a bearer token is sent unasked, to its origin alone", .respond(body: "in"), .moved("http://other.test/b"),
            .respond()
        ) {
            $0.credentials = .bearer(token: "t")
        } ask: { take, session in
            await take.get("home", session)
            await take.get("redirected", session)
        },
        handler(
            "a handler is asked until it is right",
            { .useCredential(.password(user: "ada", password: "\($0.previousFailures)")) }, .asking(), .asking(),
            .respond(body: "in")),
        handler(
            "a handler gives one answer twice", { _ in .useCredential(.password(user: "ada", password: "pw")) },
            .asking(), .asking()),
        handler("a handler cancels", { _ in .cancel() }, .asking()),
        handler("a handler rejects", { _ in .reject }, .asking()),
        handler("a handler has no opinion", { _ in .performDefault }, .asking()),
        handler("a handler gives a token", { _ in .useCredential(.bearer(token: "t")) }, .asking("Bearer"), .respond()),
        handler(
            "a handler is asked by another origin", { _ in .useCredential(.password(user: "a", password: "b")) },
            .moved("http://other.test/b"), .asking(), .respond()),
        Recorded(
            "passwords are forgotten", .asking(), .respond(body: "in"), .asking(), .respond(body: "again"),
            with: password
        ) {
            take, session in
            await take.get("asked", session)
            session.forgetPasswords()
            await take.get("asked again", session)
        },
        Recorded(
            "credentials are replaced", .asking(), .respond(body: "ada"), .asking(), .respond(body: "eve"),
            with: password
        ) {
            take, session in
            await take.get("ada", session)
            try session.replace(credentials: .password(user: "eve", password: "other"))
            await take.get("eve", session)
        },
        Recorded("a stream begins when the user is in", .asking(), .stream(["one"]), with: password) { take, session in
            await take.stream("stream", session)
        },
    ]

    /// Tokens that are got, refused and got again.
    static let refreshed: [Recorded] = [
        token("a token is got before the first request", nil, .respond(body: "in")),
        token("a refused token is refreshed", "old", .asking("Bearer"), .respond(body: "in")),
        token("a refreshed token is refused", "old", .asking("Bearer"), .asking("Bearer")),
        token("a token stays at its origin", "old", .moved("http://other.test/b"), .asking("Bearer")),
        token("a request's own Authorization is left", "old", .asking("Bearer")) { take, session in
            await take.get("get", session, "/a", .init(fields: ["Authorization": "Bearer own"]))
        },
        token("a POST is sent again with its body", "old", .asking("Bearer"), .respond(body: "in")) { take, session in
            await take.send(.post, session)
        },
        token("a body that can be sent once is not sent again", "old", .asking("Bearer")) { take, session in
            await take.send(.post, session, body: .once)
        },
        token("a refresh fails", "old", .asking("Bearer"), grant: .respond(500, body: "no grants")) { take, session in
            await take.get("first", session)
            await take.get("second", session)
        },
        token("a refresh's connection is reset", nil, grant: .fail(.connectionReset)),
        token("a refresh is followed by a retry", "old", .asking("Bearer"), .respond(503), .respond(body: "in")),
        token("a retry is followed by a refresh", "old", .respond(503), .asking("Bearer"), .respond(body: "in")),
        token("a redirect is followed by a refresh", "old", .moved("/b"), .asking("Bearer"), .respond(body: "in")),
        token("a stream begins after a refresh", "old", .asking("Bearer"), .stream(["one"])) { take, session in
            await take.stream("stream", session)
        },
    ]

    static let password: @Sendable (inout HTTPSession.Configuration) -> Void = {
        $0.credentials = .password(user: "ada", password: "pw")
        $0.basicInClearText = .allowed
    }

    private static func handler(
        _ name: String,
        _ answer:
            @escaping @Sendable (HTTPSession.AuthenticationChallenge) -> HTTPSession.AuthenticationChallenge.Answer,
        _ answers: MockTransport.Outcome...
    ) -> Recorded {
        Recorded(name) { configuration, take in
            configuration.basicInClearText = .allowed
            configuration.authenticationHandler = { challenge in
                take.transcript.note("asked by \(challenge.origin) after \(challenge.previousFailures) failures")
                return answer(challenge)
            }
        } play: { take, session in
            take.serve(answers)
            await take.get("get", session)
            await take.get("next", session)
        }
    }

    /// A session that gets tokens at `/token`, where `grant` is the answer.
    private static func token(
        _ name: String, _ first: HTTPSession.BearerToken?, _ answers: MockTransport.Outcome...,
        grant: MockTransport.Outcome = .respond(body: "new"),
        ask: @escaping @Sendable (Take, HTTPSession) async throws -> Void = { take, session in
            await take.get("get", session)
        }
    ) -> Recorded {
        Recorded(name) { configuration, _ in
            thrice(&configuration)
            configuration.authentication = .bearer(first, refreshTimeout: .seconds(1000)) { client in
                .init(try await client.post("/token", options: .init(retry: .never), as: .string).value)
            }
        } play: { take, session in
            take.serve(answers)
            take.mock.on(.post, "/token").reply(grant).always()
            try await ask(take, session)
        }
    }
}
