import DunlinSemantics
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `What other requests do to a cache` {
    private static let fresh: Fields = [
        "Expires": "@100000", "Cache-Control": "max-age=100000", "Last-Modified": "@0", "Date": "@0",
    ]
    static let unsafe: [HTTP.Method] = ["POST", "PUT", "DELETE", "PATCH", "M-SEARCH", "post"]

    @Test(
        .rules("9111-4-7", "9111-4.4-1", "9111-4.4-2", "9111-4.4-5"), arguments: unsafe,
        [200, 204, 303, 399] as [HTTP.Status])
    func `an unsafe request that succeeds makes the cache forget its URL`(method: HTTP.Method, status: HTTP.Status) {
        CacheScenario(
            "\(method) \(status)", .first(Self.fresh), CacheStep(method: method, status: status, expects: .network),
            .then(.network)
        ).play()
    }

    @Test(.rules("9111-4.4-3"), arguments: unsafe, [400, 404, 500, 503] as [HTTP.Status])
    func `an unsafe request that fails does not`(method: HTTP.Method, status: HTTP.Status) {
        CacheScenario(
            "\(method) \(status)", .first(Self.fresh), CacheStep(method: method, status: status, expects: .network),
            .then(.cache)
        ).play()
    }

    @Test(arguments: ["OPTIONS", "TRACE"] as [HTTP.Method])
    func `a safe request makes it forget nothing, whatever it answers`(method: HTTP.Method) {
        CacheScenario(
            "\(method)", .first(Self.fresh),
            CacheStep(method: method, response: ["Location": "/a"], expects: .network), .then(.cache)
        ).play()
    }

    static let locations: [(String, Bool)] = [
        ("/b", true), ("b", true), ("https://a.test/b", true), ("https://A.test:443/b#x", true), ("/%62", true),
        ("https://b.test/b", false), ("http://a.test/b", false), ("https://a.test:444/b", false), ("/c", false),
        ("", false), ("http://", false), ("/b?c", false),
    ]

    @Test(.rules("9111-4.4-4"), arguments: locations, ["Location", "Content-Location"])
    func `a cache also forgets what the Location of the answer names, if it is of the same origin`(
        location: (String, Bool), name: String
    ) {
        let (reference, isForgotten) = location
        for method in Self.unsafe {
            CacheScenario(
                "\(method) \(reference)", CacheStep(target: "/b", response: Self.fresh, expects: .network),
                CacheStep(method: method, response: [name: reference], expects: .network),
                CacheStep(target: "/b", expects: isForgotten ? .network : .cache)
            ).play()
        }
    }

    @Test(.rules("9111-4.4-5")) func `variants are forgotten together`() {
        let response: Fields = ["Cache-Control": "max-age=9", "Vary": "Foo"]
        let cache = CacheScenario(
            "POST", .first(response, request: ["Foo": "1"]), .first(response, request: ["Foo": "2"]),
            CacheStep(method: .post, expects: .network)
        ).play()
        #expect(cache.stored.isEmpty)
    }

    @Test func `a mode that passes the cache by forgets all the same`() {
        CacheScenario(
            "off", .first(Self.fresh), CacheStep(method: .put, mode: .off, expects: .network), .then(.network)
        ).play()
    }

    private static func head(
        _ name: String, _ stored: Fields, _ answer: Fields, status: HTTP.Status = 200, then: CacheStep
    ) -> CacheScenario {
        var first = stored
        first["Cache-Control"] = "max-age=2"
        first["Template-A"] = "1"
        return CacheScenario(
            name, .first(first), CacheStep(method: .head, status: status, response: answer, expects: .network), then)
    }

    static let heads: [CacheScenario] = [
        head(
            "a longer life", [:], ["Cache-Control": "max-age=1000"],
            then: CacheStep(expects: .cache, expectsFields: ["Template-A": "1"], expectsBody: "0123456789")),
        head(
            "another field", [:], ["Cache-Control": "max-age=1000", "Template-A": "2"],
            then: .then(.cache, fields: ["Template-A": "2"])),
        head(
            "the same tag and length", ["ETag": #""a""#],
            ["Cache-Control": "max-age=1000", "ETag": #""a""#, "Content-Length": "10"], then: .then(.cache)),
        head("another length", [:], ["Cache-Control": "max-age=1000", "Content-Length": "11"], then: .then(.network)),
        head(
            "another tag", ["Last-Modified": "@-9"], ["Cache-Control": "max-age=1000", "ETag": #""b""#],
            then: .then(.confirmed)),
        head("another date", [:], ["Cache-Control": "max-age=1000", "Last-Modified": "@-9"], then: .then(.network)),
        head("not to be stored", [:], ["Cache-Control": "no-store, max-age=1000"], then: .then(.network)),
        head("an error", [:], ["Cache-Control": "max-age=1000"], status: 500, then: .then(.network)),
    ]

    @Test(.rules("9111-3.2-1", "9111-4.3.5-1", "9111-4.3.5-2"), arguments: heads)
    func `a HEAD confirms what is stored, or casts doubt on it`(scenario: CacheScenario) {
        scenario.play()
    }

    @Test(.rules("9111-4.3.5-2")) func `a response that a HEAD casts doubt on is revalidated, however fresh`() {
        for (status, response) in [(200, ["ETag": #""b""#]), (404, [:]), (410, [:])] as [(HTTP.Status, Fields)] {
            CacheScenario(
                "\(status)", .first(["Cache-Control": "max-age=99", "ETag": #""a""#], pause: 0),
                CacheStep(
                    method: .head, mode: .reloading, status: status, response: response, expects: .network),
                .then(.confirmed, sent: ["If-None-Match": #""a""#]), .then(.cache)
            ).play()
        }
    }

    @Test func `a HEAD that passes the cache by changes nothing`() {
        CacheScenario(
            "off", .first(Self.fresh),
            CacheStep(method: .head, mode: .off, response: ["ETag": #""b""#], expects: .network), .then(.cache)
        ).play()
    }

    @Test(.rules("9111-4-2")) func `a HEAD is answered by what a GET brought`() {
        CacheScenario(
            "fresh", .first(["Cache-Control": "max-age=9", "Content-Length": "10"]),
            CacheStep(
                method: .head, expects: .cache, expectsStatus: 200,
                expectsFields: ["Content-Length": "10", "Age": "3"],
                expectsBody: "")
        ).play()
        CacheScenario(
            "stale", .first(["Cache-Control": "max-age=1", "ETag": #""a""#]),
            CacheStep(
                method: .head, response: ["Cache-Control": "max-age=9"], confirms: true, expects: .confirmed,
                expectsBody: ""), .then(.cache)
        ).play()
    }
}
