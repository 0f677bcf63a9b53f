import DunlinSemantics
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `Retry-After` {
    private static let now: Int64 = 784_111_777  // Sun, 06 Nov 1994 08:49:37 GMT

    @Test(
        .rules("9110-10.2.3-1"),
        arguments: [
            (["Retry-After": "120"], 120), (["retry-after": "0"], 0), ([:], nil), (["Retry-After": ""], nil),
            (["Retry-After": "-1"], nil), (["Retry-After": "+1"], nil),
            (["Retry-After": "1s"], nil), (["Retry-After": "soon"], nil), (["Retry-After": "0007"], 7),
            (["Retry-After": "9223372036854775807"], .max), (["Retry-After": "9223372036854775808"], .max),
            (["Retry-After": "99999999999999999999999999999999999999"], .max),
            (["Retry-After": "5", "retry-After": "7"], 7), (["Retry-After": "5", "retry-After": "x"], 5),
        ] as [(Fields, Int64?)])
    func `Retry-After is a number of seconds, and nothing that is like one`(fields: Fields, seconds: Int64?) {
        #expect(RetryAfter.wait(fields, at: Self.now) == seconds.map { .seconds($0) })
    }

    @Test(
        arguments: [
            ("1.5", 2), ("0.001", 1), ("3.0", 3), ("1.", nil), (".5", nil), ("1.5.2", nil), ("1,5", nil),
            ("9223372036854775807.5", .max),
        ] as [(String, Int64?)])
    func `a Retry-After with decimals, which no RFC knows, is rounded up`(seconds: String, rounded: Int64?) {
        #expect(RetryAfter.wait(["Retry-After": seconds], at: Self.now) == rounded.map { .seconds($0) })
    }

    @Test(
        .rules("9110-10.2.3-1"),
        arguments: [
            ("Sun, 06 Nov 1994 08:49:47 GMT", 10), ("Sunday, 06-Nov-94 08:49:38 GMT", 1),
            ("Sun Nov  6 08:50:37 1994", 60), ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
            ("Sun, 06 Nov 1994 08:00:00 GMT", 0), ("Mon, 06 Nov 1994 08:49:47 GMT", nil),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 252_618_189_022),
        ] as [(String, Int64?)])
    func `Retry-After may be a date, in each form there is`(date: String, seconds: Int64?) {
        #expect(RetryAfter.wait(["Retry-After": date], at: Self.now) == seconds.map { .seconds($0) })
    }

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:30 GMT", 10), ("Sun, 06 Nov 1994 09:49:30 GMT", 0), ("yesterday", 3),
        ] as [(String, Int64)])
    func `Retry-After is counted by the server's clock if that is known`(date: String, seconds: Int64) {
        let fields: Fields = ["Date": date, "Retry-After": "Sun, 06 Nov 1994 08:49:40 GMT"]
        #expect(RetryAfter.wait(fields, at: Self.now) == .seconds(seconds))
    }

    @Test(
        arguments: [
            (["retry-after-ms": "1500"], 1500), (["Retry-After-Ms": "0"], 0), (["retry-after-ms": "812.4"], 813),
            (["retry-after-ms": "20.000"], 20), (["retry-after-ms": "7", "Retry-After": "60"], 7),
            (["retry-after-ms": "7", "Retry-After-MS": "9"], 9), (["retry-after-ms": "-1"], nil),
            (["retry-after-ms": "1."], nil), (["retry-after-ms": ".5"], nil), (["retry-after-ms": "1.2.3"], nil),
            (["retry-after-ms": "1e3"], nil), (["retry-after-ms": ""], nil),
            (["retry-after-ms": "soon", "Retry-After": "2"], 2000),
            (["retry-after-ms": "99999999999999999999.9"], .max),
        ] as [(Fields, Int64?)])
    func `milliseconds are more exact, and count where they are valid`(fields: Fields, milliseconds: Int64?) {
        #expect(RetryAfter.wait(fields, at: Self.now) == milliseconds.map { .milliseconds($0) })
    }
}
