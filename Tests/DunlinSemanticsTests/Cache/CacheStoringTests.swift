import DunlinSemantics
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `Storing in a cache` {
    static let statuses: [HTTP.Status] = [
        200, 203, 204, 299, 301, 302, 303, 307, 308, 400, 404, 410, 499, 500, 502, 503, 504, 599,
    ]

    @Test(arguments: statuses) func `any final status is stored that says how long it keeps`(status: HTTP.Status) {
        let fresh: Fields = [
            "Expires": "@100000", "Cache-Control": "max-age=100000", "Last-Modified": "@0", "Date": "@0",
        ]
        CacheScenario(
            "fresh \(status)", .first(fresh, status: status),
            CacheStep(expects: .cache, expectsStatus: status, expectsBody: "0123456789")
        ).play()
        let stale: Fields = ["Expires": "@-5000", "Last-Modified": "@-100000", "Date": "@0"]
        CacheScenario("stale \(status)", .first(stale, status: status), .then(.network)).play()
    }

    @Test(
        .rules("9110-15-3", "9111-3-2", "9111-3-3"),
        arguments: [
            (100, false), (103, false), (199, false), (304, false), (401, false), (407, false), (600, false),
            (0, false),
            (599, true),
        ])
    func `an interim or invalid status is never stored`(status: Int, isStored: Bool) {
        let cache = CacheScenario(
            "\(status)", .first(["Cache-Control": "max-age=9, public"], status: HTTP.Status(status))
        ).play()
        #expect(cache.stored.isEmpty != isStored)
    }

    @Test(.rules("9111-3-7"), arguments: [201, 302, 403, 500] as [HTTP.Status])
    func `a response is not stored if it has no lifetime and its status is not cacheable by itself`(status: HTTP.Status)
    {
        #expect(CacheScenario("\(status)", .first(["ETag": #""a""#], status: status)).play().stored.isEmpty)
        let cache = CacheScenario("private", .first(["Cache-Control": "private"], status: status)).play()
        #expect(cache.stored.count == 1)
    }

    static let fields: [(String, String, Bool)] = [
        ("Test-Header", "x", true), ("X-Test-Header", "x", true), ("Content-Foo", "x", true),
        ("X-Content-Foo", "x", true), ("Cache-Control", "max-age=3600", true), ("Connection", "x", false),
        ("Content-Encoding", "x", true), ("Content-Length", "10", true), ("Content-Location", "/bar", true),
        ("Content-MD5", "N7UdGUp1E+RbVvZSTy1R8g==", true), ("Content-Range", "x", true),
        ("Content-Security-Policy", "default-src 'self' cdn.example.com", true),
        ("Content-Type", "text/plain;charset=utf-8", true), ("Clear-Site-Data", "cookies", true),
        ("ETag", #""ghijkl""#, true), ("Expires", "Mon, 11 Jan 2038 11:11:11 GMT", true), ("Keep-Alive", "x", false),
        ("Proxy-Authenticate", "x", false), ("Proxy-Authentication-Info", "x", false),
        ("Proxy-Authorization", "x", false), ("Proxy-Connection", "x", false), ("Public-Key-Pins", "x", true),
        ("Set-Cookie", "a=c", true), ("Set-Cookie2", "a=c", true), ("TE", "x", false),
        ("Transfer-Encoding", "x", false), ("Upgrade", "x", false), ("X-Frame-Options", "sameorigin", true),
        ("X-XSS-Protection", "1; mode=block", true), ("WWW-Authenticate", "x", true),
        ("Strict-Transport-Security", "x", true), ("Content-Disposition", "attachment; filename=example.txt", true),
    ]

    @Test(.rules("9111-3.1-1", "9111-3.1-2", "9111-3.1-4"), arguments: fields)
    func `all fields are stored but those of the connection and the proxy`(
        name: String, value: String, isStored: Bool
    ) {
        var response: Fields = ["Date": "@0", name: value]
        if name != "Cache-Control" { response["Cache-Control"] = "max-age=3600" }
        CacheScenario(name, .first(response), .then(.cache, fields: [name: isStored ? value : nil])).play()
    }

    @Test(.rules("9111-3.1-2")) func `fields that Connection names are not stored, unless a cache goes by them`() {
        CacheScenario(
            "a, b",
            .first([
                "Connection": "a, b", "connection": "Cache-Control, close", "a": "1", "b": "2", "c": "3",
                "Cache-Control": "max-age=9",
            ]), .then(.cache, fields: ["a": nil, "b": nil, "c": "3", "Cache-Control": "max-age=9"])
        ).play()
        CacheScenario(
            "no-cache", .first(["Connection": "Cache-Control", "Cache-Control": "no-store", "Expires": "@99"]),
            .then(.network)
        ).play()
    }

    @Test(.rules("9111-4-1")) func `queries are part of what is asked for`() {
        let fresh: Fields = ["Cache-Control": "max-age=100000"]
        CacheScenario(
            "query", CacheStep(target: "/a?test=1", response: fresh, expects: .network),
            CacheStep(target: "/a?test=2", expects: .network), CacheStep(target: "/a?test=1", expects: .cache)
        ).play()
    }

    @Test func `cookies keep nothing from being stored`() {
        CacheScenario(
            "Cookie", .first(["Cache-Control": "max-age=9", "Set-Cookie": "a=b"]),
            .then(.cache, request: ["Cookie": "a=b"])
        ).play()
    }

    static let methods: [(HTTP.Method, Fields, CacheSight.Source)] = [
        ("POST", ["Expires": "@2592000", "Content-Location": "/a", "Date": "@0"], .cache),
        ("POST", ["Cache-Control": "max-age=9", "Content-Location": "https://a.test/a#x"], .cache),
        ("POST", ["Cache-Control": "max-age=9", "Content-Location": ""], .cache),
        ("POST", ["Cache-Control": "max-age=9"], .network),
        ("POST", ["Cache-Control": "max-age=9", "Content-Location": "/b"], .network),
        ("POST", ["Cache-Control": "max-age=9", "Content-Location": "https://b.test/a"], .network),
        ("POST", ["Cache-Control": "no-store", "Expires": "@9", "Content-Location": "/a"], .network),
        ("POST", ["Content-Location": "/a", "ETag": #""a""#], .network),
        ("PUT", ["Cache-Control": "max-age=9", "Content-Location": "/a"], .network),
        ("OPTIONS", ["Cache-Control": "max-age=9", "Content-Location": "/a"], .network),
        ("HEAD", ["Cache-Control": "max-age=9"], .network), ("get", ["Cache-Control": "max-age=9"], .network),
    ]

    @Test(.rules("9111-2-1", "9111-3-1", "9111-4-2"), arguments: methods)
    func `what a POST brings is stored only if it is what a GET would bring`(
        method: HTTP.Method, response: Fields, source: CacheSight.Source
    ) {
        CacheScenario(
            "\(method)", CacheStep(method: method, response: response, pause: 3, expects: .network), .then(source)
        ).play()
        CacheScenario(
            "never for another", CacheStep(method: method, response: response, expects: .network),
            CacheStep(method: method == .head ? .put : method, expects: .network)
        ).play()
    }

    @Test func `what a POST brings is not stored where that is forbidden`() {
        let response: Fields = ["Cache-Control": "max-age=9", "Content-Location": "/a"]
        CacheScenario(
            "off", CacheStep(method: .post, mode: .off, response: response, expects: .network), .then(.network)
        ).play()
        CacheScenario(
            "no-store",
            CacheStep(
                method: .post, request: ["Cache-Control": "no-store"], response: response, expects: .network),
            .then(.network)
        ).play()
    }

    @Test(.rules("9111-3-2")) func `an interim head is not the answer that is stored`() {
        var machine = CacheMachine(
            CacheRequest(RequestHead(method: .get, origin: PlayedCache.origin, target: "/a")), candidates: [],
            rules: PlayedCache.rules)
        _ = machine.begin(at: 0)
        let interim = ResponseHead(status: 103, fields: ["Cache-Control": "max-age=9"])
        #expect(machine.answered(by: interim, sentAt: 0, receivedAt: 0).changes.isEmpty)
        let final = ResponseHead(status: 200, fields: ["Cache-Control": "max-age=9"])
        #expect(machine.answered(by: final, sentAt: 0, receivedAt: 0).changes.count == 1)
    }

    static let bodies: [(Fields, Int, Bool, CachedBody?)] = [
        (["Content-Length": "10"], 10, true, .whole(10)), ([:], 10, true, .whole(10)), ([:], 0, true, .whole(0)),
        (["Content-Length": "11"], 10, true, nil), (["Content-Length": "9"], 10, true, nil),
        (["Content-Length": "x"], 10, true, nil), (["Content-Length": "11"], 10, false, nil),
        (["Content-Length": "9", "ETag": #""a""#], 10, false, nil),
        (["Content-Length": "10", "ETag": #""a""#], 10, false, nil),
        (["Content-Length": "11", "ETag": #""a""#], 10, false, .part(0..<10, complete: 11)),
        (["ETag": #""a""#], 10, false, .part(0..<10, complete: nil)), (["ETag": #"W/"a""#], 10, false, nil),
        (["Content-Length": "11", "ETag": #""a""#], 0, false, nil),
        (["Content-Length": "11", "ETag": #""a""#, "Accept-Ranges": "none"], 10, false, nil),
        (["Last-Modified": "@-100", "Date": "@0"], 10, false, .part(0..<10, complete: nil)),
        (["Last-Modified": "@-1", "Date": "@0"], 10, false, nil),
    ]

    @Test(.rules("9112-8-5", "9111-3.3-1", "9111-3.3-3"), arguments: bodies)
    func `a body that broke off is kept if its rest can be asked for, and a wrong one never`(
        response: Fields, count: Int, isComplete: Bool, expected: CachedBody?
    ) {
        var step = CacheStep.first(response, body: String(repeating: "x", count: count))
        step.isCut = !isComplete
        #expect(CacheScenario("\(response)", step).play().stored.first?.entry.body == expected)
    }

    @Test func `a request with a body passes the cache by`() {
        let head = RequestHead(method: .get, origin: PlayedCache.origin, target: "/a")
        let stored = CacheScenario("a", .first(["Cache-Control": "max-age=9"])).play().stored.map(\.entry)
        var machine = CacheMachine(
            CacheRequest(head, bypassesCache: true), candidates: stored, rules: PlayedCache.rules)
        guard case .send(let sending) = machine.begin(at: PlayedCache().now) else {
            Issue.record("not sent")
            return
        }
        #expect(sending.reason == .bypass)
        let answer = ResponseHead(status: 200, fields: ["Cache-Control": "max-age=9"])
        #expect(machine.answered(by: answer, sentAt: 0, receivedAt: 0).changes.isEmpty)
    }

    /// RFC 9110 §15.1, and the statuses that its section 15 describes, but interim ones, 304 and those that are unused.
    @Test(.rules("9111-4.2.2-2"))
    func `a cache knows the statuses of RFC 9110, and which of them are fresh for a while by themselves`() {
        let all = (100...599).map { HTTP.Status($0) }
        #expect(
            all.filter(\.isHeuristicallyCacheable).map(\.code)
                == [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501])
        let described = [200...205, 300...303, 305...305, 307...308, 400...417, 421...422, 426...426, 500...505]
        #expect(all.filter(\.isUnderstoodByCaches).map(\.code) == described.flatMap { Array($0) })
    }
}
