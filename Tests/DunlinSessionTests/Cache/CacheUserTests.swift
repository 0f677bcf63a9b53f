import Dunlin
import DunlinTesting
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10))) struct `Users in a cache` {
    private static let fresh: Fields = ["Cache-Control": "private, max-age=60"]

    private static func get(
        _ stage: CachedStage, _ credentials: HTTPSession.PerRequest<HTTP.Credentials>
    ) async throws -> String {
        try await stage.session.get("/a", options: .init(credentials: credentials), as: .string).value
    }

    @Test func `a password of the request selects what is stored, though it is sent only when asked for`() async throws
    {
        let stage = try CachedStage()
        let bodies: [Bytes] = ["of a", "of b", "nobody's"]
        stage.transport.on(.get, "/a").respond(fields: Self.fresh, body: bodies[0])
            .thenRespond(fields: Self.fresh, body: bodies[1]).thenRespond(fields: Self.fresh, body: bodies[2])
        for _ in 1...2 {
            #expect(try await Self.get(stage, .value(.basic(user: "a", password: "x"))) == "of a")
            #expect(try await Self.get(stage, .value(.basic(user: "b", password: "x"))) == "of b")
            #expect(try await Self.get(stage, .none) == "nobody's")
        }
        #expect(stage.sent.count == 3 && stage.store.all.count == 3)
        #expect(!stage.store.all.contains { "\($0)".contains("password") })
    }

    @Test func `the user info of a URL selects as a password does`() async throws {
        let stage = try CachedStage()
        stage.transport.on(.get, "/a").respond(fields: Self.fresh, body: "a's").thenRespond(
            fields: Self.fresh, body: "b's")
        for _ in 1...2 {
            #expect(try await stage.session.get("http://a:1@a.test/a", as: .string).value == "a's")
            #expect(try await stage.session.get("http://b:1@a.test/a", as: .string).value == "b's")
        }
        #expect(stage.sent.count == 2)
    }

    @Test func `what the session's user gets is not for a request without credentials`() async throws {
        let stage = try CachedStage { $0.authentication = .bearer("t1") { _ in "t2" } }
        stage.transport.on(.get, "/a").respond(fields: Self.fresh, body: "the user's").thenRespond(
            fields: Self.fresh, body: "nobody's")
        for _ in 1...2 {
            #expect(try await Self.get(stage, .session) == "the user's")
            #expect(try await Self.get(stage, .none) == "nobody's")
        }
        #expect(stage.sent.count == 2)
    }

    @Test func `a request whose user only its own hook knows passes the cache by`() async throws {
        let stage = try CachedStage()
        stage.transport.on(.get, "/a").respond(fields: Self.fresh, body: "1").thenRespond(
            fields: Self.fresh, body: "2")
        let options = HTTPSession.Options(authenticationHandler: { _ in .reject })
        for body in ["1", "2"] {
            #expect(try await stage.session.get("/a", options: options, as: .string).value == body)
        }
        #expect(stage.store.all.isEmpty && stage.sent.first?.fields.contains("cache-control") == false)
    }

    @Test(arguments: [401, 407]) func `a question for credentials is not stored, however long it says it keeps`(
        status: HTTP.Status
    ) async throws {
        let stage = try CachedStage()
        stage.transport.on(.get, "/a").respond(status, fields: ["Cache-Control": "public, max-age=60"]).thenRespond(
            body: "in")
        await #expect(throws: NetworkError.self) { _ = try await stage.get() }
        #expect(try await stage.get().value == "in" && stage.store.all.count == 1)
    }

    @Test func `cookies of the request's own select what is stored, and not the values of the jar's`() async throws {
        let jar = CookieJar()
        try jar.set(HTTP.Cookie(name: "visit", value: "0", domain: "a.test"))
        let stage = try CachedStage { $0.cookies = jar }
        stage.transport.on(.get, "/a").respond(fields: Self.fresh, body: "ada's")
            .thenRespond(fields: Self.fresh, body: "bob's").thenRespond(fields: Self.fresh, body: "the session's")
        func get(_ fields: Fields) async throws -> String {
            try await stage.session.get("/a", fields: fields, as: .string).value
        }
        for number in 1...2 {
            #expect(try await get(["Cookie": "sid=ada"]) == "ada's")
            #expect(try await get(["Cookie": "sid=bob"]) == "bob's")
            try jar.set(HTTP.Cookie(name: "visit", value: "\(number)", domain: "a.test"))
            #expect(try await get([:]) == "the session's")
        }
        #expect(stage.sent.count == 3)
        #expect(!stage.store.all.contains { "\($0)".contains("ada") })
    }

    /// A session with this jar and cache.
    private static func session(
        _ stage: CachedStage, _ jar: CookieJar?, user: String? = nil
    ) throws -> HTTPSession {
        var configuration = stage.session.configuration
        (configuration.cookies, configuration.userID) = (jar, user)
        return try HTTPSession(configuration)
    }

    /// Answers once with each body.
    private static func answer(_ stage: CachedStage, _ bodies: [String]) {
        let rule = stage.transport.on(.get, "/a").respond(fields: fresh, body: Bytes(bodies[0]))
        _ = bodies.dropFirst().reduce(rule) { $0.thenRespond(fields: fresh, body: Bytes($1)) }
    }

    private static func jar(_ value: String) throws -> CookieJar {
        let jar = CookieJar()
        try jar.set(HTTP.Cookie(name: "sid", value: value, domain: "a.test"))
        return jar
    }

    @Test func `what a jar's cookies brought is for sessions with that jar, or whose user has the same name`()
        async throws
    {
        let stage = try CachedStage()
        Self.answer(stage, ["1", "2", "3", "4", "5"])
        let (ada, bob) = (try Self.jar("ada"), try Self.jar("bob"))
        let expected: [(CookieJar?, user: String?, body: String)] = [
            (ada, nil, "1"), (bob, nil, "2"), (ada, nil, "1"), (bob, nil, "2"), (ada, "ada", "3"), (bob, "bob", "4"),
            (try Self.jar("new"), "ada", "3"), (nil, nil, "5"), (CookieJar(), nil, "5"),
        ]
        for (jar, user, body) in expected {
            let session = try Self.session(stage, jar, user: user)
            #expect(try await session.get("/a", as: .string).value == body)
            await session.shutdown()
        }
        #expect(stage.sent.count == 5)
        #expect(!stage.store.all.contains { "\($0)".contains("ada") })
    }

    @Test func `what a jar's cookies brought is not for a request that uses none, nor for one with its own`()
        async throws
    {
        let jar = try Self.jar("ada")
        let stage = try CachedStage { $0.cookies = jar }
        Self.answer(stage, ["ada's", "bob's", "nobody's"])
        func get(_ options: HTTPSession.Options) async throws -> String {
            try await stage.session.get("/a", options: options, as: .string).value
        }
        for _ in 1...2 {
            #expect(try await get(.init()) == "ada's")
            #expect(try await get(.init(fields: ["Cookie": "sid=bob"])) == "bob's")
            #expect(try await get(.init(handlesCookies: .value(false))) == "nobody's")
        }
        #expect(stage.sent.count == 3)
    }

    @Test func `what was sent with a cookie that the jar got meanwhile is not stored as without`() async throws {
        let (jar, asked, token) = (CookieJar(), LoopbackServer.Gate(), LoopbackServer.Gate())
        let stage = try CachedStage {
            $0.cookies = jar
            $0.authentication = .bearer { _ in
                asked.open()
                try await token.opened()
                return "t"
            }
        }
        Self.answer(stage, ["ada's", "nobody's"])
        let first = Task { try await stage.get().value }
        try await asked.opened()
        try jar.set(HTTP.Cookie(name: "sid", value: "ada", domain: "a.test"))
        token.open()
        #expect(try await first.value == "ada's")
        let options = HTTPSession.Options(handlesCookies: .value(false))
        #expect(try await stage.session.get("/a", options: options, as: .string).value == "nobody's")
    }

    @Test func `what was sent with a cookie that a challenge set is not for another jar with the same password`()
        async throws
    {
        let stage = try CachedStage { $0.basicInClearText = .allowed }
        let challenge: Fields = ["WWW-Authenticate": "Basic realm=r", "Set-Cookie": "sid=1"]
        stage.transport.on(.get, "/a").respond(401, fields: challenge).thenRespond(fields: Self.fresh, body: "one's")
            .thenRespond(401, fields: challenge).thenRespond(fields: Self.fresh, body: "other's")
        for body in ["one's", "other's"] {
            var configuration = stage.session.configuration
            configuration.cookies = CookieJar()
            configuration.credentials = .password(user: "a", password: "x")
            let session = try HTTPSession(configuration)
            #expect(try await session.get("/a", as: .string).value == body)
            await session.shutdown()
        }
    }

    @Test(arguments: [true, false])
    func `what came with a jar's first cookie is for that jar, where the cookie is sent again`(isSent: Bool)
        async throws
    {
        let stage = try CachedStage { $0.cookies = CookieJar() }
        let path = isSent ? "/" : "/other"
        stage.transport.on(.get, "/a")
            .respond(fields: ["Cache-Control": "max-age=60", "Set-Cookie": "sid=1; Path=\(path)"], body: "first")
            .thenRespond(fields: Self.fresh, body: "second")
        for _ in 1...2 { #expect(try await stage.get().value == "first") }
        let other = try Self.session(stage, CookieJar())
        #expect(try await other.get("/a", as: .string).value == (isSent ? "second" : "first"))
        await other.shutdown()
        let options = HTTPSession.Options(handlesCookies: .value(false))
        let plain = try await stage.session.get("/a", options: options, as: .string).value
        #expect(plain == (isSent ? "second" : "first"))
    }

    @Test func `what is everybody's stays so when it is confirmed with a jar's first cookie`() async throws {
        let stage = try CachedStage()
        let fields: Fields = ["Cache-Control": "max-age=10", "ETag": "\"1\""]
        stage.transport.on(.get, "/a").respond(fields: fields, body: "all's")
            .thenRespond(304, fields: fields.overlaid(with: ["Set-Cookie": "sid=1; Path=/"]))
        let (jar, other) = (CookieJar(), CookieJar())
        for (user, pause) in [(jar, 0), (jar, 20), (other, 0)] as [(CookieJar, Int64)] {
            stage.time.pass(pause)
            let session = try Self.session(stage, user)
            let response = try await session.get("/a", as: .string)
            #expect(response.value == "all's" && !response.fields.contains("set-cookie"))
            await session.shutdown()
        }
        #expect(jar.cookies.count == 1 && other.cookies.isEmpty && stage.sent.count == 2)
    }

    @Test(arguments: [200, 304])
    func `what took the jar's cookies away is still for that jar`(status: HTTP.Status) async throws {
        let jar = try Self.jar("ada")
        let stage = try CachedStage { $0.cookies = jar }
        let ending: Fields = ["Cache-Control": "max-age=600", "ETag": "\"1\"", "Set-Cookie": "sid=; Max-Age=0"]
        if status == 304 {
            let fields: Fields = ["Cache-Control": "max-age=1", "ETag": "\"1\""]
            stage.transport.on(.get, "/a").respond(fields: fields, body: "ada's").thenRespond(304, fields: ending)
            _ = try await stage.get()
            stage.time.pass(5)
        } else {
            stage.transport.on(.get, "/a").respond(fields: ending, body: "ada's")
        }
        #expect(try await stage.get().value == "ada's" && jar.cookies.isEmpty)
        stage.transport.on(.get, "/a").respond(fields: Self.fresh, body: "other").always()
        for other in [try Self.jar("bob"), nil, CookieJar()] {
            let session = try Self.session(stage, other)
            #expect(try await session.get("/a", as: .string).value == "other")
            await session.shutdown()
        }
    }

    /// Gateways say who the user is in fields that hold no secret.
    @Test(arguments: [
        "X-Forwarded-User", "X-User-ID", "x-consumer-username", "Impersonate-User", "X_Tenant", "X-On-Behalf-Of",
        "Sudo", "X-Act-As", "X-Login", "X-SSL-Client-S-DN", "X-Organization", "X-Employee", "X-Patient", "From",
    ])
    func `a response is for the user whom a field names`(name: String) async throws {
        let stage = try CachedStage()
        Self.answer(stage, ["ada's", "bob's"])
        for user in ["ada", "bob", "ada", "bob"] {
            #expect(try await stage.session.get("/a", fields: [name: user], as: .string).value == "\(user)'s")
        }
    }

    @Test(arguments: ["X-Client-Request-ID", "x-ms-client-request-id", "Sec-Fetch-Site", "X-User-Trace-Id"])
    func `a response is for whoever asks with another number of the request`(name: String) async throws {
        let stage = try CachedStage()
        Self.answer(stage, ["everybody's", "another"])
        for number in ["1", "2"] {
            #expect(try await stage.session.get("/a", fields: [name: number], as: .string).value == "everybody's")
        }
    }

    @Test func `a jar from which all cookies were removed is another user's`() async throws {
        let jar = try Self.jar("ada")
        let stage = try CachedStage { $0.cookies = jar }
        Self.answer(stage, ["ada's", "bob's"])
        #expect(try await stage.get().value == "ada's")
        jar.removeAll()
        try jar.set(HTTP.Cookie(name: "sid", value: "bob", domain: "a.test"))
        #expect(try await stage.get().value == "bob's")
    }

    @Test func `what a server says is for others too is served to those with another jar`() async throws {
        let stage = try CachedStage()
        stage.transport.on(.get, "/a").respond(fields: ["Cache-Control": "public, max-age=60"], body: "all's")
            .thenRespond(500)
        for name in ["ada", "bob"] {
            let session = try Self.session(stage, try Self.jar(name))
            #expect(try await session.get("/a", as: .string).value == "all's")
            await session.shutdown()
        }
    }

    @Test func `a response varies by cookies as they were sent`() async throws {
        let jar = CookieJar()
        let stage = try CachedStage { configuration in
            configuration.cookies = jar
            configuration.interceptors = [
                .exchange { request, next in try await next(request) { $0.head.fields["Cookie"] = "id=late" } }
            ]
        }
        stage.transport.on(.get, "/a").respond(fields: ["Cache-Control": "max-age=60", "Vary": "Cookie"], body: "1")
            .thenRespond(fields: ["Cache-Control": "max-age=60", "Vary": "Cookie"], body: "2")
        for body in ["1", "2"] { #expect(try await stage.get().value == body) }
        #expect(stage.sent.count == 2)
    }

    @Test func `a token that an interceptor adds is of the session's user alone`() async throws {
        let stage = try CachedStage { configuration in
            configuration.interceptors = [
                .exchange { request, next in
                    let hasOwn = request.head.fields.contains("Authorization")
                    return try await next(request) { if !hasOwn { $0.head.fields["Authorization"] = "Bearer alice" } }
                }
            ]
        }
        stage.transport.on(.get, "/a").respond(fields: Self.fresh, body: "alice's").thenRespond(
            fields: Self.fresh, body: "bob's")
        for _ in 1...2 {
            #expect(try await stage.get().value == "alice's")
            #expect(try await stage.get("/a", .session, ["Authorization": "Bearer bob"]).value == "bob's")
        }
        #expect(stage.sent.count == 2)
    }

    @Test(arguments: ["Authorization", "X-Api-Key"])
    func `an answer for everybody is not for those whose request gets the field that it varies by`(vary: String)
        async throws
    {
        let stage = try CachedStage()
        let fields: Fields = ["Cache-Control": "public, max-age=60", "Vary": vary]
        stage.transport.on(.get, "/a").respond(fields: fields, body: "nobody's")
            .thenRespond(fields: fields, body: "ada's").always()
        var configuration = stage.session.configuration
        if vary == "Authorization" {
            configuration.authentication = .bearer("t1") { _ in "t2" }
        } else {
            configuration.interceptors = [
                .exchange { request, next in try await next(request) { $0.head.fields["X-Api-Key"] = "ada" } }
            ]
        }
        let adas = try HTTPSession(configuration)
        for _ in 1...2 {
            #expect(try await stage.get().value == "nobody's")
            #expect(try await adas.get("/a", as: .string).value == "ada's")
        }
        // What an interceptor adds is not known when the cache is asked.
        #expect(stage.sent.count == (vary == "Authorization" ? 2 : 3))
        await adas.shutdown()
    }

    @Test func `any secret field selects, and one of the request's own is not the session's`() async throws {
        let stage = try CachedStage { $0.authentication = .bearer("t1") { _ in "t2" } }
        stage.transport.on(.get, "/a").respond(fields: Self.fresh, body: "the session's").thenRespond(
            fields: Self.fresh, body: "bob's")
        for _ in 1...2 {
            #expect(try await stage.get().value == "the session's")
            #expect(try await stage.get("/a", .session, ["X-Api-Key": "bob"]).value == "bob's")
        }
        #expect(stage.sent.count == 2)
    }

    @Test func `a background revalidation takes a request's password to no other origin`() async throws {
        let stage = try CachedStage { $0.basicInClearText = .allowed }
        stage.transport.on(.get, "/a").respond(302, fields: ["Location": "http://b.test/b"]).always()
        stage.transport.on(.get, "/b").respond(
            fields: ["Cache-Control": "max-age=0, stale-while-revalidate=1000"], body: "old"
        ).thenRespond(401, fields: ["WWW-Authenticate": "Basic realm=\"b\""]).always()
        let options = HTTPSession.Options(
            credentials: .value(.basic(user: "alice", password: "pw")))
        for _ in 1...2 { #expect(try await stage.session.get("/a", options: options, as: .string).value == "old") }
        await stage.session.shutdown(grace: .seconds(1000))
        let toOther = stage.sent.filter { $0.target == "/b" }
        #expect(toOther.count == 2 && !toOther.contains { $0.fields.contains("authorization") })
    }
}
