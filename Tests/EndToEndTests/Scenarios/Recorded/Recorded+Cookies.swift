import Dunlin
import DunlinTesting

extension Recorded {
    /// Cookies of a jar, and of a caller.
    static let jars: [Recorded] = [
        jar("a cookie is sent with the next request", .set("id=1"), .respond(body: "2")) { take, session in
            await take.get("first", session)
            await take.get("second", session, "/b")
        },
        jar("a redirect's cookie is sent with the second hop", .moved("/b", 302, ["Set-Cookie": "hop=1"]), .respond()),
        jar(
            "a redirect's cookie stays with its host", .moved("http://other.test/b", 302, ["Set-Cookie": "hop=1"]),
            .moved("http://api.test/c", 302, ["Set-Cookie": "there=1"]), .respond(body: "back")),
        jar("a refused response's cookie is kept", .respond(403, fields: ["Set-Cookie": "id=1"]), .respond()) {
            take, session in
            await take.get("refused", session)
            await take.get("next", session)
        },
        jar("a cookie of another domain is refused", .set("id=1; Domain=other.test"), .respond()) { take, session in
            await take.get("first", session)
            await take.get("next", session)
        },
        jar("a secure cookie is not sent in clear text", .set("id=1; Secure"), .respond(), .respond()) {
            take, session in
            await take.get("first", session, "https://api.test/a")
            await take.get("in clear text", session)
            await take.get("secured", session, "https://api.test/a")
        },
        jar("a cookie of a path is sent below it", .set("id=1; Path=/in"), .respond(), .respond()) { take, session in
            await take.get("first", session)
            await take.get("outside", session, "/out")
            await take.get("inside", session, "/in/a")
        },
        jar("a cookie is taken back", .set("id=1"), .set("id=; Max-Age=0"), .respond()) { take, session in
            for label in ["first", "second", "third"] { await take.get(label, session) }
        },
        jar("a caller's own cookie stands beside the jar's", .set("id=1"), .respond()) { take, session in
            await take.get("first", session)
            await take.get("own", session, "/a", .init(fields: ["Cookie": "own=1"]))
        },
        jar("a request without cookies neither sends nor stores any", .set("id=1"), .set("id=2"), .respond()) {
            take, session in
            await take.get("first", session)
            await take.get("without", session, "/a", .init(handlesCookies: false))
            await take.get("third", session)
        },
        jar("a jar that was emptied sends nothing", .set("id=1"), .respond()) { take, session in
            await take.get("first", session)
            session.configuration.cookies?.removeAll()
            await take.get("second", session)
        },
        jar(
            "a retried request has the cookie of its refusal", .respond(503, fields: ["Set-Cookie": "id=1"]), .respond()
        ),
        jar("a stream's cookie is kept", .stream(["one"], fields: ["Set-Cookie": "id=1"]), .respond()) {
            take, session in
            await take.stream("stream", session)
            await take.get("next", session)
        },
    ]

    private static func jar(
        _ name: String, _ answers: MockTransport.Outcome...,
        ask: @escaping @Sendable (Take, HTTPSession) async throws -> Void = { take, session in
            await take.get("get", session)
        }
    ) -> Recorded {
        Recorded(name) { configuration, _ in
            thrice(&configuration)
            configuration.cookies = CookieJar()
        } play: { take, session in
            take.serve(answers)
            try await ask(take, session)
            let kept = session.configuration.cookies?.cookies.map { "\($0.name)=\($0.value)" }.sorted() ?? []
            take.transcript.note("in the jar: \(kept.joined(separator: "; "))")
        }
    }
}

extension MockTransport.Outcome {
    fileprivate static func set(_ cookie: String) -> Self { .respond(fields: ["Set-Cookie": cookie], body: "set") }
}
