import Dunlin
import Testing

@testable import DunlinImages

@Suite struct `How long an image is fresh` {
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    private static func freshness(_ fields: Fields, age: Duration? = nil) -> ImageFreshness {
        ImageFreshness(ResponseHead(version: .http11, status: 200, fields: fields), now: 784_111_777, age: age)
    }

    private static let varying: [(String, Set<String>, Bool)] = [
        ("Accept", ["accept"], false), ("accept-encoding", [], false), ("Cookie", ["accept"], true),
        ("*", ["accept"], true),
        ("Accept, X-User", ["accept"], true), ("", [], false),
    ]

    @Test(arguments: varying) func `an image that varies by other fields than its key is revalidated each time`(
        vary: String, known: Set<String>, isAsked: Bool
    ) {
        let fields: Fields = ["Cache-Control": "max-age=60", "Vary": vary, "ETag": "\"1\""]
        let head = ResponseHead(version: .http11, status: 200, fields: fields)
        let freshness = ImageFreshness(head, now: 0, selecting: known)
        #expect(freshness.lifetime == (isAsked ? .zero : .seconds(60)))
        let confirmed = ResponseHead(version: .http11, status: 304, fields: ["Cache-Control": "max-age=60"])
        #expect(freshness.renewed(by: confirmed, now: 0).lifetime == freshness.lifetime)
    }

    @Test(arguments: [
        ("https://a.test/b?c=d#e", "https://a.test/b"), ("https://u:p@a.test/b@2x.png", "https://a.test/b@2x.png"),
        ("https://a.test:80/b@2x.png", "https://a.test:80/b@2x.png"), ("https://[::1]/b@2x", "https://[::1]/b@2x"),
        ("https://u:p/q@a.test/b", "https://***@a.test/b"), ("https://u:p#q@a.test/b", "https://***@a.test/b"),
        ("//u:p@a.test/b", "//a.test/b"), ("b/c?d", "b/c"),
        ("https://a.test/\u{1B}[31m", "https://a.test/[31m"),
    ]) func `a URL is shown without what is secret, and without what a terminal obeys`(url: String, shown: String) {
        #expect(ShownURL.of(url) == shown)
    }

    private static let lifetimes: [(Fields, Duration?)] = [
        ([:], nil),
        (["Cache-Control": "public"], nil),
        (["Cache-Control": "max-age=60"], .seconds(60)),
        (["Cache-Control": "MAX-AGE=\"60\" , public"], .seconds(60)),
        (["Cache-Control": "max-age = 60"], .zero),
        (["Cache-Control": "max-age=+60"], .zero),
        (["Cache-Control": "max-age=60", "Age": "10"], .seconds(50)),
        (["Cache-Control": "max-age=60", "Age": "100"], .seconds(-40)),
        (["Cache-Control": "max-age=60, max-age=90"], .zero),
        (["Cache-Control": "max-age=x"], .zero),
        (["Cache-Control": "max-age"], .zero),
        (["Cache-Control": "max-age=99999999999999999999"], .seconds(3_155_760_000)),
        (["Cache-Control": "no-cache, max-age=60"], .zero),
        (["Expires": "Sun, 06 Nov 1994 08:50:37 GMT"], .seconds(60)),
        (["Expires": "Sun, 06 Nov 1994 08:50:37 GMT", "Date": "Sun, 06 Nov 1994 08:50:07 GMT"], .seconds(30)),
        (["Expires": "Sun, 06 Nov 1994 08:48:37 GMT"], .zero),
        (["Expires": "Sun, 06 Nov 1994 08:50:37 GMT", "Cache-Control": "max-age=5"], .seconds(5)),
        (["Expires": "0"], .zero),
    ]

    @Test(arguments: lifetimes) func `an image is fresh for as long as the response says`(
        fields: Fields, lifetime: Duration?
    ) {
        #expect(Self.freshness(fields).lifetime == lifetime)
    }

    @Test func `the age that an HTTP cache tells counts before that of the field`() {
        let fields: Fields = ["Cache-Control": "max-age=60", "Age": "10"]
        #expect(Self.freshness(fields, age: .seconds(30)).lifetime == .seconds(30))
    }

    @Test(arguments: [
        ("no-store", false), ("max-age=5, No-Store", false), ("no-cache", true), ("x=\"no-store\"", true),
    ])
    func `a response that says so is not stored`(value: String, isStorable: Bool) {
        #expect(Self.freshness(["Cache-Control": value]).isStorable == isStorable)
    }

    @Test func `a tag is asked by, and a date where there is no tag`() {
        let both = Self.freshness(["ETag": "\"1\"", "Last-Modified": Self.date])
        #expect(both.conditions.map(\.name) == ["If-None-Match"])
        #expect(Self.freshness(["Last-Modified": Self.date]).conditions.map(\.value) == [Self.date])
        #expect(Self.freshness([:]).conditions.isEmpty)
    }

    @Test func `a confirmation begins the time anew, as it says or as it was`() {
        let old = Self.freshness(["Cache-Control": "max-age=60", "ETag": "\"1\""])
        func renewed(_ fields: Fields) -> ImageFreshness {
            old.renewed(by: ResponseHead(version: .http11, status: 304, fields: fields), now: 0)
        }
        #expect(renewed([:]) == old)
        #expect(renewed(["Cache-Control": "max-age=5"]).lifetime == .seconds(5))
        #expect(renewed(["Cache-Control": "no-store"]).isStorable == false)
        #expect(renewed(["ETag": "\"2\""]).entityTag == "\"2\"")
    }

    private static let ends: [(String, Duration)] = [
        ("Sun, 06 Nov 1994 08:50:37 GMT", .seconds(60)), ("Sunday, 06-Nov-94 08:50:37 GMT", .seconds(60)),
        ("Sun Nov  6 08:50:37 1994", .seconds(60)), ("Fri, 31 Dec 9999 23:59:59 GMT", .seconds(3_155_760_000)),
        ("Mon, 28 Feb 1994 23:59:60 GMT", .zero), ("Tue, 31 Feb 1995 08:50:37 GMT", .zero),
        ("Wed, 29 Feb 1995 08:50:37 GMT", .zero), ("Thu, 31 Nov 1994 08:50:37 GMT", .zero),
        ("Mon, 07 Nov 1994 24:00:00 GMT", .zero), ("Mon, 07 Nov 1994 08:49:37 CET", .zero),
        ("Mon, 07 Nov +1994 08:49:37 GMT", .zero), ("Sun, 99999999999999999999 Nov 1994 08:49:37 GMT", .zero),
        ("0", .zero), ("", .zero),
    ]

    @Test(arguments: ends) func `an invalid date, such as the 31st of February, has expired`(
        expires: String, lifetime: Duration
    ) {
        #expect(Self.freshness(["Expires": expires]).lifetime == lifetime)
    }

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:17 GMT", 40), ("Sun, 06 Nov 1994 08:49:57 GMT", 60),
            ("Thu, 31 Feb 1994 08:49:17 GMT", 60),
        ] as [(String, Int)])
    func `an image with an earlier date is as much older`(date: String, left: Int) {
        #expect(Self.freshness(["Cache-Control": "max-age=60", "Date": date]).lifetime == .seconds(left))
    }
}
