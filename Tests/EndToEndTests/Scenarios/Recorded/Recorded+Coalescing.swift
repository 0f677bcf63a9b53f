import Dunlin
import DunlinTesting

extension Recorded {
    /// Two callers, A and B, who ask for one URL at once.
    static let shared: [Recorded] = pairs + outcomes

    private static let askers:
        [(what: String, first: HTTPSession.Options, second: HTTPSession.Options, isShared: Bool)] = [
            ("ask alike", HTTPSession.Options(), HTTPSession.Options(), true),
            ("have one token", with("Authorization", "Bearer a"), with("Authorization", "Bearer a"), true),
            ("have two tokens", with("Authorization", "Bearer a"), with("Authorization", "Bearer b"), false),
            ("have a token and none", with("Authorization", "Bearer a"), HTTPSession.Options(), false),
            ("have two cookies", with("Cookie", "id=a"), with("Cookie", "id=b"), false),
            ("have two languages", with("Accept-Language", "de"), with("Accept-Language", "en"), false),
            ("have two passwords", basic("a"), basic("b"), false),
            ("have two limits", HTTPSession.Options(bodyLimit: 1000), HTTPSession.Options(bodyLimit: 5), true),
            ("do not both share", HTTPSession.Options(), HTTPSession.Options(coalesces: false), false),
            (
                "have an own handler", HTTPSession.Options(),
                HTTPSession.Options(authenticationHandler: { _ in .performDefault }), false
            ),
        ]

    private static let pairs: [Recorded] = askers.map { what, first, second, isShared in
        Recorded("two callers who \(what)", coalescing) { take, session in
            take.serveBehindGate { request in
                let user = request.fields["Authorization"] ?? request.fields["Cookie"] ?? "nobody"
                return .respond(body: Bytes("for \(user)"))
            }
            try await take.pair(session, first, second, isShared: isShared)
        }
    }

    private static let outcomes: [Recorded] =
        [
            ("a refusal", MockTransport.Outcome.respond(404, body: "none")), ("a reset", .fail(.connectionReset)),
            ("a body that is cut off", .stream(["abc"], length: 10)),
            ("a body in pieces", .stream(["one", "two"])),
        ].map { what, outcome in
            Recorded("two callers share \(what)", coalescing) { take, session in
                take.serveBehindGate { $0.path == "/a" ? outcome : .respond(body: "here") }
                try await take.pair(session)
            }
        } + [
            // Who follows it first is chance.
            Recorded("two callers share a redirect that neither follows", coalescing) { take, session in
                take.serveBehindGate { _ in .moved("/b") }
                try await take.pair(
                    session, HTTPSession.Options(redirects: .none), HTTPSession.Options(redirects: .none))
            },
            Recorded("the first of two callers is cancelled", coalescing) { take, session in
                take.serveBehindGate { _ in .respond(body: "hello") }
                let (one, two) = (try session.task("/a", as: .string), try session.task("/a", as: .string))
                take.transcript.number(one.id)
                take.transcript.number(two.id)
                one.resume()
                try await take.mock.waitForRequests(1, within: .seconds(20))
                two.resume()
                try await eventually("B waits", following: take.loop, within: .seconds(20)) {
                    await session.gauges().coalesced == 1
                }
                one.cancel()
                await take.noteNow("A") { try await one.response }
                try await take.mock.waitForRequests(2, within: .seconds(20))
                take.gate.open()
                await take.noteNow("B") { try await two.response }
            },
            Recorded(
                "two callers share what a cache stores",
                { configuration, take in
                    coalescing(&configuration, take)
                    configuration.cache = HTTPSession.Cache()
                }
            ) { take, session in
                take.serveBehindGate { _ in .fresh("hello") }
                try await take.pair(session)
                await take.get("C", session)
            },
            Recorded(
                "two callers share a response that sets a cookie",
                { configuration, take in
                    coalescing(&configuration, take)
                    configuration.cookies = CookieJar()
                }
            ) { take, session in
                take.serveBehindGate { _ in .respond(fields: ["Set-Cookie": "id=1"], body: "hello") }
                try await take.pair(session)
                await take.get("C", session)
            },
            Recorded("two streams share nothing", coalescing) { take, session in
                take.serve(.stream(["one"]), .stream(["two"]))
                await take.stream("A", session)
                await take.stream("B", session)
            },
        ]

    private static let coalescing: @Sendable (inout HTTPSession.Configuration, Take) -> Void = { configuration, _ in
        configuration.coalescing.isOn = true
    }
}
