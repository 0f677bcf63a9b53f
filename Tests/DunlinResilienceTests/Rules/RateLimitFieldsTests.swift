import DunlinTypes
import Testing

@testable import DunlinResilience

@Suite struct `Rate-limit fields` {
    private static let now: Int64 = 1_700_000_000  // Tue, 14 Nov 2023 22:13:20 GMT

    @Test(
        arguments: [
            ([:], nil), (["RateLimit": ""], nil), (["RateLimit-Policy": "\"a\";q=100;w=60"], nil),
            // Since draft 08.
            (["RateLimit": "\"a\";r=50;t=30"], .init(remaining: 50, reset: .seconds(30))),
            (["RateLimit": "a;r=0;t=30"], .init(remaining: 0, reset: .seconds(30))),
            (
                ["RateLimit": "\"a\";r=50;t=30", "RateLimit-Policy": "\"b\";q=1;w=1,\"a\";q=100;w=60;pk=:YQ==:"],
                .init(quota: 100, window: .seconds(60), remaining: 50, reset: .seconds(30))
            ),
            (
                ["RateLimit": "\"a\";r=50", "RateLimit-Policy": "\"a\";q=100;w=60;qu=\"requests\""],
                .init(quota: 100, window: .seconds(60), remaining: 50, reset: .seconds(60))
            ),
            (["RateLimit": "\"a\";r=50;t=9", "RateLimit-Policy": "\"a\";q=100;qu=\"content-bytes\""], nil),
            (
                ["RateLimit": "\"a\";r=9;t=3", "ratelimit": "\"b\";r=2;t=1, \"c\";r=2;t=4, \"d\";r=-1;t=9"],
                .init(remaining: 2, reset: .seconds(4))
            ),
            (["RateLimit": "\"a\";r=101;t=30", "RateLimit-Policy": "\"a\";q=100;w=60"], nil),
            (["RateLimit": "\"a\";t=30"], nil), (["RateLimit": "\"a\";r=1.5;t=30"], nil),
            (["RateLimit": "\"a\";r=5;t=0"], .init(remaining: 5)), (["RateLimit": "50;r=5;t=3"], nil),
            // Draft 07.
            (
                ["RateLimit": "limit=100, remaining=50, reset=30"],
                .init(quota: 100, remaining: 50, reset: .seconds(30))
            ),
            (
                ["RateLimit": "limit=100, remaining=50, reset=30", "RateLimit-Policy": "10;w=1, 100;w=60"],
                .init(quota: 100, window: .seconds(60), remaining: 50, reset: .seconds(30))
            ),
            (["RateLimit": "limit=10, remaining=50, reset=30"], nil), (["RateLimit": "limit=10, remaining=5,"], nil),
            // Drafts 00 to 06.
            (
                ["RateLimit-Limit": "100", "RateLimit-Remaining": "50", "RateLimit-Reset": "30"],
                .init(quota: 100, remaining: 50, reset: .seconds(30))
            ),
            (
                ["RateLimit-Limit": "100, 10;w=1, 100;w=60", "RateLimit-Remaining": "50", "RateLimit-Reset": "30"],
                .init(quota: 100, window: .seconds(60), remaining: 50, reset: .seconds(30))
            ),
            (["RateLimit-Remaining": "50"], .init(remaining: 50)),
            (["RateLimit-Remaining": "5", "Ratelimit-remaining": "0"], nil),
            // What was usual before; the window of a minute in another word.
            (
                ["X-RateLimit-Limit": "100, 100;window=60", "X-RateLimit-Remaining": "98", "X-RateLimit-Reset": "3"],
                .init(quota: 100, window: .seconds(60), remaining: 98, reset: .seconds(3))
            ),
            (
                [
                    "x-ratelimit-limit-requests": "5000", "x-ratelimit-remaining-requests": "4999",
                    "x-ratelimit-reset-requests": "12ms",
                ], .init(quota: 5000, remaining: 4999, reset: .milliseconds(12))
            ),
            (["X-RateLimit-Limit": "5", "X-RateLimit-Remaining": "-1", "X-RateLimit-Reset": "3"], nil),
            // The newest counts.
            (
                [
                    "RateLimit": "\"a\";r=1;t=30", "RateLimit-Remaining": "2", "RateLimit-Reset": "2",
                    "X-RateLimit-Remaining": "3", "X-RateLimit-Reset": "3",
                ], .init(remaining: 1, reset: .seconds(30))
            ),
            (
                ["RateLimit": "\"a\"", "X-RateLimit-Remaining": "3", "X-RateLimit-Reset": "3"],
                .init(remaining: 3, reset: .seconds(3))
            ),
            // Retry-After.
            (["Retry-After": "7"], .init(silence: .seconds(7))), (["Retry-After": "soon"], nil),
            (
                ["RateLimit": "\"a\";r=0;t=30", "Retry-After": "60", "retry-after-ms": "60500"],
                .init(remaining: 0, reset: .seconds(30), silence: .milliseconds(60_500))
            ),
        ] as [(Fields, LearnedLimit?)])
    func `limits are read in each shape that was published`(fields: Fields, limit: LearnedLimit?) {
        #expect(RateLimitFields.limit(fields, at: Self.now) == limit)
    }

    @Test(
        arguments: [
            ("30", 30_000), ("0.5", 500), ("3600", 3_600_000), ("999999999", 999_999_999_000),
            ("1700000030", 30_000), ("1700000030.25", 30_250), ("1700000030250", 30_250), ("1m30s", 90_000), ("6ms", 6),
            ("1h0m2.5s", 3_602_500), ("1d", 86_400_000), ("1500000us", 1500), ("1500000µs", 1500),
            ("2000000ns", 2), ("Tue, 14 Nov 2023 22:13:50 GMT", 30_000),
            // In the past, absurd, or no time.
            ("0", nil), ("-5", nil), ("1699999999", nil), ("1600000000000", nil), ("500000000000", nil),
            ("100000000000000", nil), ("99999999999999999999999", nil), ("", nil), ("soon", nil), ("s", nil),
            ("1x", nil), ("1m30", nil), ("1.", nil), (".5", nil), ("1.2.3", nil), ("1e3", nil), ("inf", nil),
            ("1 s", nil), ("Tue, 14 Nov 2023 22:13:20 GMT", nil), ("é", nil),
        ] as [(String, Int64?)])
    func `a reset is a number, a time or a duration, by its size and its units`(text: String, milliseconds: Int64?) {
        let fields: Fields = ["X-RateLimit-Remaining": "1", "X-RateLimit-Reset": text]
        #expect(RateLimitFields.limit(fields, at: Self.now)?.reset == milliseconds.map { .milliseconds($0) })
    }

    @Test func `times are counted by the server's clock if that is known`() {
        let fields: Fields = [
            "Date": "Tue, 14 Nov 2023 22:14:20 GMT", "X-RateLimit-Remaining": "1", "X-RateLimit-Reset": "1700000090",
        ]
        #expect(RateLimitFields.limit(fields, at: Self.now)?.reset == .seconds(30))
    }
}
