import Dunlin
import DunlinTesting

extension Recorded {
    /// What is stored, served again, asked about, and for whom.
    static let stored = serving + asking + users

    private static let serving: [Recorded] = [
        cached("a fresh response is served again", .fresh("one")),
        cached("a response that forbids it is not stored", .fresh("one", ["Cache-Control": "no-store"]), .fresh("two")),
        cached("a stale response is asked about and confirmed", .stale("old"), .confirmed(["X-New": "1"])),
        cached("a stale response is asked about and replaced", .stale("old"), .fresh("new", ["ETag": "\"2\""])),
        cached(
            "a confirmed response has the new fields afterwards", .stale("old", ["X-Own": "1"]),
            .confirmed(["Cache-Control": "max-age=100000", "X-Own": "2", "X-New": "3"])
        ) { take, session in
            for label in ["miss", "confirmed", "hit"] { await take.get(label, session) }
        },
        cached(
            "a stale response serves while there is an error",
            .stale("old", ["Cache-Control": "max-age=0, stale-if-error=1000"]), .fail(.connectionReset),
            .respond(503, body: "busy"), .respond(404, body: "gone")
        ) {
            take, session in
            for label in ["miss", "after a reset", "after a 503", "gone"] { await take.get(label, session) }
        },
        cached("a response of a POST empties its URL", .fresh("one"), .respond(body: "done"), .fresh("two")) {
            take, session in
            await take.get("miss", session)
            await take.send(.post, session)
            await take.get("miss again", session)
        },
        cached("a response that varies is stored by what was asked", .fresh("en", vary), .fresh("de", vary)) {
            take, session in
            for language in ["en", "de", "en", "de"] {
                await take.get(language, session, "/a", .init(fields: ["Accept-Language": language]))
            }
        },
        cached("a response that varies by everything is not served again", .fresh("1", ["Vary": "*"]), .fresh("2")),
        cached(
            "a permanent redirect is served again", .moved("/b", 301, ["Cache-Control": "max-age=1000"]), .fresh("b")),
        cached("a body that was cut off is not served", .stream(["abc"], fields: fresh, length: 10), .fresh("whole")),
        cached("a stream is stored when it has been read", .stream(["one", "two"], fields: fresh)) { take, session in
            await take.stream("miss", session)
            await take.stream("hit", session)
            await take.get("hit as a whole", session)
        },
        cached("a HEAD is answered by a stored GET", .fresh("one")) { take, session in
            await take.get("miss", session)
            await take.send(.head, session, body: .none)
        },
        cached("a hook keeps a response out of the cache", .fresh("one"), .fresh("two")) {
            $0.hooks.storing = { _, _ in .skip }
        },
    ]

    private static let asking: [Recorded] =
        HTTPSession.CacheMode.allCases.flatMap { mode in
            [("fresh", MockTransport.Outcome.fresh("old")), ("stale", .stale("old"))].map { what, answer in
                cached("a \(what) response meets the mode \(mode)", answer, .confirmed(), .fresh("new")) {
                    take, session in
                    await take.get("miss", session)
                    await take.get("by mode", session, "/a", .init(cacheMode: .value(mode)))
                }
            }
        } + [
            cached("nothing is stored and nothing may be asked") { take, session in
                await take.get("only stored", session, "/a", .init(cacheMode: .storedOnly))
            },
            cached("a caller's own condition is the server's to answer", .fresh("one"), .respond(304)) {
                take, session in
                await take.get("miss", session)
                await take.get("own condition", session, "/a", .init(fields: ["If-None-Match": "\"1\""]))
            },
        ]

    private static let users = between + [twoSessions] + jarred

    private static let askers: [(what: String, first: HTTPSession.Options, second: HTTPSession.Options)] = [
        ("two tokens", with("Authorization", "Bearer a"), with("Authorization", "Bearer b")),
        ("one token", with("Authorization", "Bearer a"), with("Authorization", "Bearer a")),
        ("a token and nobody", with("Authorization", "Bearer a"), HTTPSession.Options()),
        ("nobody and a token", HTTPSession.Options(), with("Authorization", "Bearer a")),
        ("two cookies", with("Cookie", "id=a"), with("Cookie", "id=b")),
        ("two passwords", basic("a"), basic("b")),
        ("two keys", with("X-Api-Key", "a"), with("X-Api-Key", "b")),
        ("two hosts", with("Host", "one.test"), with("Host", "two.test")),
    ]

    static func with(_ name: String, _ value: String) -> HTTPSession.Options {
        var options = HTTPSession.Options()
        options.fields[name] = value
        return options
    }

    static func basic(_ user: String) -> HTTPSession.Options {
        var options = HTTPSession.Options()
        options.credentials = .value(.basic(user: user, password: "1"))
        return options
    }

    /// Two requests for one URL, by different users.
    private static let between: [Recorded] = askers.flatMap { asker -> [Recorded] in
        ["private", "public"].map { control -> Recorded in
            let fields: Fields = ["Cache-Control": "\(control), max-age=100000"]
            return cached(
                "\(asker.what) meet at what is \(control)", .fresh("for A", fields), .fresh("for B", fields)
            ) { take, session in
                await take.get("A", session, "/a", asker.first)
                await take.get("B", session, "/a", asker.second)
                await take.get("A again", session, "/a", asker.first)
            }
        }
    }

    private static let twoSessions: Recorded =
        Recorded(
            "two sessions share what is public, and what is one user's not",
            { configuration, _ in
                configuration.cache = HTTPSession.Cache()
                configuration.cookies = CookieJar()
            }
        ) { take, session in
            take.serve(.fresh("of the first"), .fresh("of the second"), .fresh("of the third"))
            await take.get("first", session)
            var configuration = session.configuration
            configuration.cookies = CookieJar()
            let second = try HTTPSession(configuration)
            await take.get("second", second)
            await second.shutdown()
        }

    private static let jarred: [Recorded] = [
        cached("a jar's cookie and a stored response", .fresh("before", ["Set-Cookie": "id=1"]), .fresh("after")) {
            $0.cookies = CookieJar()
        } ask: { take, session in
            for label in ["before", "with the cookie", "again"] { await take.get(label, session) }
        },
        cached(
            "what varies by a cookie is stored by it", .fresh("a", ["Vary": "Cookie"]),
            .fresh("b", ["Vary": "Cookie"])
        ) {
            take, session in
            for cookie in ["id=a", "id=b", "id=a"] {
                await take.get(cookie, session, "/a", .init(fields: ["Cookie": cookie]))
            }
        },
    ]

    private static let vary: Fields = ["Vary": "Accept-Language"]
    fileprivate static let fresh: Fields = ["Cache-Control": "max-age=100000", "ETag": "\"1\""]

    private static func cached(
        _ name: String, _ answers: MockTransport.Outcome...,
        with configure: @escaping @Sendable (inout HTTPSession.Configuration) -> Void,
        ask: @escaping @Sendable (Take, HTTPSession) async throws -> Void
    ) -> Recorded {
        cached(name, answers, configure, ask)
    }

    private static func cached(
        _ name: String, _ answers: MockTransport.Outcome...,
        ask: @escaping @Sendable (Take, HTTPSession) async throws -> Void
    ) -> Recorded {
        cached(name, answers, { _ in }, ask)
    }

    /// Asks twice.
    private static func cached(
        _ name: String, _ answers: MockTransport.Outcome...,
        with configure: @escaping @Sendable (inout HTTPSession.Configuration) -> Void = { _ in }
    ) -> Recorded {
        cached(name, answers, configure) { take, session in
            await take.get("first", session)
            await take.get("second", session)
        }
    }

    private static func cached(
        _ name: String, _ answers: [MockTransport.Outcome],
        _ configure: @escaping @Sendable (inout HTTPSession.Configuration) -> Void,
        _ ask: @escaping @Sendable (Take, HTTPSession) async throws -> Void
    ) -> Recorded {
        Recorded(name) { configuration, _ in
            configuration.cache = HTTPSession.Cache()
            configure(&configuration)
        } play: { take, session in
            take.serve(answers)
            try await ask(take, session)
            guard let gauges = session.configuration.cache?.gauges else { return }
            take.transcript.note(
                "cache: \(gauges.hits) hits, \(gauges.stale) stale, \(gauges.revalidated) revalidated,"
                    + " \(gauges.misses) misses, \(gauges.urls) URLs")
        }
    }
}

extension MockTransport.Outcome {
    static func fresh(_ body: Bytes, _ fields: Fields = [:]) -> Self {
        .respond(fields: Recorded.fresh.overlaid(with: fields), body: body)
    }

    static func stale(_ body: Bytes, _ fields: Fields = [:]) -> Self {
        .fresh(body, (["Cache-Control": "max-age=0"] as Fields).overlaid(with: fields))
    }

    static func confirmed(_ fields: Fields = [:]) -> Self {
        .respond(304, fields: (["ETag": "\"1\""] as Fields).overlaid(with: fields))
    }
}
