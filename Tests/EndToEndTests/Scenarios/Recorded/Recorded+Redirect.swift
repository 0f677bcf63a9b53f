import Dunlin
import DunlinTesting

extension Recorded {
    /// Redirects: by which method they go on, what goes along, and where they end.
    static let redirects = methods + origins + ends

    private static let methods: [Recorded] = [301, 302, 303, 307, 308].flatMap { code in
        [HTTP.Method.get, .post, .put, .head].map { method in
            Recorded(
                "a \(method) is redirected by \(code)", .moved("/b", code),
                .respond(body: method == .head ? "" : "here")
            ) { take, session in
                await take.send(method, session, body: method.isSafe ? .none : .string("x"))
            }
        }
    }

    private static let secrets: HTTPSession.Options = .init(fields: [
        "Authorization": "Bearer t", "Cookie": "own=1", "X-Api-Key": "k", "X-Plain": "p",
        "Proxy-Authorization": "Basic x",
    ])

    private static let origins: [Recorded] =
        [
            ("the same origin", "/b"), ("another host", "http://other.test/b"),
            ("another port", "http://api.test:81/b"),
            ("https", "https://api.test/b"), ("a URL with user info", "http://eve:pw@api.test/b"),
            ("another host and back", "http://other.test/back"),
        ].map { what, location in
            Recorded("fields that are secret are redirected to \(what)") { take, session in
                take.mock.otherwise { request in
                    if request.path == "/a" { return .moved(location) }
                    return request.path == "/back" ? .moved("http://api.test/c") : .respond(body: "here")
                }
                await take.get("get", session, "/a", secrets)
            }
        } + [
            Recorded(
                "a POST's body goes along to another host by 307", .moved("http://other.test/b", 307),
                .respond(body: "in")
            ) { take, session in
                await take.send(.post, session, "/a", secrets)
            },
            Recorded(
                "a field that the policy calls secret stays at its origin", .moved("http://other.test/b"), .respond()
            ) {
                $0.redirects.secretFields = ["X-Plain"]
            } ask: { take, session in
                await take.get("get", session, "/a", secrets)
            },
            Recorded(
                "an origin's own fields stay at their origin", .moved("http://other.test/b"), .respond(body: "there")
            ) {
                $0.originFields = ["X-Key": "secret"]
            },
            Recorded("https is not left for http", .moved("http://api.test/b")) { take, session in
                await take.get("get", session, "https://api.test/a", secrets)
            },
        ]

    private static let ends: [Recorded] = [
        Recorded("a redirect without a Location is delivered", .respond(302, body: "where?")),
        Recorded("a redirect to another scheme fails", .moved("app://callback")),
        Recorded("a redirect's fragment is kept", .moved("/b#there"), .respond(body: "here")),
        Recorded("a redirect to itself ends", .moved("/a"), .moved("/a"), .moved("/a"), .moved("/a")) {
            $0.redirects.limit = 3
        },
        Recorded("a session may follow no redirect", .moved("/b")) { $0.redirects = .never },
        Recorded("a request may follow none", .moved("/b")) { take, session in
            await take.get("get", session, "/a", .init(redirects: .none))
        },
        Recorded("a body that can be sent once is not redirected by 307", .moved("/b", 307)) { take, session in
            await take.send(.post, session, body: .once)
        },
        Recorded("a hook stops a redirect", .moved("/b")) { $0.hooks.redirect = { _ in .stop } },
        Recorded("a hook leads a redirect elsewhere", .moved("/b"), .respond(body: "there")) {
            $0.hooks.redirect = { proposal in
                var next = proposal.next
                next.url = "http://other.test/c"
                next.fields["X-Hook"] = "1"
                return .modify(next)
            }
        } ask: { take, session in
            await take.get("get", session, "/a", secrets)
        },
        Recorded("a redirect is followed by a refusal", .moved("/b"), .respond(404, body: "none")),
        Recorded("a redirect is followed by a reset", .moved("/b"), .fail(.connectionReset)),
        Recorded("a redirect of a stream is followed", .moved("/b"), .stream(["one", "two"])) { take, session in
            await take.stream("stream", session)
        },
        Recorded("a redirect of a download is followed", .moved("/b"), .stream(["one", "two"])) { take, session in
            await take.download("download", session)
        },
    ]
}

extension MockTransport.Outcome {
    static func moved(_ location: String, _ status: Int = 302, _ fields: Fields = [:]) -> Self {
        .respond(.init(status), fields: fields.overlaid(with: ["Location": location]), body: "moved")
    }

    static func asking(_ challenge: String = "Basic realm=\"r\"", _ fields: Fields = [:]) -> Self {
        .respond(401, fields: fields.overlaid(with: ["WWW-Authenticate": challenge]), body: "who?")
    }
}
