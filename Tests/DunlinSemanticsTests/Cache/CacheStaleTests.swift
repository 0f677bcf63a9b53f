import DunlinSemantics
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `Serving stale` {
    private static func failing(
        _ directives: String, after pause: Int64 = 3, request: Fields = [:], mode: CacheMode = .standard,
        status: HTTP.Status? = nil, _ source: CacheSight.Source
    ) -> CacheScenario {
        CacheScenario(
            "\(directives), \(request["cache-control"] ?? ""), \(status.map { "\($0)" } ?? "disconnected"), \(pause)",
            .first(["Cache-Control": directives, "X-A": "1"], pause: pause),
            CacheStep(
                mode: mode, request: request, status: status ?? .ok, isDisconnected: status == nil, expects: source,
                expectsFields: source == .staleForError ? ["X-A": "1", "Age": "\(pause)", "Warning": nil] : [:]))
    }

    static let failures: [CacheScenario] = [
        failing("max-age=2", .failure), failing("max-age=2", status: 503, .network),
        failing("max-age=2, stale-if-error=60", .staleForError),
        failing("max-age=2, stale-if-error=60", status: 500, .staleForError),
        failing("max-age=2, stale-if-error=60", status: 502, .staleForError),
        failing("max-age=2, stale-if-error=60", status: 503, .staleForError),
        failing("max-age=2, stale-if-error=60", status: 504, .staleForError),
        failing("max-age=2, stale-if-error=60", status: 501, .network),
        failing("max-age=2, stale-if-error=60", status: 404, .network),
        failing("max-age=2, stale-if-error=60", after: 61, .staleForError),
        failing("max-age=2, stale-if-error=60", after: 62, .failure), failing("max-age=2, stale-if-error=x", .failure),
        failing("max-age=2", request: ["Cache-Control": "stale-if-error=60"], status: 503, .staleForError),
        failing("max-age=2, must-revalidate", .failure),
        failing("max-age=2, must-revalidate, stale-if-error=60", .failure),
        failing("max-age=2, no-cache, stale-if-error=60", .failure),
        failing("max-age=2, no-cache", .failure), failing("max-age=2, s-maxage=2, stale-if-error=60", .staleForError),
        failing("max-age=2, stale-if-error=60", request: ["Cache-Control": "no-cache"], .failure),
        failing("max-age=2, stale-if-error=60", request: ["Cache-Control": "max-age=1"], .failure),
        failing("max-age=2, stale-if-error=60", request: ["Cache-Control": "min-fresh=1"], .failure),
        failing("max-age=2, stale-if-error=60", request: ["Cache-Control": "no-store"], .failure),
        failing("max-age=2, stale-if-error=60", mode: .reloading, .failure),
        failing("max-age=2, stale-if-error=60", mode: .validating, .failure),
        failing("max-age=2, stale-if-error=60", mode: .off, .failure),
    ]

    @Test(.rules("9111-4-5", "9111-4.2.4-1", "9111-4.2.4-2", "9111-4.3.3-3", "9111-5.5-1"), arguments: failures)
    func `a stale response stands in for a failure only where that is permitted`(
        scenario: CacheScenario
    ) {
        scenario.play()
    }

    static let disconnected: [(String, CacheSight.Source)] = [
        ("max-age=2", .staleForError), ("max-age=2, must-revalidate", .failure), ("max-age=2, no-cache", .failure),
        ("max-age=2, proxy-revalidate", .staleForError), ("max-age=2, s-maxage=2", .staleForError),
    ]

    @Test(.rules("9111-4.2.4-2", "9111-5.2.2-2"), arguments: disconnected)
    func `a cache's owner may permit stale responses for origins that cannot be reached`(
        directives: String, source: CacheSight.Source
    ) {
        var rules = PlayedCache.rules
        rules.staleWhenDisconnected = 10
        Self.failing(directives, source).play(rules)
        Self.failing(directives, after: 12, .failure).play(rules)
        // An answer is no lost connection.
        Self.failing(directives, status: 503, .network).play(rules)
    }

    @Test func `a stale response that replaces an error is not overwritten by it`() {
        CacheScenario(
            "503", .first(["Cache-Control": "max-age=2, stale-if-error=60", "ETag": #""a""#]),
            CacheStep(status: 503, response: ["Cache-Control": "max-age=99"], expects: .staleForError),
            .then(.confirmed)
        ).play()
    }

    @Test(.rules("9111-4.3.3-3")) func `an error that no stale response replaces leaves what is stored`() {
        CacheScenario(
            "503", .first(["Cache-Control": "max-age=2", "ETag": #""a""#]),
            CacheStep(status: 503, expects: .network, expectsStatus: 503), .then(.confirmed)
        ).play()
    }

    @Test func `a stale response is served while it is asked about, once`() throws {
        let first = CacheStep.first(["Cache-Control": "max-age=1, stale-while-revalidate=3600", "ETag": #""abc""#])
        var cache = CacheScenario("first", first).play()
        let stale = cache.play(CacheStep(response: ["Cache-Control": "max-age=90"], confirms: true))
        #expect(stale.source == .cache && stale.isStale)
        #expect(try #require(stale.sent.first)["If-None-Match"] == #""abc""#)
        let fresh = cache.play(CacheStep())
        #expect(fresh.source == .cache && !fresh.isStale && fresh.sent.isEmpty)
    }

    static let windows: [(String, Int64, Fields, CacheSight.Source)] = [
        ("max-age=1, stale-while-revalidate=4", 3, [:], .cache),
        ("max-age=1, stale-while-revalidate=4", 4, [:], .cache),
        ("max-age=1, stale-while-revalidate=4", 5, [:], .network),
        ("max-age=1, stale-while-revalidate=4, must-revalidate", 3, [:], .network),
        ("max-age=1, stale-while-revalidate=4, no-cache", 3, [:], .network),
        ("max-age=1, stale-while-revalidate", 3, [:], .network),
        ("max-age=1, stale-while-revalidate=4", 3, ["Cache-Control": "no-cache"], .network),
        ("max-age=1, stale-while-revalidate=4", 3, ["Cache-Control": "max-age=1"], .network),
        ("max-age=1, stale-while-revalidate=4", 3, ["Cache-Control": "min-fresh=1"], .network),
        ("max-age=1, stale-while-revalidate=4", 3, ["Cache-Control": "only-if-cached"], .cache),
    ]

    @Test(.rules("9111-4.2.4-1"), arguments: windows)
    func `a stale response is served while revalidating only within its window, and only to requests that accept it`(
        directives: String, pause: Int64, request: Fields, source: CacheSight.Source
    ) {
        CacheScenario(
            directives, .first(["Cache-Control": directives, "ETag": #""a""#], pause: pause),
            .then(source, request: request)
        ).play()
    }

    @Test func `the revalidated response is served next`() {
        CacheScenario(
            "replaced", .first(["Cache-Control": "max-age=1, stale-while-revalidate=9"], body: "old"),
            CacheStep(
                response: ["Cache-Control": "no-cache", "ETag": #""d""#], body: "new", pause: 1, expects: .cache,
                expectsBody: "old"),
            CacheStep(
                confirms: true, expects: .confirmed, expectsBody: "new", expectsSent: ["If-None-Match": #""d""#])
        ).play()
    }
}

@Suite struct `Modes of a cache` {
    private static let fresh = "max-age=100"
    private static let stale = "max-age=1"

    /// What is stored, the mode, what is seen, and what is sent for caches on the way.
    static let modes: [(String?, CacheMode, CacheSight.Source, [String: String?])] = [
        (fresh, .standard, .cache, [:]), (stale, .standard, .confirmed, ["Cache-Control": nil]),
        (nil, .standard, .network, ["Cache-Control": nil, "Pragma": nil]),
        (fresh, .validating, .confirmed, ["Cache-Control": "max-age=0"]),
        (stale, .validating, .confirmed, ["Cache-Control": "max-age=0"]),
        (nil, .validating, .network, ["Cache-Control": "max-age=0"]),
        (fresh, .reloading, .network, ["Cache-Control": "no-cache", "Pragma": "no-cache", "If-None-Match": nil]),
        (nil, .reloading, .network, ["Cache-Control": "no-cache", "Pragma": "no-cache"]),
        (fresh, .preferringStored, .cache, [:]), (stale, .preferringStored, .cache, [:]),
        ("no-cache", .preferringStored, .cache, [:]), ("max-age=1, must-revalidate", .preferringStored, .cache, [:]),
        (nil, .preferringStored, .network, ["Cache-Control": nil]), (fresh, .storedOnly, .cache, [:]),
        (stale, .storedOnly, .cache, [:]), (nil, .storedOnly, .unavailable, [:]),
        (fresh, .off, .network, ["Cache-Control": "no-cache", "Pragma": "no-cache", "If-None-Match": nil]),
        (nil, .off, .network, ["Cache-Control": "no-cache", "Pragma": "no-cache"]),
    ]

    @Test(arguments: modes) func `each mode reads what it may`(
        stored: String?, mode: CacheMode, source: CacheSight.Source, sent: [String: String?]
    ) {
        var cache = PlayedCache()
        if let stored { _ = cache.play(.first(["Cache-Control": stored, "ETag": #""a""#])) }
        let sight = cache.play(CacheStep(mode: mode, confirms: true))
        #expect(sight.source == source)
        for (name, value) in sent { #expect(sight.sent.last?[name] == value, "\(name)") }
    }

    @Test(
        arguments: [
            (.standard, true), (.validating, true), (.reloading, true), (.preferringStored, true), (.off, false),
        ] as [(CacheMode, Bool)])
    func `every mode stores what comes, except off`(mode: CacheMode, isStored: Bool) {
        CacheScenario(
            "\(mode)", CacheStep(mode: mode, response: ["Cache-Control": "max-age=9"], pause: 3, expects: .network),
            .then(isStored ? .cache : .network)
        ).play()
    }

    @Test func `what is asked for without a cache is not asked of the cache alone`() {
        CacheScenario(
            "off", CacheStep(mode: .off, request: ["Cache-Control": "only-if-cached"], expects: .network)
        ).play()
    }

    @Test func `a request's own words for caches on the way are left alone`() {
        CacheScenario(
            "reload",
            CacheStep(
                mode: .reloading, request: ["Cache-Control": "no-transform", "Pragma": "x"], expects: .network,
                expectsSent: ["Cache-Control": "no-transform", "Pragma": "x"])
        ).play()
    }

    @Test func `a reload replaces what is stored, and off leaves it`() {
        func scenario(_ mode: CacheMode, _ body: String) -> CacheScenario {
            CacheScenario(
                "\(mode)", .first(["Cache-Control": "max-age=99"], body: "old"),
                CacheStep(mode: mode, response: ["Cache-Control": "max-age=99"], body: "new", expectsBody: "new"),
                CacheStep(expects: .cache, expectsBody: body))
        }
        scenario(.reloading, "new").play()
        scenario(.off, "old").play()
    }

    @Test func `a request for a stored response only sends nothing, whatever its method`() {
        for method in ["GET", "HEAD", "POST", "OPTIONS"] as [HTTP.Method] {
            CacheScenario("\(method)", CacheStep(method: method, mode: .storedOnly, expects: .unavailable)).play()
        }
    }

    @Test(arguments: [
        (503, CacheMode.standard, true), (503, .preferringStored, true), (503, .storedOnly, false),
        (200, .standard, false),
    ]) func `a stored failure does not answer a retry`(status: Int, mode: CacheMode, isSent: Bool) throws {
        let cache = CacheScenario(
            "failed", .first(["Cache-Control": "max-age=9"], status: HTTP.Status(status))
        ).play()
        let head = RequestHead(method: .get, origin: PlayedCache.origin, target: "/a")
        var machine = CacheMachine(
            CacheRequest(head, mode: mode, isRetry: true), candidates: cache.stored.map(\.entry),
            rules: PlayedCache.rules)
        let action = machine.begin(at: cache.now)
        if case .send = action { #expect(isSent) } else { #expect(!isSent) }
    }
}
