import DunlinSemantics
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `Validation by a cache` {
    private static let before = HTTPDateText.at(-86_400)

    /// What is stored, what the cache asks with, and what the answer's fields are.
    static let questions: [CacheScenario] = [
        CacheScenario(
            "a strong tag", .first(["Cache-Control": "max-age=2", "ETag": #""abcdef""#]),
            .then(.confirmed, sent: ["If-None-Match": #""abcdef""#, "If-Modified-Since": nil])),
        CacheScenario(
            "a weak tag", .first(["Cache-Control": "max-age=2", "ETag": #"W/"abcdef""#]),
            .then(.confirmed, sent: ["If-None-Match": #"W/"abcdef""#])),
        CacheScenario(
            "a date", .first(["Cache-Control": "max-age=2", "Last-Modified": before]),
            .then(.confirmed, sent: ["If-None-Match": nil, "If-Modified-Since": before])),
        CacheScenario(
            "both", .first(["Cache-Control": "max-age=2", "Last-Modified": before, "ETag": #""a""#]),
            .then(.confirmed, sent: ["If-None-Match": #""a""#, "If-Modified-Since": before])),
        CacheScenario(
            "both, of a part",
            .first(["Cache-Control": "max-age=2", "Last-Modified": before, "ETag": #""a""#]),
            .then(
                .confirmed, request: ["Range": "bytes=1-2"],
                sent: ["If-None-Match": #""a""#, "If-Modified-Since": nil, "Range": "bytes=1-2"])),
        CacheScenario(
            "nothing", .first(["Cache-Control": "max-age=2"]),
            .then(.network, sent: ["If-None-Match": nil, "If-Modified-Since": nil])),
        CacheScenario(
            "nothing that can be sent", .first(["Cache-Control": "max-age=2", "ETag": "*", "Last-Modified": "x"]),
            .then(.network, sent: ["If-None-Match": nil, "If-Modified-Since": nil])),
        CacheScenario(
            "a tag without quotes", .first(["Cache-Control": "max-age=2", "ETag": "abcdef"]),
            .then(.confirmed, sent: ["If-None-Match": "abcdef"])),
    ]

    @Test(.rules("9110-13.1.2-2", "9110-13.1.3-3", "9111-4.3.1-1", "9111-4.3.1-2"), arguments: questions)
    func `a cache asks by the validators that it has`(scenario: CacheScenario) {
        scenario.play()
    }

    @Test(.rules("9111-3.2-1", "9111-4.3.3-1")) func `fields that a 304 leaves out stay as stored`() {
        CacheScenario(
            "Test-Header",
            .first(["Cache-Control": "max-age=2", "Last-Modified": Self.before, "Date": "@0", "Test-Header": "A"]),
            CacheStep(
                response: ["Last-Modified": Self.before, "Date": "@0"], confirms: true, expects: .confirmed,
                expectsStatus: 200, expectsFields: ["Test-Header": "A", "Age": "0"], expectsBody: "0123456789")
        ).play()
    }

    static let updates: [(String, String, String, Bool)] = [
        ("Test-Header", "A", "B", true), ("X-Test-Header", "A", "B", true), ("Content-Foo", "A", "B", true),
        ("X-Content-Foo", "A", "B", true), ("Cache-Control", "max-age=1", "max-age=3600", true),
        ("Content-Encoding", "A", "B", false), ("Content-Length", "10", "20", false),
        ("Content-Range", "A", "B", false), ("Content-Location", "/foo", "/bar", true),
        ("Content-MD5", "A", "B", true), ("Content-Security-Policy", "A", "B", true),
        ("Content-Type", "text/plain", "text/plain;charset=utf-8", true), ("Clear-Site-Data", "cache", "cookies", true),
        ("Expires", "Fri, 01 Jan 2038 01:01:01 GMT", "Mon, 11 Jan 2038 11:11:11 GMT", true),
        ("Public-Key-Pins", "A", "B", true), ("Set-Cookie", "a=b", "a=c", true), ("Set-Cookie2", "a=b", "a=c", true),
        ("X-Frame-Options", "deny", "sameorigin", true), ("X-XSS-Protection", "1", "1; mode=block", true),
    ]

    @Test(.rules("9111-3.2-1", "9111-3.2-3", "9111-3.2-4"), arguments: updates)
    func `a 304 updates all fields but those that describe the stored body`(
        name: String, old: String, new: String, isUpdated: Bool
    ) {
        func response(_ value: String) -> Fields {
            var fields: Fields = ["Date": "@0", "ETag": #""tag""#, name: value]
            if name != "Cache-Control" { fields["Cache-Control"] = "max-age=2" }
            return fields
        }
        let value = isUpdated ? new : old
        CacheScenario(
            name, .first(response(old)),
            CacheStep(response: response(new), confirms: true, expects: .confirmed, expectsFields: [name: value]),
            .then(.cache, fields: [name: value])
        ).play()
    }

    @Test(.rules("9111-3.2-2")) func `fields of the connection are no part of what a 304 updates`() {
        CacheScenario(
            "Connection", .first(["Cache-Control": "max-age=2", "ETag": #""a""#, "a": "1", "Age": "1"]),
            CacheStep(
                response: ["Connection": "a", "a": "2", "Upgrade": "x", "Cache-Control": "max-age=9"], confirms: true,
                pause: 3, expects: .confirmed, expectsFields: ["a": "1", "Connection": nil, "Upgrade": nil]),
            .then(.cache, fields: ["a": "1", "Age": "3"])
        ).play()
    }

    /// The validators of what is stored and of the 304, and whether that is about it.
    static let names: [(Fields, Fields, Bool)] = [
        (["ETag": #""a""#], ["ETag": #""a""#], true), (["ETag": #""a""#], [:], true),
        (["ETag": #""a""#], ["ETag": #""b""#], false), (["ETag": #""a""#], ["ETag": #"W/"a""#], true),
        (["ETag": #"W/"a""#], ["ETag": #""a""#], false), (["ETag": #"W/"a""#], ["ETag": #"W/"a""#], true),
        (["ETag": #"W/"a""#], ["ETag": #"W/"b""#], false), (["ETag": #""a""#], ["ETag": "a"], false),
        (["ETag": #""a""#], ["ETag": #""a""#, "etag": #""b""#], false),
        (["Last-Modified": before], ["Last-Modified": before], true), (["Last-Modified": before], [:], true),
        (["Last-Modified": before], ["Last-Modified": HTTPDateText.now], false),
        (["Last-Modified": before], ["ETag": #""a""#], false),
        (["ETag": #""a""#, "Last-Modified": before], ["Last-Modified": before], true),
        (["ETag": #""a""#, "Last-Modified": before], ["Last-Modified": HTTPDateText.now], false),
    ]

    @Test(.rules("9110-15.4.5-2", "9111-4.3.4-1", "9111-4.3.4-2", "9111-4.3.4-3", "9111-4.3.4-4"), arguments: names)
    func `a 304 that names another state confirms nothing, so the request is sent again`(
        stored: Fields, answer: Fields, isConfirmed: Bool
    ) {
        var first = stored
        first["Cache-Control"] = "max-age=2"
        var cache = CacheScenario("first", .first(first)).play()
        let sight = cache.play(CacheStep(response: answer, confirms: true))
        #expect(sight.source == (isConfirmed ? .confirmed : .network))
        #expect(sight.sent.count == (isConfirmed ? 1 : 2))
        #expect(isConfirmed || sight.sent.last?.contains("if-none-match") == false)
    }

    @Test(.rules("9111-4.3.3-2")) func `what a full answer brings replaces what was asked about`() {
        CacheScenario(
            "200", .first(["Cache-Control": "max-age=2", "ETag": #""a""#], body: "old"),
            CacheStep(
                response: ["Cache-Control": "max-age=9", "ETag": #""b""#], body: "new", expects: .network,
                expectsBody: "new"), CacheStep(expects: .cache, expectsBody: "new")
        ).play()
    }

    @Test func `a 304 that forbids storing is obeyed, and the answer is served once more`() {
        CacheScenario(
            "no-store", .first(["Cache-Control": "max-age=2", "ETag": #""a""#]),
            CacheStep(
                response: ["Cache-Control": "no-store", "ETag": #""a""#], confirms: true, expects: .confirmed,
                expectsBody: "0123456789"), .then(.network, sent: ["If-None-Match": nil])
        ).play()
    }
}

@Suite struct `Conditions of a request's own` {
    private static let fresh = "max-age=100000"

    private static func tag(_ stored: String, _ asked: String, _ status: HTTP.Status) -> CacheScenario {
        CacheScenario(
            "\(stored), \(asked)", .first(["Cache-Control": fresh, "ETag": stored, "X-A": "1"]),
            CacheStep(
                request: ["If-None-Match": asked], expects: .cache, expectsStatus: status,
                expectsFields: ["ETag": stored, "X-A": status == 200 ? "1" : nil, "Age": "3"],
                expectsBody: status == 200 ? "0123456789" : ""))
    }

    private static func date(_ modified: String?, _ asked: String, _ status: HTTP.Status) -> CacheScenario {
        var fields: Fields = ["Cache-Control": fresh, "Date": "@0"]
        if let modified { fields["Last-Modified"] = modified }
        return CacheScenario(
            "\(modified ?? "no date"), \(asked)", .first(fields),
            CacheStep(request: ["If-Modified-Since": asked], expects: .cache, expectsStatus: status))
    }

    static let judged: [CacheScenario] = [
        tag(#""abcdef""#, #""abcdef""#, 304), tag(#"W/"abcdef""#, #"W/"abcdef""#, 304),
        tag(#"W/"abcdef""#, #""abcdef""#, 304), tag(#""abcdef""#, #"W/"abcdef""#, 304),
        tag(#""abcdef""#, #""abcdef", "1234", "5678""#, 304), tag(#""abcdef""#, #""1234", "abcdef", "5678""#, 304),
        tag(#""abcdef""#, #""1234","5678" , "abcdef""#, 304), tag(#""abcdef""#, #""1234""#, 200),
        tag(#""abcdef""#, "*", 304), tag(#""a,b""#, #""x", "a,b""#, 304), tag("\"f\u{FC}\"", "\"f\u{FC}\"", 304),
        tag("abcdef", #""abcdef""#, 200),
        date(HTTPDateText.at(-3000), HTTPDateText.at(-3000), 304),
        date(HTTPDateText.at(-3000), HTTPDateText.at(-2000), 304),
        date(HTTPDateText.at(-3000), HTTPDateText.at(-3001), 200), date(nil, HTTPDateText.at(0), 304),
        date(nil, HTTPDateText.at(-3000), 200), date(HTTPDateText.at(-3000), "yesterday", 200),
        date("Wednesday, 01-Nov-23 00:00:00 GMT", "Wednesday, 01-Nov-23 00:00:00 GMT", 304),
        CacheScenario(
            "a tag before a date",
            .first(["Cache-Control": fresh, "Last-Modified": "@-5000", "ETag": #""a""#, "Date": "@0"]),
            CacheStep(
                request: ["If-None-Match": #""a""#, "If-Modified-Since": HTTPDateText.at(-9000)], expects: .cache,
                expectsStatus: 304),
            CacheStep(
                request: ["If-None-Match": #""b""#, "If-Modified-Since": HTTPDateText.now], expects: .cache,
                expectsStatus: 200)),
        CacheScenario(
            "of an error", .first(["Cache-Control": fresh, "ETag": #""a""#], status: 404),
            CacheStep(request: ["If-None-Match": #""a""#], expects: .cache, expectsStatus: 404)),
        CacheScenario(
            "a HEAD", .first(["Cache-Control": fresh, "ETag": #""a""#]),
            CacheStep(method: .head, request: ["If-None-Match": #""a""#], expects: .cache, expectsStatus: 304)),
    ]

    @Test(.rules("9111-4.3.2-5")) func `a 304 from the cache has the fields that a 304 has`() {
        let stored: Fields = [
            "Cache-Control": "max-age=9", "Content-Location": "/b", "Date": "@0", "ETag": #""a""#, "Expires": "@9",
            "Vary": "Foo", "Last-Modified": "@-9", "Content-Type": "text/plain", "Set-Cookie": "a=b",
        ]
        CacheScenario(
            "a tag", .first(stored),
            CacheStep(
                request: ["If-None-Match": #""a""#], expects: .cache, expectsStatus: 304,
                expectsFields: [
                    "Cache-Control": "max-age=9", "Content-Location": "/b", "Date": HTTPDateText.now, "ETag": #""a""#,
                    "Expires": HTTPDateText.at(9), "Vary": "Foo", "Last-Modified": nil, "Content-Type": nil,
                    "Set-Cookie": nil, "Age": "3",
                ])
        ).play()
        CacheScenario(
            "a date", .first(["Cache-Control": "max-age=9", "Last-Modified": "@-9", "Date": "@0"]),
            CacheStep(
                request: ["If-Modified-Since": HTTPDateText.now], expects: .cache, expectsStatus: 304,
                expectsFields: ["Last-Modified": HTTPDateText.at(-9)])
        ).play()
    }

    @Test(
        .rules("9110-13.1.2-1", "9110-13.1.3-1", "9110-13.1.3-2", "9110-13.2-1", "9110-13.2-2", "9111-4.3.2-1"),
        arguments: judged) func `a condition is judged by what is fresh`(scenario: CacheScenario)
    { scenario.play() }

    @Test(.rules("9110-15.4.5-3", "9111-4.3.2-3"))
    func `a condition about what is stale goes to the origin, and its 304 to the caller`() {
        CacheScenario(
            "stale", .first(["Cache-Control": "max-age=2", "Last-Modified": "@-3000", "Date": "@0"]),
            CacheStep(
                request: ["If-Modified-Since": HTTPDateText.at(-3000)], response: ["Cache-Control": "max-age=90"],
                confirms: true, expects: .network, expectsStatus: 304, expectsBody: "",
                expectsSent: ["If-Modified-Since": HTTPDateText.at(-3000)]),
            CacheStep(expects: .cache, expectsStatus: 200, expectsBody: "0123456789")
        ).play()
    }

    static let confirming: [(String, Fields, Bool)] = [
        (#""a""#, ["ETag": #""a""#], true), (#""a""#, [:], true), (#""b""#, ["ETag": #""b""#], false),
        (#""b""#, [:], false), (#""b", "a""#, ["ETag": #""b""#], false), (#""b", "a""#, ["ETag": #""a""#], true),
    ]

    @Test(.rules("9111-4.3.4-1"), arguments: confirming)
    func `a 304 for the caller confirms what is stored only if it names it`(
        asked: String, answer: Fields, isConfirmed: Bool
    ) {
        var answer = answer
        answer["Cache-Control"] = "max-age=90"
        CacheScenario(
            asked, .first(["Cache-Control": "max-age=2", "ETag": #""a""#]),
            CacheStep(
                request: ["If-None-Match": asked], response: answer, confirms: true, expects: .network,
                expectsStatus: 304), .then(isConfirmed ? .cache : .network)
        ).play()
    }

    static let others: [Fields] = [
        ["If-Match": #""a""#], ["If-Unmodified-Since": HTTPDateText.now], ["If-None-Match": "a"],
        ["If-None-Match": ""], ["If-None-Match": #""a", b"#], ["If-None-Match": #""a" "b""#],
    ]

    @Test(.rules("9110-13.1.1-1", "9110-13.1.4-1", "9111-4.3.2-2", "9111-7.1-1"), arguments: others)
    func `what only the origin can judge goes there as it is`(request: Fields) {
        var cache = CacheScenario("first", .first(["Cache-Control": "max-age=9", "ETag": #""a""#])).play()
        let sight = cache.play(CacheStep(request: request, status: 412))
        #expect(sight.source == .network)
        #expect(sight.sent == [request])
        #expect(cache.play(CacheStep()).source == .cache)
    }

    @Test(.rules("9111-4.3.2-3")) func `a condition is sent as it is where nothing is stored`() {
        CacheScenario("none", .then(.network, request: ["If-None-Match": #""a""#], sent: ["If-None-Match": #""a""#]))
            .play()
    }
}
