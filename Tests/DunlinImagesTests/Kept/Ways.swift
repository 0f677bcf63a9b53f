import Dunlin
import DunlinImages
import DunlinTesting

extension Fields {
    var lines: String { isEmpty ? "nothing" : map { "\($0): \($1)" }.joined(separator: ", ") }
}

extension Household {
    /// The user of the jar's cookie.
    fileprivate func setCookie(_ person: Person, domain: String = "a.test") throws {
        try jar.set(HTTP.Cookie(name: "user", value: person.rawValue, domain: domain))
    }

    fileprivate func port(_ server: String) -> UInt16 { servers[server]?.port ?? 0 }

    fileprivate func proxy(_ server: String, user: String? = nil) -> HTTPSession.Proxy {
        guard let address = servers[server]?.baseURL.dropFirst("http://".count) else { return .none }
        return .url("http://\(user.map { "\($0):pw@" } ?? "")\(address)")
    }
}

extension Way {
    private static let everybody: [Person] = [.alice, .bob, .nobody, .alice]

    private static func field(_ name: String, varies: String? = nil, redirect: Fields? = nil) -> Way {
        Way(
            testDescription: "\(name) of the request\(text(varies, redirect))", varies: varies, redirect: redirect,
            persons: everybody,
            request: { if $1 != .nobody { $0.fields[name] = $1.rawValue } })
    }

    private static func text(_ varies: String?, _ redirect: Fields?) -> String {
        if let varies { return ", Vary: \(varies)" }
        guard let redirect else { return "" }
        return ", a redirect with \(redirect.lines)"
    }

    private static func jar(varies: String? = nil, redirect: Fields? = nil) -> Way {
        Way(
            testDescription: "the jar's cookie\(text(varies, redirect))", varies: varies,
            redirect: redirect, configure: { configuration, _, household in configuration.cookies = household.jar },
            become: { _, person, household in try household.setCookie(person) })
    }

    private static func sessions(
        _ description: String, varies: String? = nil, redirect: Fields? = nil, challenge: String? = nil,
        isReal: Bool = false, persons: [Person] = everybody,
        _ configure: @escaping @Sendable (inout HTTPSession.Configuration, Person, Household) throws -> Void
    ) -> Way {
        Way(
            testDescription: "sessions with \(description)\(text(varies, redirect))", varies: varies,
            redirect: redirect, challenge: challenge,
            hasOwnSessions: true, isReal: isReal, persons: persons,
            configure: { if $1 != .nobody { try configure(&$0, $1, $2) } })
    }

    /// Ways to ask for one of several pictures.
    static let variants: [Way] = [
        field("X-Theme", varies: "X-Theme"),
        field("Accept-Language", varies: "Accept-Language"),
        field("Accept", varies: "Accept"),
        field("X-Theme", varies: "Accept-Encoding, x-theme, Origin"),
        jar(varies: "Cookie"),
        sessions("X-Theme", varies: "X-Theme") { configuration, person, _ in
            configuration.fields["X-Theme"] = person.rawValue
        },
        sessions("Accept-Language", varies: "Accept-Language") { configuration, person, _ in
            configuration.fields["Accept-Language"] = person.rawValue
        },
        field("X-Theme", redirect: ["Cache-Control": "max-age=600", "Vary": "X-Theme"]),
        field("X-Theme", redirect: ["Cache-Control": "no-store"]),
        field("X-Theme", redirect: [:]),
        jar(redirect: ["Cache-Control": "max-age=600", "Vary": "Cookie"]),
        jar(redirect: ["Cache-Control": "no-store"]),
        jar(redirect: [:]),
    ]

    /// Ways to say who asks, by the request or by what changes in one session.
    static let users: [Way] = [
        field("X-Api-Key"),
        field("Cookie"),
        field("Host"),
        Way(
            testDescription: "Authorization of the request", persons: everybody,
            request: { if $1 != .nobody { $0.fields["Authorization"] = "Bearer \($1)" } }),
        Way(
            testDescription: "the URL's user info", challenge: "Basic realm=r",
            request: { $0.target = .url("http://\($1):pw@a.test/cat") }),
        Way(
            testDescription: "replaced credentials",
            become: { session, person, _ in
                try session.replace(credentials: .basic(user: person.rawValue, password: "pw"))
            }),
        Way(
            testDescription: "replaced fields of the origin",
            become: { session, person, _ in try session.replace(originFields: ["X-Api-Key": person.rawValue]) }),
        Way(
            testDescription: "a handler, and passwords that are forgotten", challenge: "Basic realm=r",
            configure: { configuration, _, household in
                configuration.authenticationHandler = { _ in
                    .useCredential(.password(user: household.asking.rawValue, password: "pw"))
                }
            }, become: { session, _, _ in session.forgetPasswords() }),
        Way(
            testDescription: "a jar whose cookies were all removed",
            configure: { configuration, _, household in configuration.cookies = household.jar },
            become: { _, person, household in
                household.jar.removeAll()
                try household.setCookie(person)
            }),
    ]

    /// Ways to say who asks that each session has for itself.
    static let ofSessions: [Way] = [
        sessions("Basic credentials") { configuration, person, _ in
            configuration.credentials = .basic(user: person.rawValue, password: "pw")
        },
        sessions("a password", challenge: "Basic realm=r", persons: [.alice, .bob, .alice]) {
            configuration, person, _ in
            configuration.credentials = .password(user: person.rawValue, password: "pw")
        },
        sessions("a secret field") { configuration, person, _ in configuration.fields["X-Api-Key"] = person.rawValue },
        sessions("a field that it calls secret") { configuration, person, _ in
            configuration.secretFields = HTTP.SecretFields(["X-Who"])
            configuration.fields["X-Who"] = person.rawValue
        },
        sessions("their own Cookie") { configuration, person, _ in
            configuration.originFields["Cookie"] = "user=\(person)"
        },
        sessions("Host") { configuration, person, _ in configuration.fields["Host"] = "\(person).test" },
        sessions("an authenticator") { configuration, person, _ in
            let token = HTTPSession.BearerToken(person.rawValue)
            configuration.authentication = .bearer(token) { _ in token }
        },
        sessions("a handler", challenge: "Bearer", persons: [.alice, .bob, .alice]) { configuration, person, _ in
            configuration.authenticationHandler = { _ in .useCredential(.bearer(token: person.rawValue)) }
        },
        sessions("an interceptor of exchanges") { configuration, person, _ in
            configuration.interceptors = [
                .exchange { request, next in try await next(request) { $0.head.fields["X-Monkey"] = person.rawValue } }
            ]
        },
        sessions("an interceptor of calls") { configuration, person, _ in
            configuration.interceptors = [
                .call { request, next in try await next(request) { $0.head.fields["X-Monkey"] = person.rawValue } }
            ]
        },
        sessions("a redirect hook", redirect: [:]) { configuration, person, _ in
            configuration.hooks.redirect = { redirect in
                var request = redirect.next
                request.fields["Authorization"] = "Bearer \(person)"
                return .modify(request)
            }
        },
        Way(
            testDescription: "sessions with equal credentials for other base URLs", hasOwnSessions: true,
            persons: [.alice, .nobody, .alice],
            configure: { configuration, person, _ in
                configuration.baseURL = person == .alice ? "http://a.test" : "http://b.test"
                configuration.credentials = .basic(user: "alice", password: "pw")
            }),
        sessions("transports of their own") { configuration, person, household in
            let transport = MockTransport()
            household.painter.paint(for: transport, named: person.rawValue)
            configuration.transport = transport
        },
        sessions("jars of cookies") { configuration, person, _ in
            let jar = CookieJar()
            try jar.set(HTTP.Cookie(name: "user", value: person.rawValue, domain: "a.test"))
            configuration.cookies = jar
        },
    ]

    /// Ways by which requests come to their server, and are known there.
    static let connections: [Way] = [
        Way(
            testDescription: "a chosen proxy's user", isReal: true,
            configure: { configuration, _, household in
                configuration.proxy = .by { _ in household.proxy("", user: household.asking.rawValue) }
            }),
        Way(
            testDescription: "a chosen proxy", isReal: true,
            configure: { configuration, _, household in
                configuration.proxy = .by { _ in household.proxy(household.asking.rawValue) }
            }),
        Way(
            testDescription: "a proxy that is chosen or not", isReal: true,
            configure: { configuration, _, household in
                configuration.proxy = .by { _ in
                    household.asking == .alice ? household.proxy("alice") : .none
                }
            }),
        sessions("a proxy's user", isReal: true, persons: [.alice, .bob, .alice]) { configuration, person, household in
            configuration.proxy = household.proxy("", user: person.rawValue)
        },
        sessions("a proxy", isReal: true, persons: [.alice, .bob, .alice]) { configuration, person, household in
            configuration.proxy = household.proxy(person.rawValue)
        },
        sessions("addresses for the host", isReal: true, persons: [.alice, .bob, .alice]) {
            configuration, person, household in
            configuration.hostOverrides["127.0.0.1"] = .v4(0x7F00_0001, port: household.port(person.rawValue))
        },
        Way(
            testDescription: "sessions with certificates", hasOwnSessions: true, isReal: true, isSecure: true,
            persons: everybody,
            configure: { configuration, person, _ in
                configuration.tls = try Certificates.tls(person, configuration.tls)
            }),
        Way(
            testDescription: "replaced certificates", isReal: true, isSecure: true, persons: everybody,
            become: { session, person, _ in try session.replace(tls: Certificates.tls(person, session.tls)) }),
    ]

    static let all = variants + users + ofSessions + connections

    /// Ways under which the same picture may be given again without asking the redirect.
    static let kept = all.filter { $0.redirect == nil || $0.redirect?["cache-control"]?.hasPrefix("max-age") == true }

    /// Everybody asks alike.
    static let plain = Way(testDescription: "alike")

    /// The jar has cookies only for the server to which the redirect leads.
    static let galleryCookie = Way(
        testDescription: "the jar's cookie where a redirect leads", redirect: [:], gallery: "http://b.test",
        configure: { configuration, _, household in configuration.cookies = household.jar },
        become: { _, person, household in try household.setCookie(person, domain: "b.test") })
}
