import DunlinSemantics
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `Directives in a cache` {
    private static let fresh: Fields = ["Cache-Control": "max-age=3600"]

    private static func asked(
        _ directives: String, of response: Fields, _ source: CacheSight.Source, pause: Int64 = 3,
        sent: [String: String?] = [:]
    ) -> CacheScenario {
        CacheScenario(
            "\(directives) of \(response["cache-control"] ?? "")", .first(response, pause: pause),
            .then(source, request: ["Cache-Control": directives], sent: sent))
    }

    static let requests: [CacheScenario] = [
        asked("max-age=0", of: fresh, .network), asked("max-age=0", of: fresh, .network, pause: 0),
        asked("max-age=1", of: fresh, .network), asked("max-age=3", of: fresh, .cache),
        asked("max-age=600", of: ["Cache-Control": "max-age=3600", "Age": "1800"], .network),
        asked("max-stale=1000", of: ["Cache-Control": "max-age=1"], .cache),
        asked("max-stale", of: ["Cache-Control": "max-age=1"], .cache),
        asked("max-stale=2", of: ["Cache-Control": "max-age=1"], .cache),
        asked("max-stale=1", of: ["Cache-Control": "max-age=1"], .network),
        asked("max-stale=x", of: ["Cache-Control": "max-age=1"], .network),
        asked("max-stale=1000", of: ["Cache-Control": "max-age=1500", "Age": "2000"], .cache),
        asked("max-stale=1000", of: ["Cache-Control": "max-age=1, must-revalidate"], .network),
        asked("max-stale=1000", of: ["Cache-Control": "max-age=1, no-cache"], .network),
        asked("max-stale=1000, max-age=2", of: ["Cache-Control": "max-age=1"], .network),
        asked("max-stale=1000, min-fresh=1", of: ["Cache-Control": "max-age=1"], .network),
        asked("min-fresh=2000", of: ["Cache-Control": "max-age=1500"], .network),
        asked("min-fresh=1497", of: ["Cache-Control": "max-age=1500"], .cache),
        asked("min-fresh=1498", of: ["Cache-Control": "max-age=1500"], .network),
        asked("min-fresh=1000", of: ["Cache-Control": "max-age=1500", "Age": "1000"], .network),
        asked("min-fresh", of: fresh, .network), asked("no-cache", of: fresh, .network),
        asked(
            "no-cache", of: ["Cache-Control": "max-age=3600", "Last-Modified": HTTPDateText.at(-10_000), "Date": "@0"],
            .confirmed, sent: ["If-Modified-Since": HTTPDateText.at(-10_000), "If-None-Match": nil]),
        asked(
            "no-cache", of: ["Cache-Control": "max-age=3600", "ETag": #""abc""#], .confirmed,
            sent: ["If-None-Match": #""abc""#]),
        asked("no-store", of: fresh, .network), asked("only-if-cached", of: fresh, .cache),
        asked("only-if-cached", of: ["Cache-Control": "max-age=1"], .unavailable),
        asked("only-if-cached, max-stale", of: ["Cache-Control": "max-age=1"], .cache),
        asked("only-if-cached, no-cache", of: fresh, .unavailable), asked("no-transform, foo=bar", of: fresh, .cache),
        CacheScenario("nothing stored", .then(.unavailable, request: ["Cache-Control": "only-if-cached"])),
        CacheScenario("Pragma", .first(fresh), .then(.network, request: ["Pragma": "no-cache"])),
        CacheScenario("another Pragma", .first(fresh), .then(.cache, request: ["Pragma": "unrecognised-extension"])),
        CacheScenario(
            "not stored", .first(fresh, request: ["Cache-Control": "no-store"]), .then(.network)),
    ]

    @Test(
        .rules(
            "9111-3-6", "9111-5.2-1", "9111-5.2-4", "9111-5.2.1-1", "9111-5.2.1-2", "9111-5.2.1-3", "9111-5.2.1-4",
            "9111-5.2.1-5", "9111-5.2.1-6", "9111-5.4-1"), arguments: requests)
    func `a request's directives are honoured`(scenario: CacheScenario) { scenario.play() }

    private static func said(_ directives: String, _ source: CacheSight.Source, _ more: Fields = [:]) -> CacheScenario {
        var fields: Fields = ["Cache-Control": directives]
        fields.append(contentsOf: more)
        return CacheScenario(directives, .first(fields), .then(source))
    }

    static let tag: Fields = ["ETag": #""abcd""#]
    static let expires: Fields = ["Expires": "@10000", "Date": "@0"]

    static let responses: [CacheScenario] = [
        said("private, max-age=3600", .cache), said(#"private="a", max-age=3600"#, .cache), said("no-store", .network),
        said("No-StOrE", .network), said("max-age=10000, no-store", .network, expires),
        said("max-age=10000, no-cache", .network, expires), said("max-age=10000, No-CaChE", .network, expires),
        said("no-cache", .confirmed, tag), said("max-age=10000, no-cache", .confirmed, tag),
        said("max-age=10000, must-revalidate", .cache, tag), said("max-age=2, must-revalidate", .confirmed, tag),
        said("max-age=10000, proxy-revalidate", .cache), said("max-age=3600, no-store, must-understand", .cache),
        said("max-age=3600, must-understand", .cache), said("max-age=10000", .cache, ["Pragma": "no-cache"]),
        said("max-age=10000", .cache, ["Pragma": "unrecognised-extension"]),
        CacheScenario(
            "a status that nobody knows",
            .first(["Cache-Control": "max-age=3600, no-store, must-understand"], status: 599), .then(.network)),
        CacheScenario(
            "and that must be known", .first(["Cache-Control": "max-age=3600, must-understand"], status: 599),
            .then(.network)),
        CacheScenario(
            "must-revalidate is over only when it is stale",
            .first(["Cache-Control": "max-age=2, must-revalidate", "ETag": #""abcd""#], pause: 0), .then(.cache)),
        CacheScenario(
            "fields that no-cache names",
            .first(["Cache-Control": #"no-cache="a, B""#, "cache-control": "max-age=9", "a": "1", "b": "2", "c": "3"]),
            .then(.cache, fields: ["a": nil, "b": nil, "c": "3"])),
        CacheScenario(
            "what no-store brings does not forget what is there",
            .first(["Cache-Control": "max-age=10000", "A": "1"]),
            CacheStep(
                request: ["Cache-Control": "no-store"], response: ["Cache-Control": "no-store", "A": "2"],
                expects: .network, expectsFields: ["A": "2"]), .then(.cache, fields: ["A": "1"])),
        CacheScenario(
            "what was asked about and is replaced by what may not be stored is forgotten",
            .first(["Cache-Control": "max-age=1", "ETag": #""a""#]),
            CacheStep(response: ["Cache-Control": "no-store", "ETag": #""b""#], expects: .network),
            .then(.network, sent: ["If-None-Match": nil])),
    ]

    @Test(
        .rules(
            "9110-15-2", "9111-3-4", "9111-3-5", "9111-3.1-3", "9111-4-4", "9111-5.2-1", "9111-5.2.2-2", "9111-5.2.2-3",
            "9111-5.2.2-4", "9111-5.2.2-5", "9111-5.2.2-6", "9111-5.2.2-8"), arguments: responses)
    func `a response's directives are obeyed`(scenario: CacheScenario) { scenario.play() }

    static let immutable: [CacheScenario] = [
        CacheScenario(
            "fresh", .first(["Cache-Control": "max-age=10000, immutable", "ETag": #""abcd""#]),
            CacheStep(mode: .validating, confirms: true, expects: .cache)),
        CacheScenario(
            "stale", .first(["Cache-Control": "max-age=2, immutable", "ETag": #""abcd""#]),
            CacheStep(
                mode: .validating, confirms: true, expects: .confirmed,
                expectsSent: ["Cache-Control": "max-age=0", "If-None-Match": #""abcd""#])),
        CacheScenario(
            "fresh, and the request insists",
            .first(["Cache-Control": "max-age=10000, immutable", "ETag": #""abcd""#]),
            CacheStep(
                mode: .validating, request: ["Cache-Control": "no-cache"], confirms: true, expects: .confirmed,
                expectsSent: ["Cache-Control": "no-cache"])),
        CacheScenario(
            "not immutable", .first(["Cache-Control": "max-age=10000", "ETag": #""abcd""#]),
            CacheStep(mode: .validating, confirms: true, expects: .confirmed)),
    ]

    @Test(arguments: immutable) func `an immutable response is not revalidated while it is fresh`(
        scenario: CacheScenario
    ) {
        scenario.play()
    }
}
