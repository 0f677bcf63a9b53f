import DunlinSemantics
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `Parts in a cache` {
    private static let digits = "0123456789"

    /// A part of the digits, as an origin answers.
    private static func part(
        _ range: Range<Int>, asked: String = "bytes=0-", _ more: Fields = ["ETag": #""a""#],
        complete: String = "10", pause: Int64 = 1
    ) -> CacheStep {
        var fields = more
        fields["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(complete)"
        fields["Content-Length"] = String(range.count)
        if !fields.contains("cache-control") { fields["Cache-Control"] = "max-age=3600" }
        let text = Array(digits)[range]
        return CacheStep(
            request: ["Range": asked], status: 206, response: fields, body: String(text), pause: pause,
            expects: .network, expectsStatus: 206)
    }

    private static func wanted(
        _ range: String, _ source: CacheSight.Source = .cache, body: String, _ content: String? = nil
    ) -> CacheStep {
        CacheStep(
            request: ["Range": range], body: "x", expects: source,
            expectsStatus: source == .cache ? 206 : 200,
            expectsFields: source == .cache
                ? ["Content-Range": content, "Content-Length": String(body.count)] : [:],
            expectsBody: source == .cache ? body : "x")
    }

    static let ofWhole: [(String, String?, String?)] = [
        ("bytes=0-1", "01", "bytes 0-1/10"), ("bytes=1-", "123456789", "bytes 1-9/10"),
        ("bytes=-1", "9", "bytes 9-9/10"), ("bytes=5-500", "56789", "bytes 5-9/10"),
        ("bytes=-500", digits, "bytes 0-9/10"), ("bytes=0-", digits, "bytes 0-9/10"),
        ("Bytes=3-3", "3", "bytes 3-3/10"), ("bytes=10-", nil, nil), ("bytes=-0", nil, nil),
        ("bytes=0-1,4-5", nil, nil), ("bytes=2-1", nil, nil), ("items=0-1", nil, nil), ("bytes=a", nil, nil),
        ("bytes=0-99999999999999999999", nil, nil), ("bytes=9223372036854775807-", nil, nil),
        ("bytes=0-9223372036854775807", digits, "bytes 0-9/10"), ("", nil, nil),
    ]

    @Test(arguments: ofWhole) func `a range is served from what is stored whole`(
        range: String, body: String?, content: String?
    ) {
        CacheScenario(
            range, .first(["Cache-Control": "max-age=3600", "A": "1"]),
            Self.wanted(range, body == nil ? .network : .cache, body: body ?? "", content)
        ).play()
    }

    @Test func `a part of what is stored coded is served only to one who asks for codings`() {
        for coding in ["gzip", "identity"] {
            let isCoded = coding != "identity"
            let asking: Fields = ["Range": "bytes=0-1", "Accept-Encoding": "gzip"]
            CacheScenario(
                coding, .first(["Cache-Control": "max-age=3600", "Content-Encoding": coding]),
                CacheStep(
                    request: ["Range": "bytes=0-1"], expects: .cache, expectsStatus: isCoded ? 200 : 206,
                    expectsBody: isCoded ? Self.digits : "01"),
                CacheStep(
                    request: ["Range": "bytes=0-1", "Accept-Encoding": "identity"], expects: .cache,
                    expectsStatus: isCoded ? 200 : 206, expectsBody: isCoded ? Self.digits : "01"),
                CacheStep(request: asking, expects: .cache, expectsStatus: 206, expectsBody: "01")
            ).play()
        }
    }

    @Test func `the fields of a range are those of the whole`() {
        CacheScenario(
            "A", .first(["Cache-Control": "max-age=3600", "A": "1", "Content-Length": "10"]),
            CacheStep(
                request: ["Range": "bytes=0-1"], expects: .cache,
                expectsFields: ["A": "1", "Content-Length": "2", "Age": "3"], expectsBody: "01")
        ).play()
    }

    /// Digests of the content of one message, and of the representation.
    private static let digests: Fields = [
        "Content-Digest": "a", "Content-MD5": "b", "Digest": "c", "Repr-Digest": "d", "Cache-Control": "max-age=3600",
        "ETag": #""a""#, "A": "1",
    ]

    @Test func `digests of the content of one message are of no other`() {
        let none: [String: String?] = ["Content-Digest": nil, "Content-MD5": nil, "Digest": nil, "Repr-Digest": "d"]
        CacheScenario(
            "a range of the whole", .first(Self.digests),
            CacheStep(
                expects: .cache, expectsFields: ["Content-Digest": "a", "Content-MD5": "b", "Digest": "c"]),
            CacheStep(request: ["Range": "bytes=0-1"], expects: .cache, expectsFields: none)
        ).play()
        CacheScenario(
            "a part, and its rest", Self.part(0..<5, Self.digests),
            CacheStep(request: ["Range": "bytes=0-1"], expects: .cache, expectsFields: none),
            Self.rest(5..<10, Self.digests), CacheStep(expects: .cache, expectsFields: none, expectsBody: Self.digits)
        ).play()
    }

    static let ifRanges: [(Fields, String, Bool)] = [
        (["ETag": #""a""#], #""a""#, true), (["ETag": #""a""#], #""b""#, false),
        (["ETag": #"W/"a""#], #"W/"a""#, false),
        (["Last-Modified": HTTPDateText.at(-99), "Date": "@0"], HTTPDateText.at(-99), true),
        (["Last-Modified": HTTPDateText.at(-99), "Date": "@0"], HTTPDateText.at(-98), false),
        (["Last-Modified": HTTPDateText.at(-9), "Date": "@0"], HTTPDateText.at(-9), false), ([:], #""a""#, false),
        (["ETag": #""a""#], "", false),
    ]

    @Test(.rules("9110-13.1.5-4", "9111-4.3.2-4"), arguments: ifRanges)
    func `If-Range gets the part of the state it names, and the whole of any other`(
        stored: Fields, condition: String, isPart: Bool
    ) {
        var first = stored
        first["Cache-Control"] = "max-age=99"
        CacheScenario(
            condition, .first(first),
            CacheStep(
                request: ["Range": "bytes=1-2", "If-Range": condition], expects: .cache,
                expectsStatus: isPart ? 206 : 200, expectsBody: isPart ? "12" : Self.digits)
        ).play()
    }

    static let ofPart: [CacheScenario] = [
        CacheScenario("again", part(5..<10, asked: "bytes=-5"), wanted("bytes=-5", body: "56789", "bytes 5-9/10")),
        CacheScenario("within", part(4..<9), wanted("bytes=6-8", body: "678", "bytes 6-8/10")),
        CacheScenario("to its end", part(5..<10), wanted("bytes=6-", body: "6789", "bytes 6-9/10")),
        CacheScenario("its end", part(5..<10), wanted("bytes=-1", body: "9", "bytes 9-9/10")),
        CacheScenario("before it", part(5..<10), wanted("bytes=4-6", .network, body: "")),
        CacheScenario("beyond it", part(4..<9), wanted("bytes=6-", .network, body: "")),
        CacheScenario("of any length", part(4..<9, complete: "*"), wanted("bytes=4-5", body: "45", "bytes 4-5/*")),
        CacheScenario("its end, of any length", part(4..<9, complete: "*"), wanted("bytes=-1", .network, body: "")),
        CacheScenario("all of any length", part(4..<9, complete: "*"), wanted("bytes=4-", .network, body: "")),
        CacheScenario("no validator", part(4..<9, [:]), wanted("bytes=6-8", body: "678", "bytes 6-8/10")),
        CacheScenario("stale", part(4..<9, ["Cache-Control": "max-age=1"]), wanted("bytes=6-8", .network, body: "")),
        CacheScenario("no-store", part(4..<9, ["Cache-Control": "no-store"]), wanted("bytes=6-8", .network, body: "")),
        CacheScenario(
            "the whole is no part", part(4..<9, [:]), CacheStep(expects: .network, expectsStatus: 200),
            .then(.network)),
        CacheScenario("all of it", part(0..<10), CacheStep(expects: .cache, expectsStatus: 200, expectsBody: digits)),
        CacheScenario("a HEAD", part(5..<10), CacheStep(method: .head, expects: .network)),
    ]

    @Test(.rules("9110-15.3.7-5", "9111-3.3-1", "9111-3.3-2", "9111-3.4-2"), arguments: ofPart)
    func `a range is served from a part that holds all of it`(scenario: CacheScenario) {
        scenario.play()
    }

    static let wrong: [(Fields, String)] = [
        (["Content-Range": "bytes 4-9/10"], "01234"),
        (["Content-Range": "bytes 4-9/10", "Content-Length": "5"], "01234"),
        (["Content-Range": "bytes 4-8/10", "Content-Length": "6"], "01234"), ([:], "01234"),
        (["Content-Range": "bytes */10"], "01234"), (["Content-Range": "items 0-4/10"], "01234"),
        (["Content-Range": "bytes 0-4/4"], "01234"), (["Content-Type": "multipart/byteranges; boundary=x"], "--x"),
        (["Content-Range": "bytes 0-4/10", "content-range": "bytes 1-5/10"], "01234"),
    ]

    @Test(.rules("9110-14.4-1", "9110-14.6-1", "9110-15.3.7-1", "9111-3-3"), arguments: wrong)
    func `a part is stored only if it is what it says`(response: Fields, body: String) {
        var response = response
        response["Cache-Control"] = "max-age=3600"
        response["ETag"] = #""a""#
        let cache = CacheScenario(
            "wrong", CacheStep(request: ["Range": "bytes=0-4"], status: 206, response: response, body: body)
        ).play()
        #expect(cache.stored.isEmpty)
    }

    @Test func `the length of the whole is kept from whichever part says it`() throws {
        let parts = [Self.part(2..<4), Self.part(4..<6, asked: "bytes=4-5", complete: "*")]
        for steps in [parts, parts.reversed()] {
            var cache = PlayedCache()
            for step in steps { _ = cache.play(step) }
            #expect(try #require(cache.stored.first).entry.body == .part(2..<6, complete: 10))
        }
    }

    static let joined: [(Range<Int>, Range<Int>, Fields, CachedBody)] = [
        (0..<4, 4..<10, ["ETag": #""a""#], .whole(10)), (4..<10, 0..<4, ["ETag": #""a""#], .whole(10)),
        (2..<4, 3..<6, ["ETag": #""a""#], .part(2..<6, complete: 10)),
        (2..<8, 3..<6, ["ETag": #""a""#], .part(2..<8, complete: 10)),
        (3..<6, 2..<8, ["ETag": #""a""#], .part(2..<8, complete: 10)),
        (2..<4, 6..<8, ["ETag": #""a""#], .part(6..<8, complete: 10)),
        (6..<8, 2..<4, ["ETag": #""a""#], .part(2..<4, complete: 10)),
        (0..<4, 4..<10, ["ETag": #""b""#], .part(4..<10, complete: 10)),
        (0..<4, 4..<10, ["ETag": #"W/"a""#], .part(4..<10, complete: 10)),
        (0..<4, 4..<10, [:], .part(4..<10, complete: 10)),
    ]

    @Test(.rules("9110-15.3.7-2", "9110-15.3.7-3", "9111-3.4-1"), arguments: joined)
    func `parts are joined if they touch and are of one state`(
        first: Range<Int>, second: Range<Int>, fields: Fields, expected: CachedBody
    ) throws {
        let asked = "bytes=\(second.lowerBound)-\(second.upperBound - 1)"
        var next = Self.part(second, asked: asked, fields)
        next.expects = nil
        next.expectsStatus = nil
        // What is asked for within what is stored would be served.
        next.mode = .validating
        var cache = CacheScenario("joined", Self.part(first)).play()
        if expected.range == first { next.mode = .standard }
        _ = cache.play(next)
        let stored = try #require(cache.stored.first)
        #expect(cache.stored.count == 1)
        #expect(stored.entry.body == expected)
        #expect(String(decoding: stored.bytes, as: UTF8.self) == String(Array(Self.digits)[expected.range]))
    }

    @Test func `a joined part that breaks off leaves no hole`() throws {
        for (first, second, count, expected) in [
            (6..<9, 2..<7, 2, 6..<9), (6..<9, 2..<7, 4, 2..<9), (2..<4, 4..<9, 0, 2..<4), (2..<4, 4..<9, 2, 2..<6),
        ] {
            var next = Self.part(second, asked: "bytes=\(second.lowerBound)-\(second.upperBound - 1)")
            next.mode = .validating
            next.body = String(next.body.prefix(count))
            next.isCut = true
            let cache = CacheScenario("\(first), \(second)", Self.part(first), next).play()
            let stored = try #require(cache.stored.first)
            #expect(stored.entry.body.range == expected)
            #expect(String(decoding: stored.bytes, as: UTF8.self) == String(Array(Self.digits)[expected]))
        }
    }

    private static func cut(_ fields: Fields = ["ETag": #""a""#, "Content-Length": "10"]) -> CacheStep {
        var step = CacheStep.first(fields, body: "01234", pause: 1)
        step.response["Cache-Control"] = "max-age=3600"
        step.response["A"] = "1"
        step.isCut = true
        return step
    }

    private static func rest(_ range: Range<Int> = 5..<10, _ fields: Fields = ["ETag": #""a""#]) -> CacheStep {
        var step = part(range, fields)
        step.request = [:]
        (step.expects, step.expectsStatus) = (.joined, 200)
        step.expectsSent = ["Range": "bytes=5-", "If-Range": #""a""#, "If-None-Match": nil]
        step.expectsBody = digits
        step.expectsFields = ["Content-Length": "10", "Content-Range": nil, "A": "1"]
        return step
    }

    @Test(.rules("9110-13.1.5-1", "9111-3.4-3")) func `a body that broke off is completed with its rest`() {
        let whole = CacheStep(expects: .cache, expectsStatus: 200, expectsFields: ["A": "1"], expectsBody: Self.digits)
        CacheScenario("by its length", Self.cut(), Self.rest(), whole).play()
        CacheScenario("without a length", Self.cut(["ETag": #""a""#]), Self.rest(), whole).play()
        CacheScenario("of a part", Self.part(0..<5, ["ETag": #""a""#, "A": "1"]), Self.rest(), whole).play()
    }

    @Test(.rules("9111-3.4-2")) func `a rest that breaks off in turn leaves more than there was`() throws {
        var next = Self.rest()
        next.body = "56"
        next.isCut = true
        next.expectsBody = "0123456"
        let cache = CacheScenario("again", Self.cut(), next).play()
        #expect(try #require(cache.stored.first).entry.body == .part(0..<7, complete: 10))
    }

    /// The answers to the question for a rest that do not fit.
    static let misfits: [(HTTP.Status, Fields)] = [
        (206, ["Content-Range": "bytes 4-9/10", "ETag": #""a""#]),
        (206, ["Content-Range": "bytes 5-8/10", "ETag": #""a""#]),
        (206, ["Content-Range": "bytes 5-9/11", "ETag": #""a""#]),
        (206, ["Content-Range": "bytes 5-9/10", "ETag": #""b""#]),
        (206, ["Content-Range": "bytes 5-9/10"]), (206, ["Content-Range": "bytes 5-9/*", "ETag": #""a""#]), (206, [:]),
        (416, ["Content-Range": "bytes */5"]), (304, [:]),
    ]

    @Test(arguments: misfits) func `a rest that does not fit is thrown away, and the whole asked for`(
        status: HTTP.Status, fields: Fields
    ) {
        var cache = CacheScenario("cut", Self.cut()).play()
        let head = RequestHead(method: .get, origin: PlayedCache.origin, target: "/a")
        var machine = CacheMachine(CacheRequest(head), candidates: cache.stored.map(\.entry), rules: cache.rules)
        guard case .send(let sending) = machine.begin(at: cache.now), sending.purpose == .rest(0) else {
            Issue.record("no rest is asked for")
            return
        }
        let answer = ResponseHead(status: status, fields: fields)
        let update = machine.answered(by: answer, sentAt: cache.now, receivedAt: cache.now)
        guard case .again(let again) = update.delivery else {
            Issue.record("not sent again")
            return
        }
        #expect(again.purpose == .whole && !again.fields.contains("range") && !again.fields.contains("if-range"))
        #expect(update.changes.isEmpty)
        let whole = ResponseHead(status: 200, fields: ["Cache-Control": "max-age=9"])
        let next = machine.answered(by: whole, sentAt: cache.now, receivedAt: cache.now)
        guard case .network = next.delivery, case .store(_, let replaced)? = next.changes.first else {
            Issue.record("not stored")
            return
        }
        #expect(replaced == [0])
        cache.now += 1
    }

    @Test func `a changed body replaces the part`() {
        CacheScenario(
            "200", Self.cut(),
            CacheStep(
                response: ["Cache-Control": "max-age=9", "ETag": #""b""#], body: "new", expects: .network,
                expectsBody: "new"), CacheStep(expects: .cache, expectsBody: "new")
        ).play()
    }

    @Test func `a part at the end, or one with a condition of the caller's, is not completed`() {
        CacheScenario("end", Self.part(5..<10), .then(.network, sent: ["Range": nil])).play()
        CacheScenario(
            "condition", Self.cut(), .then(.network, request: ["If-None-Match": #""z""#], sent: ["Range": nil])
        ).play()
        CacheScenario("only stored", Self.cut(), CacheStep(mode: .storedOnly, expects: .unavailable)).play()
    }

    @Test func `a stale whole that is confirmed serves the range that was asked for`() {
        CacheScenario(
            "304", .first(["Cache-Control": "max-age=1", "ETag": #""a""#]),
            CacheStep(
                request: ["Range": "bytes=1-2"], confirms: true, expects: .confirmed, expectsStatus: 206,
                expectsFields: ["Content-Range": "bytes 1-2/10"], expectsBody: "12")
        ).play()
    }
}
