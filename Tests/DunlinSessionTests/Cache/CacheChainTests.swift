import Dunlin
import DunlinCache
import DunlinSemantics
import DunlinTesting
import Synchronization
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10))) struct `A cache among other stages` {
    private static let fresh: Fields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
    private static let soonStale: Fields = ["Cache-Control": "max-age=1, stale-while-revalidate=100"]

    @Test func `a stored failure is no answer to a retry`() async throws {
        let stage = try CachedStage { configuration in
            configuration.retry = .constant(attempts: 2, every: .zero)
        }
        stage.transport.on(.get, "/a").respond(503, fields: Self.fresh).thenRespond(503, fields: Self.fresh)
            .thenRespond(fields: Self.fresh, body: "well")
        await #expect(throws: NetworkError.self) { _ = try await stage.get() }
        #expect(stage.sent.count == 2)
        #expect(try await stage.get().value == "well" && stage.sent.count == 3)
    }

    @Test func `the answer to what an interceptor made of a request is not stored as the answer to that`() async throws
    {
        let isChanging = Mutex(true)
        let stage = try CachedStage { configuration in
            configuration.interceptors = [
                .exchange { request, next in
                    guard isChanging.withLock(\.self) else { return try await next(request) }
                    return try await next(request) { $0.head.method = .post }
                }
            ]
        }
        stage.transport.on(.post, "/a").respond(fields: Self.fresh, body: "posted")
        stage.transport.on(.get, "/a").respond(fields: Self.fresh, body: "got")
        #expect(try await stage.get().value == "posted" && stage.store.all.isEmpty)
        isChanging.withLock { $0 = false }
        #expect(try await stage.get().value == "got")
        #expect(try await stage.get().value == "got" && stage.sent.count == 2)
    }

    @Test func `a request that a server wants without Expect is sent without it, and stays as it was otherwise`()
        async throws
    {
        let stage = try CachedStage()
        stage.transport.on(.post, "/a").respond(417).thenRespond(204)
        _ = try await stage.session.post(
            "/a", body: .bytes("1"), options: .init(expectsContinue: true, cacheMode: .off), as: .bytes)
        #expect(stage.sent.map { $0.fields.contains("expect") } == [true, false])
        #expect(!stage.sent.contains { $0.fields.contains("cache-control") || $0.fields.contains("pragma") })
    }

    @Test func `the hook is asked about what the session asks for itself too`() async throws {
        let stage = try CachedStage { configuration in
            configuration.hooks.storing = { _, head in head.fields.contains("x-new") ? .skip : .store }
        }
        stage.transport.on(.get, "/a").respond(fields: Self.soonStale, body: "old").thenRespond(
            fields: ["Cache-Control": "max-age=60", "X-New": "1"], body: "new")
        _ = try await stage.get()
        stage.time.pass(50)
        #expect(try await stage.get().value == "old")
        try await stage.transport.waitForRequests(2)
        await stage.session.shutdown(grace: .seconds(1000))
        #expect(stage.sent.count == 2 && !stage.store.all.contains { $0.entry.fields.contains("x-new") })
    }

    @Test func `shutting down waits for what brings the cache up to date, and counts it for nobody`() async throws {
        let stage = try CachedStage()
        stage.transport.on(.get, "/a").respond(fields: Self.soonStale, body: "old").thenRespond(
            fields: Self.fresh, body: "new")
        _ = try await stage.get()
        stage.time.pass(50)
        #expect(try await stage.get().value == "old")
        #expect(await stage.session.shutdown(grace: .seconds(1000)) == 0)
        let bodies = stage.store.all.map(\.body.count)
        #expect(stage.sent.count == 2 && bodies == [3])
        #expect(stage.store.all.first?.entry.fields["etag"] == "\"1\"")
    }

    @Test func `a key is named without the values that the cache keeps secret`() async throws {
        let store = MapStore(isAtHand: true)
        let transport = MockTransport()
        var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
        configuration.cache = HTTPSession.Cache(
            store, CacheRules(secretFields: .init(["ticket"])) { _, bytes in bytes }, now: { 0 })
        let session = try HTTPSession(configuration)
        let error = await #expect(throws: NetworkError.self) {
            _ = try await session.get("/a?ticket=abc123", options: .init(cacheMode: .storedOnly), as: .bytes)
        }
        #expect(error.map { "\($0.reason)".contains("abc123") } == false)
    }

    @Test(.timeLimit(.minutes(10))) func `a hook that a background revalidation calls may shut the session down`()
        async throws
    {
        let box = Mutex<HTTPSession?>(nil)
        let stage = try CachedStage { configuration in
            configuration.hooks.storing = { _, head in
                if head.fields.contains("x-new") { await box.withLock(\.self)?.shutdown() }
                return .store
            }
        }
        box.withLock { $0 = stage.session }
        stage.transport.on(.get, "/a").respond(fields: Self.soonStale, body: "old").thenRespond(
            fields: ["Cache-Control": "max-age=60", "X-New": "1"], body: "new")
        _ = try await stage.get()
        stage.time.pass(50)
        #expect(try await stage.get().value == "old")
        try await eventually("the session is closed", following: stage.transport) { stage.session.isShutDown }
        await stage.session.shutdown()
        box.withLock { $0 = nil }
    }
}
