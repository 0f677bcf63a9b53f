import DunlinSemantics
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `Vary in a cache` {
    /// What is asked for first, what the answer varies by, what is asked for then, and whether that is answered.
    private static func vary(
        _ name: String, _ first: Fields, _ vary: String..., then: Fields, _ source: CacheSight.Source
    ) -> CacheScenario {
        var response: Fields = ["Cache-Control": "max-age=5000", "Last-Modified": "@-3000", "Date": "@0"]
        for value in vary { response.append(name: "Vary", value: value) }
        return CacheScenario(name, .first(response, request: first), .then(source, request: then))
    }

    static let one: Fields = ["Foo": "1"]
    static let three: Fields = ["Foo": "1", "Bar": "abc", "Baz": "789"]

    static let selecting: [CacheScenario] = [
        vary("the same", one, "Foo", then: one, .cache), vary("another", one, "Foo", then: ["Foo": "2"], .network),
        vary("none before", [:], "Foo", then: one, .network), vary("none now", one, "Foo", then: [:], .network),
        vary("none twice", [:], "Foo", then: [:], .cache),
        vary("empty is not none", [:], "Foo", then: ["Foo": ""], .network),
        vary("not named", ["Foo": "1", "Other": "2"], "Foo", then: ["Foo": "1", "Other": "3"], .cache),
        vary("two", ["Foo": "1", "Bar": "abc"], "Foo, Bar", then: ["Foo": "1", "Bar": "abc"], .cache),
        vary("two, one differs", ["Foo": "1", "Bar": "a"], "Foo, Bar", then: ["Foo": "2", "Bar": "a"], .network),
        vary("two, one is missing", ["Foo": "1", "Bar": "abc"], "Foo, Bar", then: one, .network),
        vary("two, both are missing", ["Foo": "1", "Bar": "abc"], "Foo, Bar", then: [:], .network),
        vary("three", three, "Foo, Bar, Baz", then: three, .cache),
        vary("three, one differs", three, "Foo, Bar, Baz", then: ["Foo": "2", "Bar": "abc", "Baz": "789"], .network),
        vary(
            "three, in another order", three, "Foo, Bar, Baz", then: ["Foo": "1", "Baz": "789", "Bar": "abcde"],
            .network),
        vary(
            "three, one never there", ["Foo": "1", "Baz": "789"], "Foo, Bar, Baz", then: ["Foo": "1", "Baz": "789"],
            .cache),
        vary("in two fields", three, "Foo", "Bar", then: ["Foo": "1", "Bar": "x"], .network),
        vary("in any case", one, "fOO", then: ["FOO": "1"], .cache), vary("nobody", one, "", then: [:], .cache),
        vary("itself twice", one, "Foo, foo", then: one, .cache),
    ]

    @Test(.rules("9110-12.5.5-1", "9111-4-3", "9111-4.1-1", "9111-4.1-3"), arguments: selecting)
    func `a response fits requests with the fields that it varies by`(
        scenario: CacheScenario
    ) {
        scenario.play()
    }

    static let stars: [CacheScenario] = [
        vary("*", three, "*", then: three, .network), vary("*, *", three, "*, *", then: three, .network),
        vary("* | *", three, "*", "*", then: three, .network), vary(", *", three, ", *", then: three, .network),
        vary("  | *", three, "", "*", then: three, .network), vary("*, Foo", three, "*, Foo", then: three, .network),
        vary("Foo, *", three, "Foo, *", then: three, .network),
        vary("Foo | *", three, "Foo", "*", then: three, .network),
        vary("Foo Bar", three, "Foo Bar", then: three, .network), vary("Foo@", three, "Foo@", then: three, .network),
        vary(#""Foo""#, three, #""Foo""#, then: three, .network),
    ]

    @Test(.rules("9111-4.1-4"), arguments: stars)
    func `a response that varies by everything, or by unreadable names, matches nothing`(
        scenario: CacheScenario
    ) {
        scenario.play()
    }

    private static func normal(_ name: String, _ first: String..., then: String..., source: CacheSight.Source = .cache)
        -> CacheScenario
    {
        var (before, after) = (Fields(), Fields())
        for value in first { before.append(name: name, value: value) }
        for value in then { after.append(name: name, value: value) }
        return vary("\(name): \(first) and \(then)", before, name, then: after, source)
    }

    static let normalised: [CacheScenario] = [
        normal("Foo", "1,2", then: " 1, 2 "), normal("Foo", "1, 2", then: "1", "2"),
        normal("Foo", "1, 2", then: "2, 1", source: .network), normal("Foo", "a", then: "A", source: .network),
        normal("Foo", #""1, 2""#, then: #""1,2""#, source: .network),
        normal("Foo", "1 2", then: "1  2", source: .network),
        normal("Foo", #""\", 1""#, then: #""\",1""#, source: .network),
        normal("Accept-Language", "en, de", then: "de, en"), normal("Accept-Language", "en, de", then: "eN, De"),
        normal("Accept-Language", "en, de", then: " en ,   de"),
        normal("Accept-Language", "en;q=0.5, de", then: "de,en; q=0.5"),
        normal("Accept-Language", "en;q=0.5, de", then: "de;q=0.5, en", source: .network),
        normal("Accept-Encoding", "gzip, br", then: "br,gzip"),
        normal("Accept-Encoding", "gzip", then: "br", source: .network),
        normal("Accept", "text/html;a=B", then: "text/html;a=b", source: .network),
    ]

    @Test(.rules("9110-5.5-4", "9111-4.1-2"), arguments: normalised) func `values that mean the same select the same`(
        scenario: CacheScenario
    ) {
        scenario.play()
    }

    private static func variant(_ value: String, body: String, _ vary: String = "Foo") -> CacheStep {
        .first(["Cache-Control": "max-age=5000", "Vary": vary], request: ["Foo": value], body: body, pause: 1)
    }

    static let variants: [CacheScenario] = [
        CacheScenario(
            "each by itself", variant("1", body: "one"), variant("2", body: "two"),
            CacheStep(request: ["Foo": "1"], expects: .cache, expectsBody: "one"),
            CacheStep(request: ["Foo": "2"], expects: .cache, expectsBody: "two")),
        CacheScenario(
            "the newer of one",
            .first(["Cache-Control": "max-age=1", "Vary": "Foo"], request: ["Foo": "1"], body: "old"),
            variant("1", body: "new"), CacheStep(request: ["Foo": "1"], expects: .cache, expectsBody: "new")),
        CacheScenario(
            "one that does not vary does not hide those that do",
            .first(["Cache-Control": "max-age=1"], body: "for all"), variant("1", body: "one"),
            CacheStep(request: ["Foo": "2"], response: ["Cache-Control": "max-age=9"], body: "x", expects: .network),
            CacheStep(request: ["Foo": "1"], expects: .cache, expectsBody: "one")),
        CacheScenario(
            "what varies goes before a newer one that does not", variant("1", body: "one"),
            CacheStep(request: ["Foo": "2"], response: ["Cache-Control": "max-age=9"], body: "x", expects: .network),
            CacheStep(request: ["Foo": "1"], expects: .cache, expectsBody: "one"),
            CacheStep(request: ["Foo": "2"], expects: .cache, expectsBody: "x")),
        CacheScenario(
            "a 304 that varies by more",
            .first(["Cache-Control": "max-age=1", "ETag": #""a""#, "Vary": "Foo"], request: ["Foo": "1", "Bar": "1"]),
            CacheStep(
                request: ["Foo": "1", "Bar": "2"],
                response: ["Cache-Control": "max-age=90", "ETag": #""a""#, "Vary": "Foo, Bar"], confirms: true,
                expects: .confirmed),
            .then(.network, request: ["Foo": "1", "Bar": "1"]),
            .then(.cache, request: ["Foo": "1", "Bar": "2"])),
        CacheScenario(
            "a 304 that varies by everything",
            .first(["Cache-Control": "max-age=1", "ETag": #""a""#]),
            CacheStep(
                response: ["Cache-Control": "max-age=90", "ETag": #""a""#, "Vary": "*"], confirms: true,
                expects: .confirmed), .then(.network)),
    ]

    @Test(.rules("9111-2-2", "9111-4-8", "9111-4.1-5"), arguments: variants)
    func `variants are stored beside each other`(scenario: CacheScenario) { scenario.play() }

    @Test func `a question about a variant has the fields that selected it`() {
        CacheScenario(
            "Abc",
            .first(["Expires": "@1", "ETag": #""abcdef""#, "Date": "@0", "Vary": "Abc"], request: ["Abc": "123"]),
            .then(.confirmed, request: ["Abc": "123"], sent: ["Abc": "123", "If-None-Match": #""abcdef""#]),
            .then(.network, request: ["Abc": "456"], sent: ["If-None-Match": nil])
        ).play()
    }

    private static func credentials(_ directives: String, then: String?, _ source: CacheSight.Source) -> CacheScenario {
        CacheScenario(
            "\(directives) for \(then ?? "nobody")",
            .first(["Cache-Control": directives, "Date": "@0"], request: ["Authorization": "FOO"]),
            .then(source, request: then.map { ["Authorization": $0] } ?? [:]))
    }

    static let authorised: [CacheScenario] = [
        credentials("max-age=3600", then: "FOO", .cache), credentials("max-age=3600", then: "BAR", .network),
        credentials("max-age=3600", then: nil, .network), credentials("max-age=3600, public", then: "BAR", .cache),
        credentials("max-age=3600, public", then: nil, .cache),
        credentials("max-age=3600, must-revalidate", then: nil, .cache),
        credentials("max-age=3600, s-maxage=1", then: nil, .cache),
        credentials("private, max-age=9", then: nil, .network),
        credentials("private, must-revalidate, max-age=9", then: "BAR", .network),
        CacheScenario(
            "Expires", .first(["Expires": "@2592000", "Date": "@0"], request: ["Authorization": "FOO"]),
            .then(.network)),
        CacheScenario(
            "asked for without", .first(["Cache-Control": "max-age=9"]),
            .then(.cache, request: ["Authorization": "FOO"])),
    ]

    @Test(.rules("9111-5.2.2-10"), arguments: authorised)
    func `what was asked for with credentials is for these, unless it says otherwise`(
        scenario: CacheScenario
    ) {
        scenario.play()
    }

    @Test func `values of secret fields are kept as hashes, and shown to nobody`() throws {
        let cache = CacheScenario(
            "Cookie",
            .first(["Cache-Control": "max-age=9", "Vary": "Cookie, Foo"], request: ["Cookie": "s=1", "Foo": "2"]),
            .then(.cache, request: ["Cookie": "s=1", "Foo": "2"]),
            .then(.network, request: ["Cookie": "s=2", "Foo": "2"])
        ).play()
        let selecting = try #require(cache.stored.first).entry.selecting
        #expect(selecting.members.map(\.value) == [Bytes("1=s#"), Bytes("2")])
        #expect("\(selecting)" == "cookie, foo")
        var dumped = ""
        dump(cache.stored, to: &dumped)
        #expect(!dumped.contains("1=s"))
    }

    @Test(arguments: [("Cf-Access-Jwt-Assertion", "s=1"), ("X-Callback", "//a.test/?token=s=1")])
    func `values that are not shown are kept as hashes too`(name: String, value: String) throws {
        let cache = CacheScenario(
            name, .first(["Cache-Control": "public, max-age=9", "Vary": name], request: [name: value]),
            .then(.cache, request: [name: value])
        ).play()
        let selecting = try #require(cache.stored.first).entry.selecting
        #expect(selecting.members.map(\.value) == [Bytes(value.utf8.reversed() + [UInt8(ascii: "#")])])
    }

    @Test func `what a caller marked as sensitive is secret, whatever its name`() throws {
        var request = Fields()
        request.append(name: "Foo", value: "s=1", sensitive: true)
        let head = RequestHead(method: .get, origin: PlayedCache.origin, target: "/a", fields: request)
        var machine = CacheMachine(CacheRequest(head), candidates: [], rules: PlayedCache.rules)
        _ = machine.begin(at: 0)
        let answer = ResponseHead(status: 200, fields: ["Cache-Control": "max-age=9", "Vary": "Foo"])
        guard case .store(let draft, _)? = machine.answered(by: answer, sentAt: 0, receivedAt: 0).changes.first else {
            Issue.record("not stored")
            return
        }
        #expect(draft.entry.selecting.members.map(\.value) == [Bytes("1=s#")])
    }

    @Test func `a response varies by what was sent`() throws {
        let head = RequestHead(
            method: .get, origin: PlayedCache.origin, target: "/a", fields: ["Foo": "1", "Authorization": "a"])
        var machine = CacheMachine(CacheRequest(head), candidates: [], rules: PlayedCache.rules)
        _ = machine.begin(at: 0)
        let answer = ResponseHead(
            status: 200, fields: ["Cache-Control": "max-age=9", "Vary": "Foo, Bar, Authorization, If-None-Match"])
        let sent: Fields = ["Bar": "2", "Authorization": "b", "If-None-Match": "c"]
        let update = machine.answered(by: answer, to: sent, sentAt: 0, receivedAt: 0)
        guard case .store(let draft, _)? = update.changes.first else {
            Issue.record("not stored")
            return
        }
        #expect(draft.entry.selecting.members.map(\.value) == [nil, Bytes("2"), Bytes("a#"), nil])
    }

    @Test(.rules("9111-2-1", "9111-4-1")) func `entries of other URLs are none of the request's`() {
        let stored = CacheScenario("a", .first(["Cache-Control": "max-age=9"])).play().stored.map(\.entry)
        let head = RequestHead(method: .get, origin: PlayedCache.origin, target: "/b")
        var machine = CacheMachine(CacheRequest(head), candidates: stored, rules: PlayedCache.rules)
        guard case .send = machine.begin(at: PlayedCache().now) else {
            Issue.record("served")
            return
        }
    }

    @Test func `a response that depends on a secret is not stored if the secret cannot be hashed`() {
        let response: Fields = ["Cache-Control": "max-age=9", "Vary": "Cookie"]
        let scenario = CacheScenario(
            "Cookie", .first(response, request: ["Cookie": "s"]), .then(.network, request: ["Cookie": "s"]))
        scenario.play(CacheRules { _, _ in nil })
    }

    @Test(
        .rules("9110-4.2.3-2", "9111-2-1"),
        arguments: [
            ("/a", "/a", true), ("/a?b=1", "/a?b=1", true), ("/a?b=1", "/a?b=2", false), ("/a?", "/a", false),
            ("/%7Ea%2d", "/~a-", true), ("/%2f", "/%2F", true), ("/%2F", "//", false), ("/a", "/A", false),
            ("/%41?%42=%3d", "/A?B=%3D", true), ("/%zz", "/%ZZ", false), ("/%", "/%25", false), ("/%E4", "/%e4", true),
        ])
    func `a key is the URL in its normal form`(left: String, right: String, areEqual: Bool) {
        let origin = PlayedCache.origin
        #expect((CacheKey(origin: origin, target: left) == CacheKey(origin: origin, target: right)) == areEqual)
    }

    @Test func `a key has all of the origin, and the address it is found at`() {
        func key(_ scheme: HTTP.Origin.Scheme, _ host: String, _ port: UInt16?, _ path: String? = nil) -> CacheKey {
            let origin = HTTP.Origin(scheme: scheme, host: host, port: port)
            let route = path.map { HTTP.Route(address: .unix($0)) }
            return CacheKey(origin: route.map { origin.over($0) } ?? origin, target: "/")
        }
        #expect(key(.https, "a.test", 443) == key(.https, "a.test", nil))
        let keys: Set = [
            key(.https, "a.test", nil), key(.http, "a.test", nil), key(.https, "b.test", nil),
            key(.https, "a.test", 444), key(.https, "a.test", nil, "/run/a"), key(.https, "a.test", nil, "/run/b"),
        ]
        #expect(keys.count == 6)
        let secret = CacheKey(origin: PlayedCache.origin, target: "/a?token=x")
        #expect("\(secret)" == "https://a.test/a?token=***")
        #expect(CacheKey(text: secret.text) == secret)
    }
}
