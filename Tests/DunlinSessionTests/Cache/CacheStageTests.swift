import Dunlin
import DunlinTesting
import LedgerRows
import Synchronization
import Testing

@testable import DunlinSession

/// A session with a cache, over a scripted transport.
struct CachedStage {
    let transport = MockTransport()
    let store: MapStore
    let session: HTTPSession
    let cache: HTTPSession.Cache
    /// Seconds since 1970, as the cache sees them.
    let time: Time

    /// A number that a closure may share.
    final class Time: Sendable {
        private let number = Mutex<Int64>(1_800_000_000)
        var now: Int64 { number.withLock(\.self) }
        func pass(_ seconds: Int64) { number.withLock { $0 += seconds } }
    }

    init(inMemory: Bool = true, _ change: (inout HTTPSession.Configuration) -> Void = { _ in }) throws {
        let time = Time()
        self.time = time
        store = MapStore(isAtHand: inMemory)
        cache = HTTPSession.Cache(store, now: { time.now })
        var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
        configuration.cache = cache
        change(&configuration)
        session = try HTTPSession(configuration)
    }

    var sent: [MockTransport.RecordedRequest] { transport.requests }

    func get(
        _ target: HTTP.Target = "/a", _ mode: HTTPSession.PerRequest<HTTPSession.CacheMode> = .session,
        _ fields: Fields = Fields()
    ) async throws -> HTTPSession.Response<String> {
        try await session.get(target, options: .init(fields: fields, cacheMode: mode), as: .string)
    }
}

@Suite(.timeLimit(.minutes(10))) struct `Requests through a cache` {
    private static let fresh: Fields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]

    @Test func `a request whose task was cancelled is given nothing that is stored`() async throws {
        let stage = try CachedStage()
        stage.transport.on(.get, "/a").respond(fields: Self.fresh, body: "abc")
        #expect(try await stage.get().value == "abc")
        let session = stage.session
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await session.get("/a", as: .string).value
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await stage.get().cacheUse?.source == .memory)
    }

    @Test(.rows("UC-1"), .rules("9110-7.3.1-1", "9111-4-6"), arguments: [true, false])
    func `a fresh response is served without a request, with its age`(
        inMemory: Bool
    ) async throws {
        let stage = try CachedStage(inMemory: inMemory)
        stage.transport.on(.get, "/a").respond(fields: Self.fresh, body: "abcdefg")
        let first = try await stage.get()
        #expect(first.cacheUse?.source == .network && first.cacheUse?.status.contains("fwd=uri-miss") == true)
        stage.time.pass(20)
        let second = try await stage.get()
        #expect(second.value == "abcdefg" && stage.sent.count == 1)
        #expect(second.cacheUse?.source == (inMemory ? .memory : .disk) && second.cacheUse?.age == .seconds(20))
        #expect(second.cacheUse?.status == "dunlin; hit; ttl=40" && second.fields["age"] == "20")
        #expect(second.url == "http://a.test/a" || second.url.isEmpty)
        #expect(stage.cache.gauges.hits == 1 && stage.cache.gauges.misses == 1)
    }

    @Test(.rows("UC-6"), .rules("9111-4.3.3-1"))
    func `a stale response is revalidated, and served once the origin confirms it`() async throws {
        let stage = try CachedStage()
        stage.transport.on(.get, "/a").respond(fields: Self.fresh, body: "abc")
            .thenRespond(304, fields: ["Cache-Control": "max-age=100", "ETag": "\"1\"", "X-New": "yes"])
            .thenRespond(fields: ["ETag": "\"2\"", "Cache-Control": "max-age=5"], body: "def")
        _ = try await stage.get()
        stage.time.pass(61)
        let second = try await stage.get()
        #expect(stage.sent.last?.fields["if-none-match"] == "\"1\"")
        #expect(second.value == "abc" && second.status == .ok && second.fields["x-new"] == "yes")
        #expect(second.cacheUse?.isRevalidated == true && second.cacheUse?.source == .memory)
        stage.time.pass(99)
        #expect(try await stage.get().value == "abc" && stage.sent.count == 2)
        stage.time.pass(2)
        let third = try await stage.get()
        #expect(third.value == "def" && third.cacheUse?.source == .network)
        #expect(try await stage.get().value == "def" && stage.sent.count == 3)
    }

    @Test(arguments: [Bytes("v1"), Bytes("W/v1"), Bytes([0x22, 0xFF, 0x22]), Bytes("*"), Bytes(#""a", "b""#)])
    func `a tag that is not written as one is sent back as it came, unless it would mean several`(tag: Bytes)
        async throws
    {
        let stage = try CachedStage()
        var fields: Fields = ["Cache-Control": "max-age=60"]
        fields.append(name: "ETag", rawValue: tag)
        let isSent = tag != Bytes("*") && !tag.contains(UInt8(ascii: ","))
        stage.transport.on(.get, "/a").respond(fields: fields, body: "abc")
            .thenRespond(isSent ? 304 : 200, fields: fields, body: isSent ? "" : "abc")
        _ = try await stage.get()
        stage.time.pass(61)
        #expect(try await stage.get().value == "abc")
        #expect(stage.sent.last?.fields[bytes: "if-none-match"] == (isSent ? tag : nil))
    }

    @Test func `what has just been confirmed is not stale, though it may not be served again without asking`()
        async throws
    {
        let stage = try CachedStage()
        let fields: Fields = ["Cache-Control": "max-age=0", "ETag": "\"1\""]
        stage.transport.on(.get, "/a").respond(fields: fields, body: "abc").thenRespond(304, fields: fields)
        _ = try await stage.get()
        stage.time.pass(10)
        let use = try #require(try await stage.get().cacheUse)
        #expect(use.isRevalidated && !use.isStale && use.status == "dunlin; fwd=stale; fwd-status=304; ttl=0")
        #expect(stage.cache.gauges.revalidated == 1 && stage.cache.gauges.stale == 0)
    }

    @Test(.rows("UC-4")) func `modes say what is looked at, asked for and stored`() async throws {
        let stage = try CachedStage()
        stage.transport.on(.get, "/a").respond(fields: Self.fresh, body: "1")
            .thenRespond(fields: Self.fresh, body: "2").thenRespond(fields: Self.fresh, body: "3")
            .thenRespond(fields: Self.fresh, body: "4")
        let error = await #expect(throws: NetworkError.self) { _ = try await stage.get("/a", .storedOnly) }
        #expect(error?.code == .notCached && stage.sent.isEmpty)
        #expect(try await stage.get("/a", .off).value == "1")
        #expect(try await stage.get().value == "2")
        #expect(try await stage.get("/a", .storedOnly).value == "2")
        #expect(try await stage.get("/a", .reloading).value == "3")
        #expect(stage.sent.last?.fields["cache-control"] == "no-cache")
        stage.time.pass(1000)
        let old = try await stage.get("/a", .preferringStored)
        #expect(old.value == "3" && old.cacheUse?.isStale == true)
        #expect(try await stage.get("/a", .validating).value == "4")
        #expect(stage.sent.last?.fields["if-none-match"] == "\"1\"")
    }

    @Test(.rules("9112-8-1")) func `a body that breaks off is not taken for whole, and its rest is asked for`()
        async throws
    {
        let stage = try CachedStage(inMemory: false)
        stage.transport.on(.get, "/a")
            .reply(
                .stream(
                    ["abc", "de"], fields: Self.fresh.with("Content-Length", "8"), length: 8,
                    failing: NetworkError(.connectionClosed, "gone"))
            )
            .thenRespond(206, fields: Self.fresh.with("Content-Range", "bytes 5-7/8"), body: "fgh")
        await #expect(throws: NetworkError.self) { _ = try await stage.get() }
        let whole = try await stage.get()
        #expect(whole.value == "abcdefgh" && whole.status == .ok)
        #expect(stage.sent.last?.fields["range"] == "bytes=5-" && stage.sent.last?.fields["if-range"] == "\"1\"")
        #expect(try await stage.get().value == "abcdefgh" && stage.sent.count == 2)
    }

    @Test(.rows("OP-15")) func `a reader who stops midway leaves nothing`() async throws {
        let stage = try CachedStage()
        stage.transport.on(.get, "/a").stream(["abc", "def"], fields: Self.fresh)
            .thenRespond(fields: Self.fresh, body: "whole")
        try await stage.session.withResponse(from: "/a") { response in
            for try await _ in response.body { break }
        }
        #expect(stage.store.all.isEmpty)
        #expect(try await stage.get().value == "whole")
    }

    @Test func `ranges and heads are served from whole bodies, and conditions are answered`() async throws {
        let stage = try CachedStage(inMemory: false)
        stage.transport.on(.get, "/a").respond(fields: Self.fresh, body: "abcdefg")
        _ = try await stage.get()
        let part = try await stage.get("/a", .session, ["Range": "bytes=2-3"])
        #expect(part.value == "cd" && part.status == .partialContent && part.fields["content-range"] == "bytes 2-3/7")
        let head = try await stage.session.head("/a")
        #expect(head.status == .ok && stage.sent.count == 1)
        let condition = HTTPSession.Options(fields: ["If-None-Match": "\"1\""])
        let unchanged = try await stage.session.get(
            "/a", options: condition, as: .bytes.accepting(statuses: [304]))
        #expect(unchanged.status == .notModified && stage.sent.count == 1)
    }

    @Test func `an unsafe request makes the cache forget`() async throws {
        let stage = try CachedStage()
        stage.transport.on(.get, "/a").respond(fields: Self.fresh, body: "1").thenRespond(fields: Self.fresh, body: "2")
        stage.transport.on(.post, "/a").respond(204)
        _ = try await stage.get()
        _ = try await stage.session.post("/a", as: .bytes)
        #expect(try await stage.get().value == "2")
    }

    @Test func `a stale response replaces that of an unreachable origin, where that is allowed`() async throws {
        let stage = try CachedStage()
        stage.transport.on(.get, "/a")
            .respond(fields: ["Cache-Control": "max-age=1, stale-if-error=100", "ETag": "\"1\""], body: "old")
            .thenFail(.connectionRefused).thenRespond(503)
        _ = try await stage.get()
        stage.time.pass(50)
        for _ in 1...2 {
            let response = try await stage.get()
            #expect(response.value == "old" && response.cacheUse?.isStale == true)
            #expect(response.cacheUse?.isRevalidated == false)
        }
        #expect(stage.sent.count == 3)
    }

    @Test func `a stale response served while it is revalidated is new the next time`() async throws {
        let stage = try CachedStage()
        stage.transport.on(.get, "/a")
            .respond(fields: ["Cache-Control": "max-age=1, stale-while-revalidate=100", "ETag": "\"1\""], body: "old")
            .thenRespond(fields: Self.fresh, body: "new")
        _ = try await stage.get()
        stage.time.pass(50)
        #expect(try await stage.get().value == "old")
        await stage.session.restart(grace: .seconds(1000))
        let next = try await stage.get()
        #expect(next.value == "new" && stage.sent.count == 2)
    }

    @Test func `redirects are stored too, and each hop is looked for by itself`() async throws {
        let stage = try CachedStage()
        stage.transport.on(.get, "/a").respond(301, fields: ["Location": "/b", "Cache-Control": "max-age=60"])
        stage.transport.on(.get, "/b").respond(fields: Self.fresh, body: "b")
        for _ in 1...2 { #expect(try await stage.get().value == "b") }
        #expect(stage.sent.map(\.target) == ["/a", "/b"])
    }

    @Test(.rows("UC-3"))
    func `cookies of the jar select variants, and a stored Set-Cookie does not reach the jar again`() async throws {
        let jar = CookieJar()
        let stage = try CachedStage { $0.cookies = jar }
        let fields: Fields = ["Cache-Control": "max-age=60", "Vary": "Cookie", "Set-Cookie": "id=1; Path=/a"]
        stage.transport.on(.get, "/a").respond(fields: fields, body: "of none")
            .thenRespond(fields: ["Cache-Control": "max-age=60", "Vary": "Cookie"], body: "of 1")
        #expect(try await stage.get().value == "of none")
        #expect(try await stage.get().value == "of 1" && stage.sent.last?.fields.values(of: "cookie") == ["id=1"])
        #expect(try await stage.get().value == "of 1" && stage.sent.count == 2)
        stage.transport.on(.get, "/b")
            .respond(fields: ["Cache-Control": "max-age=60", "Set-Cookie": "id=2; Path=/c"], body: "b")
        for _ in 1...2 {
            #expect(try await stage.session.get("/b", as: .string).value == "b" && stage.sent.count == 3)
            jar.removeAll()
        }
        _ = try await stage.session.get("/b", as: .string)
        #expect(jar.cookies.isEmpty && stage.sent.count == 3)
    }

    @Test func `a token that a stage adds is no part of what is looked for`() async throws {
        let stage = try CachedStage { $0.authentication = .bearer("t1") { _ in "t2" } }
        stage.transport.on(.get, "/a").respond(fields: Self.fresh, body: "1")
        for _ in 1...2 { _ = try await stage.get() }
        #expect(stage.sent.count == 1 && stage.sent.first?.fields["authorization"] == "Bearer t1")
    }

    @Test(.rows("UC-5", "SM-93")) func `a hook may keep a response out, or have it kept for longer`() async throws {
        let stage = try CachedStage {
            $0.hooks.storing = { task, head in
                task.tags.contains("skip") ? .skip : .storeWith(["Cache-Control": "max-age=500"])
            }
        }
        stage.transport.on(.get, "/a").respond(fields: Self.fresh, body: "1").thenRespond(fields: Self.fresh, body: "2")
        _ = try await stage.session.get("/a", options: .init(tags: ["skip"]), as: .string)
        #expect(stage.store.all.isEmpty)
        let second = try await stage.get()
        #expect(second.value == "2" && second.fields["cache-control"] == "max-age=60")
        stage.time.pass(400)
        #expect(try await stage.get().value == "2" && stage.sent.count == 2)
    }

    @Test(.rows("UC-7")) func `an error of the server is kept only where the server says for how long`() async throws {
        let stage = try CachedStage()
        stage.transport.on(.get, "/a").respond(500).thenRespond(404, fields: ["Cache-Control": "max-age=60"])
        for status in [500, 404, 404] {
            let error = await #expect(throws: NetworkError.self) { _ = try await stage.get() }
            #expect(error?.response.map { Int($0.status.code) } == status)
        }
        #expect(stage.sent.count == 2)
    }

    @Test(.rows("UC-7"))
    func `an error is kept by its age where its status allows it, and so is what no serializer takes`()
        async throws
    {
        let stage = try CachedStage()
        let old: Fields = ["Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT"]
        for status in [404, 405, 410, 414, 501, 403, 500, 503] as [HTTP.Status] {
            let path = "/\(status.code)"
            stage.transport.on(.get, path).respond(status, fields: old).always()
            let before = stage.sent.count
            for _ in 1...2 { _ = await #expect(throws: NetworkError.self) { try await stage.get(.url(path)) } }
            let isKept = [404, 405, 410, 414, 501].contains(status.code)
            #expect(stage.sent.count - before == (isKept ? 1 : 2), "\(status)")
        }
        stage.transport.on(.get, "/text").respond(fields: Self.fresh, body: "no JSON")
        let before = stage.sent.count
        for _ in 1...2 {
            await #expect(throws: NetworkError.self) { try await stage.session.get("/text", as: Int.self) }
        }
        #expect(stage.sent.count - before == 1)
    }

    @Test(.rows("UC-3"))
    func `the key is the URL and what Vary names, and a response has its share of the room at most`()
        async throws
    {
        let transport = MockTransport()
        transport.otherwise { request in
            let body = Bytes(Array(repeating: 0x61, count: request.path == "/long" ? 60_000 : 50_000))
            return .respond(fields: ["Cache-Control": "max-age=60", "Vary": "Accept-Language"], body: body)
        }
        let session = try HTTPSession(baseURL: "http://a.test") {
            $0.transport = transport
            $0.cache = HTTPSession.Cache(.init(memory: 1 << 20, disk: 0))
        }
        var sent: [Int] = []
        for (target, language) in [
            ("/a?x=1", "en"), ("/a?x=1", "en"), ("/a?x=2", "en"), ("/a?x=1", "de"), ("/a?x=1", "en"), ("/long", "en"),
            ("/long", "en"),
        ] {
            _ = try await session.get(.url(target), fields: ["Accept-Language": language])
            sent.append(transport.requests.count)
        }
        #expect(sent == [1, 1, 2, 3, 3, 4, 5])
    }

    @Test(.rows("UC-1"))
    func `a session keeps nothing unless it is given a cache, as small as AFNetworking's if it likes`()
        async throws
    {
        #expect(HTTPSession.Cache.Capacity.small.memory == 4 << 20 && HTTPSession.Cache.Capacity.small.disk == 20 << 20)
        #expect(HTTPSession.Configuration().cache == nil)
        for (cache, count) in [(nil, 2), (HTTPSession.Cache(.small), 1)] as [(HTTPSession.Cache?, Int)] {
            let transport = MockTransport()
            transport.on(.get, "/a").respond(fields: Self.fresh, body: "1").always()
            let session = try HTTPSession(baseURL: "http://a.test") {
                $0.transport = transport
                $0.cache = cache
            }
            for _ in 1...2 { #expect(try await session.get("/a", as: .string).value == "1") }
            #expect(transport.requests.count == count)
        }
    }

    @Test(.rules("9111-5.2.2-7")) func `what says no-store stays nowhere, nor does what it replaces`() async throws {
        let stage = try CachedStage()
        stage.transport.on(.get, "/a").respond(fields: ["Cache-Control": "max-age=1", "ETag": "\"1\""], body: "a")
        stage.transport.on(.get, "/a").respond(fields: ["Cache-Control": "no-store", "ETag": "\"2\""], body: "b")
        #expect(try await stage.get().value == "a" && stage.store.all.count == 1)
        stage.time.pass(5)
        #expect(try await stage.get().value == "b" && stage.store.all.isEmpty)
    }

    @Test func `without a cache nothing is said of one`() async throws {
        let transport = MockTransport()
        transport.on(.get, "/a").respond(fields: Self.fresh, body: "1").always()
        let session = try HTTPSession(.init(baseURL: "http://a.test", transport: transport))
        for _ in 1...2 { #expect(try await session.get("/a", as: .string).cacheUse == nil) }
        #expect(transport.requests.count == 2)
    }
}

extension Fields {
    fileprivate func with(_ name: String, _ value: String) -> Fields {
        var fields = self
        fields.append(name: name, value: value)
        return fields
    }
}
