import DunlinTypes
import LedgerRows
import Testing

@Suite struct `Freshness in a cache` {
    private static func one(_ name: String, _ response: Fields, _ source: CacheSight.Source) -> CacheScenario {
        CacheScenario(name, .first(response), .then(source))
    }

    static let maxAges: [CacheScenario] = [
        one("nothing said", [:], .network),
        one("max-age", ["Cache-Control": "max-age=3600"], .cache),
        one("over", ["Cache-Control": "max-age=2"], .network),
        one("at its end", ["Cache-Control": "max-age=3"], .network),
        one("just before", ["Cache-Control": "max-age=4"], .cache),
        one("zero", ["Cache-Control": "max-age=0"], .network),
        one("2^31 - 1", ["Cache-Control": "max-age=2147483647"], .cache),
        one("2^31", ["Cache-Control": "max-age=2147483648"], .cache),
        one("2^31 + 1", ["Cache-Control": "max-age=2147483649"], .cache),
        one("longer", ["Cache-Control": "max-age=99999999999"], .cache),
        one("beyond all", ["Cache-Control": "max-age=99999999999999999999999999"], .cache),
        one("older than that", ["Date": "@0", "Cache-Control": "max-age=3600", "Age": "7200"], .network),
        one("made long ago", ["Date": "@-7200", "Cache-Control": "max-age=3600"], .network),
        one("Expires is past", ["Cache-Control": "max-age=3600", "Expires": "@-7200", "Date": "@0"], .cache),
        one("Expires is none", ["Cache-Control": "max-age=3600", "Expires": "0", "Date": "@0"], .cache),
        one("Expires is later", ["Expires": "@3600", "Cache-Control": "max-age=0", "Date": "@0"], .network),
        one("another directive", ["Cache-Control": "foobar, max-age=3600"], .cache),
        one("in any case", ["Cache-Control": "MaX-aGe=3600"], .cache),
        one("negative", ["Cache-Control": "max-age=-3600"], .network),
        one("s-maxage is longer", ["Cache-Control": "s-maxage=3600, max-age=1"], .network),
        one(
            "s-maxage is in another field", ["Cache-Control": "s-maxage=3600", "cache-control": "max-age=1"], .network),
        one("s-maxage is shorter", ["Cache-Control": "s-maxage=1, max-age=3600"], .cache),
        one("only s-maxage", ["Cache-Control": "s-maxage=3600"], .network),
        one("for others", ["CDN-Cache-Control": "max-age=3600"], .network),
    ]

    @Test(
        .rules("9111-4-5", "9111-4.2-1", "9111-4.2.1-1", "9111-4.2.3-1", "9111-5.2.2-1", "9111-5.2.3-1", "9111-5.3-2"),
        arguments: maxAges) func `a response is reused as long as max-age says, and no longer`(
            scenario: CacheScenario
        )
    {
        scenario.play()
    }

    static let expiries: [CacheScenario] = [
        one("in a month", ["Expires": "@2592000", "Date": "@0"], .cache),
        one("a month ago", ["Expires": "@-2592000", "Date": "@0"], .network),
        CacheScenario("now", .first(["Expires": "@0", "Date": "@0"], pause: 0), .then(.network)),
        one("before a Date that is ahead", ["Expires": "@300", "Date": "@400"], .network),
        one("no date", ["Expires": "0", "Date": "@0"], .network),
        CacheScenario(
            "the Date is none", .first(["Date": "foo", "Expires": "@10"], pause: 0),
            .then(.cache, fields: ["Date": HTTPDateText.now])),
        CacheScenario(
            "no Date", .first(["Expires": "@10"], pause: 5), .then(.cache, fields: ["Date": HTTPDateText.now])),
        CacheScenario(
            "Age, and a Date that is behind", .first(["Date": "@-10", "Expires": "@10", "Age": "25"], pause: 0),
            .then(.network)),
        CacheScenario(
            "Age, and a Date that is ahead", .first(["Date": "@10", "Expires": "@20", "Age": "15"], pause: 0),
            .then(.network)),
    ]

    @Test(.rules("9110-6.6.1-1", "9111-4.2.1-1", "9111-4.2.3-1", "9111-5.3-1"), arguments: expiries)
    func `a response is reused until it expires, by the origin's clock`(
        scenario: CacheScenario
    ) {
        scenario.play()
    }

    private static func expires(_ text: String, _ source: CacheSight.Source) -> CacheScenario {
        one(text, ["Expires": text, "Date": "@0"], source)
    }

    static let dates: [CacheScenario] = [
        expires("Tue, 19 Jan 2038 14:14:08 GMT", .cache), expires("Sun, 21 Nov 2286 04:46:39 GMT", .cache),
        expires("Thursday, 18-Aug-50 02:01:18 GMT", .cache), expires("Thu Aug  8 02:01:18 2050", .cache),
        expires("THU, 18 Aug 2050 02:01:18 GMT", .cache), expires("Thu, 18 AUG 2050 02:01:18 GMT", .cache),
        expires("Thu, 18 Aug 2050 02:01:18 gMT", .cache), expires("Thu, 18 Aug 2050 02:01:18 UTC", .network),
        expires("Thu, 18 Aug 2050 02:01:18 AEST", .network), expires("Thu, 18 Aug 50 02:01:18 GMT", .network),
        expires("Thu 18 Aug 2050 02:01:18 GMT", .network), expires("Thu, 18  Aug  2050 02:01:18 GMT", .network),
        expires("Thu, 18-Aug-2050 02:01:18 GMT", .network), expires("Thu, 18 Aug 2050 02.01.18 GMT", .network),
        expires("Thu, 18 Aug 2050 2:01:18 GMT", .network), expires("-1", .network), expires("", .network),
        one(
            "two that differ, and are none",
            [
                "Expires": "Thu, 18 Aug 2050 2:01:18 GMT", "expires": "Thu, 18 Aug 2050 2:01:19 GMT", "Date": "@0",
            ], .network),
        one(
            "two that differ",
            [
                "Expires": "Thu, 18 Aug 2050 02:01:18 GMT", "expires": "Thu, 18 Aug 2050 02:01:19 GMT", "Date": "@0",
            ], .network),
    ]

    @Test(.rules("9111-4.2-4", "9111-4.2-5", "9111-4.2.1-3", "9111-5.3-1"), arguments: dates)
    func `an Expires that is no date has expired`(scenario: CacheScenario) { scenario.play() }

    private static func age(_ ages: String..., source: CacheSight.Source) -> CacheScenario {
        var fields: Fields = ["Date": "@0", "Cache-Control": "max-age=3600"]
        for age in ages { fields.append(name: "Age", value: age) }
        return one(ages.joined(separator: " | "), fields, source)
    }

    static let ages: [CacheScenario] = [
        age("abc", source: .cache), age("-7200", source: .cache), age("7200.0", source: .cache),
        age("2147483647", source: .network), age("2147483648", source: .network), age("2147483649", source: .network),
        age("99999999999999999999", source: .network), age("7200, 0", source: .network), age("0, 7200", source: .cache),
        age("7200", "0", source: .network), age("0", "7200", source: .cache), age("0, 0", source: .cache),
        age("0", "0", source: .cache), age("3596", "3596", source: .cache), age("3597", source: .network),
        age("", source: .cache), age(",7200", source: .cache), age("7200;foo=bar", source: .cache),
        age(" 7200 ", source: .network),
    ]

    @Test(.rules("9111-4.2.3-2", "9111-5.1-2"), arguments: ages)
    func `the first member of an Age field counts, and only if it is a number`(
        scenario: CacheScenario
    ) {
        scenario.play()
    }

    private static func status(_ status: HTTP.Status, _ source: CacheSight.Source, _ more: Fields = [:])
        -> CacheScenario
    {
        var fields: Fields = ["Last-Modified": "@-86400", "Date": "@0"]
        fields.append(contentsOf: more)
        return CacheScenario("\(status)", .first(fields, status: status, pause: 1), .then(source))
    }

    static let statuses: [CacheScenario] = [
        status(200, .cache), status(201, .network), status(202, .network), status(203, .cache), status(204, .cache),
        status(300, .cache), status(301, .cache), status(302, .network), status(308, .cache), status(403, .network),
        status(404, .cache), status(405, .cache), status(410, .cache), status(414, .cache), status(501, .cache),
        status(502, .network), status(503, .network), status(504, .network), status(599, .network),
        status(599, .cache, ["Cache-Control": "public"]), status(403, .network, ["Cache-Control": "private"]),
        // What is said counts, be it nonsense.
        status(200, .network, ["Expires": "0"]), status(200, .network, ["Cache-Control": "max-age=x"]),
    ]

    @Test(.rules("9111-4.2.2-1", "9111-4.2.2-2"), arguments: statuses)
    func `a lifetime is guessed only for statuses that are cacheable by themselves`(
        scenario: CacheScenario
    ) {
        scenario.play()
    }

    private static func changed(_ ago: Int64, after pause: Int64, _ source: CacheSight.Source) -> CacheScenario {
        CacheScenario(
            "\(ago) s, after \(pause)",
            .first(["Last-Modified": "@-\(ago)", "Date": "@0"], pause: pause), .then(source, sent: [:]))
    }

    static let guesses: [CacheScenario] = [
        changed(5, after: 0, .network), changed(10, after: 0, .cache), changed(3600, after: 359, .cache),
        changed(3600, after: 360, .network), changed(864_000, after: 86_399, .cache),
        changed(86_400_000, after: 86_399, .cache), changed(86_400_000, after: 86_400, .network),
        CacheScenario(
            "changed after it was made", .first(["Last-Modified": "@60", "Date": "@0"], pause: 0), .then(.network)),
        CacheScenario("no date", .first(["Last-Modified": "yesterday", "Date": "@0"], pause: 0), .then(.network)),
        CacheScenario(
            "with a query",
            CacheStep(target: "/a?b", response: ["Last-Modified": "@-3600", "Date": "@0"], expects: .network),
            CacheStep(target: "/a?b", expects: .cache)),
    ]

    @Test(.rules("9111-4.2.2-3"), arguments: guesses)
    func `the guess is a tenth of the time since the last change, and a day at most`(
        scenario: CacheScenario
    ) {
        scenario.play()
    }

    @Test(.rules("9111-4-9")) func `a clock that was set back makes everything stale`() {
        let scenario = CacheScenario("back", .first(["Cache-Control": "max-age=3600"], pause: -10), .then(.network))
        scenario.play()
    }

    @Test(.rules("9111-4.2.3-1")) func `the time that an answer took is part of its age`() {
        var slow = CacheStep.first(["Cache-Control": "max-age=5", "Date": "@0"], pause: 4)
        CacheScenario("quick", slow, .then(.cache, fields: ["Age": "4"])).play()
        slow.delay = 2
        slow.pause = 4
        CacheScenario("slow", slow, .then(.network)).play()
    }

    static let served: [CacheScenario] = [
        CacheScenario(
            "max-age", .first(["Cache-Control": "max-age=600", "Date": "@0"]), .then(.cache, fields: ["Age": "3"])),
        CacheScenario(
            "older when it came", .first(["Cache-Control": "max-age=600", "Date": "@0", "Age": "30"]),
            .then(.cache, fields: ["Age": "33"])),
        CacheScenario(
            "Expires", .first(["Expires": "@3600", "Date": "@0", "Age": "30"]),
            .then(
                .cache,
                fields: ["Age": "33", "Date": HTTPDateText.now, "Expires": HTTPDateText.at(3600)])),
    ]

    @Test(.rules("9111-4-6", "9111-5.1-1"), arguments: served)
    func `what is served has its age, and the dates it came with`(scenario: CacheScenario) {
        scenario.play()
    }
}
