import Dunlin
import DunlinCache
import DunlinTesting
import Mocking
import Synchronization
import Testing

@testable import DunlinSession

/// What is stored, and turns out to be damaged behind its beginning.
private final class DamagedBody: StoredBody {
    private let mayRead = Settlement<Void>()

    /// Lets whoever waits for the rest learn that it is damaged.
    func open() { mayRead.settle(()) }

    var count: Int { 6 }
    var bytes: Bytes? { nil }

    func read(from offset: Int, upTo count: Int, within wait: StoreWait?) async throws(CacheDamage) -> Bytes {
        if offset == 0 { return "abc" }
        await mayRead.value
        throw CacheDamage()
    }
}

@Suite(.timeLimit(.minutes(10))) struct `Requests that are sent as one, and another feature` {
    private typealias Gate = LoopbackServer.Gate

    private static let fresh: Fields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
    private static let challenge: Fields = ["WWW-Authenticate": "Basic realm=b"]

    /// As many requests that are alike, none of which brings anything yet: one is sent, and the others wait for it.
    private static func tasks(
        _ count: Int, _ session: HTTPSession, _ transport: MockTransport
    ) async throws -> [Task<String, any Error>] {
        var tasks = [Task { try await session.get("/a", as: .string).value }]
        try await transport.waitForRequests(1)
        for _ in 1..<count { tasks.append(Task { try await session.get("/a", as: .string).value }) }
        try await eventually("the others wait", following: transport) {
            await session.gauges().coalesced == count - 1
        }
        return tasks
    }

    // MARK: What is stored

    @Test func `a body damaged after its beginning is requested again once, for all that are sent as one`()
        async throws
    {
        let stage = try CachedStage(inMemory: false) { $0.coalescing.isOn = true }
        stage.transport.on(.get, "/a").respond(fields: Self.fresh, body: "abcdef")
            .thenRespond(fields: Self.fresh, body: "ABCDEF")
        _ = try await stage.get()
        let body = DamagedBody()
        stage.store.stored.withLock { stored in
            stored = stored.map { StoredResponse(entry: $0.entry, level: $0.level, body: body, id: $0.id) }
        }
        let tasks = (1...5).map { _ in Task { try await stage.get().value } }
        try await eventually("four wait for the fifth", following: stage.transport) {
            await stage.session.gauges().coalesced == 4
        }
        body.open()
        for task in tasks { #expect(try await task.value == "ABCDEF") }
        #expect(stage.sent.count == 2)
        #expect(await stage.session.gauges().coalesced == 0)
    }

    /// What a retry policy had put before an answer is put there once, however often the answer is brought.
    @Test func `an attempt counts once though what is served after it turns out to be damaged`() async throws {
        let stage = try CachedStage(inMemory: false) {
            $0.retry = .constant(attempts: 3, every: .zero, budget: .unlimited)
        }
        stage.transport.on(.get, "/a").respond(fields: Self.fresh, body: "abcdef")
            .thenRespond(503).thenRespond(304, fields: Self.fresh).thenRespond(fields: Self.fresh, body: "ABCDEF")
        _ = try await stage.get()
        let body = DamagedBody()
        body.open()
        stage.store.stored.withLock { stored in
            stored = stored.map { StoredResponse(entry: $0.entry, level: $0.level, body: body, id: $0.id) }
        }
        stage.time.pass(100)
        let response = try await stage.get()
        #expect(response.value == "ABCDEF")
        #expect(stage.sent.count == 4)
        #expect(response.retries.count == 1)
        #expect(response.metrics.hops.count == 3)
    }

    // MARK: Who asks

    /// Where an interceptor around exchanges knows the user by the caller's task, nobody else does.
    @Test func `requests that keep nothing are not sent as one where an interceptor says who asks`() async throws {
        let gate = Gate()
        let mock = try Mocked("https://a.test") {
            $0.coalescing.isOn = true
            $0.interceptors = [
                .exchange { request, next in
                    try await gate.opened()
                    return try await next(
                        request.with { $0.head.fields.authorize("Bearer \(next.task?.tags.first ?? "")") })
                }
            ]
        }
        mock.transport.otherwise { .respond(body: Bytes($0.fields["authorization"] ?? "")) }
        let session = mock.session
        let tasks = ["ada", "bob"].map { user in
            Task {
                var options = HTTPSession.Options(cacheMode: .off)
                options.tags = [user]
                options.hooks.completed = { _ in }
                return try await session.get("/a", options: options, as: .string).value
            }
        }
        try await eventually("both are under way", following: mock.transport) { await session.tasks.count == 2 }
        gate.open()
        #expect(try await tasks[0].value == "Bearer ada")
        #expect(try await tasks[1].value == "Bearer bob")
    }

    /// Swift considers the values equal, and a server does not.
    @Test(arguments: ["X-Api-Key", "Authorization", "Accept-Language"])
    func `requests whose fields only look the same are not sent as one`(name: String) async throws {
        let gate = Gate()
        let mock = try Mocked("https://a.test") { $0.coalescing.isOn = true }
        mock.transport.otherwise { request in
            try await gate.opened()
            return .respond(body: Bytes(request.fields[name] ?? ""))
        }
        let session = mock.session
        let values = ["caf\u{E9}", "cafe\u{301}"]
        let tasks = values.map { value in
            Task { try await session.get("/a", fields: [name: value], as: .string).value }
        }
        try await eventually("both are under way", following: mock.transport) { await session.tasks.count == 2 }
        gate.open()
        for (task, value) in zip(tasks, values) { #expect(try await task.value.utf8.elementsEqual(value.utf8)) }
    }

    @Test func `requests that an interceptor sends to different targets are not sent as one`() async throws {
        let gate = Gate()
        let mock = try Mocked("https://a.test") {
            $0.coalescing.isOn = true
            $0.interceptors = [
                .exchange { request, next in
                    let name = next.task?.tags.first ?? ""
                    return try await next(request) { $0.head.target = "/\(name)" }
                }
            ]
        }
        mock.transport.otherwise { request in
            try await gate.opened()
            return .respond(body: Bytes(request.target))
        }
        let session = mock.session
        let tasks = ["x", "y", "z"].map { name in
            Task {
                var options = HTTPSession.Options(tags: [name])
                options.hooks.completed = { _ in }
                return try await session.get("/a", options: options, as: .string).value
            }
        }
        try await eventually("two wait for one", following: mock.transport) {
            await session.gauges().coalesced == 2
        }
        gate.open()
        for (name, task) in zip(["x", "y", "z"], tasks) { #expect(try await task.value == "/\(name)") }
    }

    @Test func `what the session's handler cancels is over for all that are sent as one, and it is asked once`()
        async throws
    {
        let gate = Gate()
        let asks = Mutex(0)
        let mocked = try Mocked("https://api.test") {
            $0.coalescing.isOn = true
            $0.authenticationHandler = { _ in
                asks.withLock { $0 += 1 }
                return .cancel()
            }
        }
        mocked.transport.otherwise { _ in
            try await gate.opened()
            return .respond(401, fields: Self.challenge)
        }
        let tasks = try await Self.tasks(5, mocked.session, mocked.transport)
        gate.open()
        for task in tasks {
            #expect(try await networkError { _ = try await task.value }?.code == .cancelled)
        }
        #expect(asks.withLock(\.self) == 1 && mocked.transport.requests.count == 1)
    }

    @Test func `those who wait while passwords are forgotten are sent as one afterwards`() async throws {
        let (first, second) = (Gate(), Gate())
        let mocked = try Mocked {
            $0.coalescing.isOn = true
            $0.authenticationHandler = { _ in .performDefault }
        }
        mocked.transport.otherwise { [transport = mocked.transport] _ in
            // The second is sent only once the first has been answered.
            let isFirst = transport.requests.count == 1
            try await (isFirst ? first : second).opened()
            return .respond(body: isFirst ? "of before" : "of afterwards")
        }
        let tasks = try await Self.tasks(5, mocked.session, mocked.transport)
        mocked.session.forgetPasswords()
        first.open()
        #expect(try await tasks[0].value == "of before")
        try await eventually("three wait for the fourth", following: mocked.transport) {
            await mocked.session.gauges().coalesced == 3 && mocked.transport.requests.count == 2
        }
        second.open()
        for task in tasks.dropFirst() { #expect(try await task.value == "of afterwards") }
        #expect(mocked.transport.requests.count == 2)
    }

    /// Whose cookies the jar has while the first request waits for a token.
    @Test(arguments: ["ada", "bob"])
    func `a request with the jar's cookies does not get a response to others`(meanwhile: String) async throws {
        let (isAsked, token, page, jar) = (Gate(), Gate(), Gate(), CookieJar())
        @Sendable func login(_ user: String) throws {
            try jar.set(HTTP.Cookie(name: "user", value: user, domain: "api.test"))
        }
        let mocked = try Mocked {
            $0.coalescing.isOn = true
            $0.cookies = jar
            $0.authentication = .bearer { _ in
                isAsked.open()
                try await token.opened()
                return "t"
            }
        }
        mocked.transport.otherwise { request in
            try await page.opened()
            return .respond(body: Bytes(request.fields["cookie"] ?? ""))
        }
        try login("ada")
        let first = Task { try await mocked.session.get("/a", as: .string).value }
        try await isAsked.opened()
        try login(meanwhile)
        token.open()
        try await mocked.transport.waitForRequests(1)
        try login("ada")
        let second = Task { try await mocked.session.get("/a", as: .string).value }
        try await eventually("the second waits for it", following: mocked.transport) {
            await mocked.session.gauges().coalesced == 1
        }
        page.open()
        #expect(try await first.value == "user=\(meanwhile)")
        #expect(try await second.value == "user=ada")
        #expect(mocked.transport.requests.count == (meanwhile == "ada" ? 1 : 2))
    }

    @Test func `what a handler asks for waits for no request that waits for the handler's word`() async throws {
        let (transport, isAsked) = (MockTransport(), Gate())
        transport.on(.get, "/login").respond(401, fields: Self.challenge).thenRespond(body: "pw")
        transport.otherwise { request in
            request.fields["authorization"] == "Basic YWRhOnB3"
                ? .respond(body: "in") : .respond(401, fields: Self.challenge)
        }
        let known = Mutex<HTTPSession?>(nil)
        var configuration = HTTPSession.Configuration(baseURL: "https://api.test", transport: transport)
        configuration.coalescing.isOn = true
        configuration.authenticationHandler = { _ in
            isAsked.open()
            do {
                // The other request for it has been sent by then, and is the first of its kind.
                try await transport.waitForRequests(2)
                let word = try await known.withLock(\.self)?.get("/login", as: .string).value
                return .useCredential(.password(user: "ada", password: word ?? ""))
            } catch {
                return .cancel(error)
            }
        }
        let session = try HTTPSession(configuration)
        known.withLock { $0 = session }
        defer { known.withLock { $0 = nil } }
        let first = Task { try await session.get("/x", as: .string).value }
        try await isAsked.opened()
        let second = Task { try await session.get("/login", as: .string).value }
        #expect(try await first.value == "in")
        #expect(try await second.value == "in")
        #expect(transport.requests.count == 5)
    }

    // MARK: What is counted

    @Test func `requests that share an error count nothing that the one sent has counted`() async throws {
        let gate = Gate()
        let mocked = try Mocked { $0.coalescing.isOn = true }
        mocked.transport.otherwise { _ in
            try await gate.opened()
            var (failure, hop) = (NetworkError(.connectionClosed, "gone"), HTTP.Hop())
            (hop.bytesSent, hop.bytesReceived) = (10, 100)
            failure.hop = hop
            return .fail(failure)
        }
        let tasks = try await Self.tasks(5, mocked.session, mocked.transport)
        gate.open()
        var hops: [HTTP.Hop] = []
        for task in tasks {
            let error = try await networkError { _ = try await task.value }
            #expect(error?.code == .connectionClosed)
            let hop = try #require(error?.hop)
            hops.append(hop)
        }
        #expect(hops.map(\.bytesReceived) == [100, 0, 0, 0, 0])
        #expect(hops.map(\.bytesSent) == [10, 0, 0, 0, 0])
        #expect(mocked.transport.requests.count == 1)
    }
}
