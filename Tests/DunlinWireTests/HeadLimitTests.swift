import DunlinTypes
import DunlinWire
import LedgerRows
import Testing

@Suite struct `Head limits` {
    private static func limits(_ change: (inout WireLimits) -> Void) -> WireLimits {
        var limits = WireLimits()
        change(&limits)
        return limits
    }

    private static func marks(_ count: Int) -> String {
        String(String.UnicodeScalarView(repeatElement("\u{301}", count: count)))
    }

    static let start = "HTTP/1.1 200 OK\r\n"
    /// 39 bytes: 17 in the status line, 10 in each field and 2 at the end.
    static let text = start + "Aa: 1234\r\n" + "Bb: 1234\r\n" + "\r\n"

    static let cases: [(WireLimits, String, WireError?)] = [
        (limits { $0.headBytes = 39 }, text, nil),
        (limits { $0.headBytes = 38 }, text, .headTooLarge(limit: 38)),
        (limits { $0.headBytes = 38 }, start + "Aa: 1234\r\nBb: 1234\r\n\r", .headTooLarge(limit: 38)),
        (limits { $0.headBytes = 17 }, start, .headTooLarge(limit: 17)),
        (limits { $0.headBytes = 5 }, "HTTP/", .headTooLarge(limit: 5)),
        (limits { $0.headBytes = 0 }, "", .headTooLarge(limit: 0)),
        (limits { $0.headBytes = -1 }, text, .headTooLarge(limit: 0)),
        (limits { $0.lineBytes = 17 }, text, nil),
        (limits { $0.lineBytes = 16 }, text, .lineTooLong(limit: 16)),
        (limits { $0.lineBytes = 17 }, start + "Abcdef: 012345678", .lineTooLong(limit: 17)),
        (limits { $0.lineBytes = 17 }, start + "Abcdef: 01234567\r\n\r\n", .lineTooLong(limit: 17)),
        (limits { $0.lineBytes = 17 }, start + "Abcdef: 0123456\r\n\r\n", nil),
        (limits { $0.lineBytes = 17 }, start + "Abcdefghijklmnopq", .lineTooLong(limit: 17)),
        (limits { $0.lineBytes = 17 }, start + "A:               ", .lineTooLong(limit: 17)),
        (limits { $0.fieldCount = 2 }, text, nil),
        (limits { $0.fieldCount = 1 }, text, .tooManyFields(limit: 1)),
        (limits { $0.fieldCount = 1 }, start + "A: b\r\nB:", .tooManyFields(limit: 1)),
        (limits { _ in }, start + "A: b\(marks(256))\r\nC: d\r\n\r\n", nil),
        (limits { _ in }, start + "A: b\(marks(257))\r\nC: d\r\n\r\n", .tooManyMarks),
        (limits { _ in }, start + "A:  b\(marks(257))\r\n", .tooManyMarks),
        (limits { $0.fieldCount = 0 }, start + "\r\n", nil),
        (limits { $0.fieldCount = 0 }, start + "A:", .tooManyFields(limit: 0)),
    ]

    @Test(.rules("9110-2.3-1", "9110-5.4-1"), arguments: cases)
    func `head limits count as bytes arrive, however they are cut`(
        limits: WireLimits, text: String, expected: WireError?
    ) {
        for pieces in cuts(of: text) {
            #expect(HeadOutcome(of: pieces, limits: limits).error == expected)
        }
    }

    @Test(arguments: [
        (2, nil), (1, WireError.tooManyInterimResponses(limit: 1)), (0, .tooManyInterimResponses(limit: 0)),
    ])
    func `interim responses are counted against their limit`(limit: Int, expected: WireError?) {
        let interim = "HTTP/1.1 100 Continue\r\n\r\n"
        let text = interim + interim + Self.start + "\r\n"
        let limits = Self.limits { $0.interimResponses = limit }
        for pieces in cuts(of: text) {
            let outcome = HeadOutcome(of: pieces, limits: limits)
            #expect(outcome.error == expected)
            #expect(outcome.heads.count == (expected == nil ? 3 : limit))
        }
    }

    @Test func `an exceeded limit has the name of its setting, unless no session has it`() {
        let names: [(WireError, String?)] = [
            (.headTooLarge(limit: 1), "headBytes"), (.lineTooLong(limit: 1), "lineBytes"),
            (.lineTooLong(limit: Fields.longestName), nil), (.tooManyFields(limit: 1), "fieldCount"),
            (.tooManyInterimResponses(limit: 1), "interimResponses"), (.trailersTooLarge(limit: 1), "trailerBytes"),
            (.tooManyTrailers(limit: 1), nil), (.chunkLineTooLong(limit: 1), nil),
            (.chunkExtensionsTooLarge(limit: 1), nil), (.truncatedHead, nil),
        ]
        for (error, name) in names { #expect(error.setting == name, "\(error)") }
    }

    @Test func `interim responses are counted afresh after a final one`() throws {
        let limits = Self.limits { $0.interimResponses = 1 }
        var parser = HeadParser(limits: limits)
        for _ in 0..<3 {
            parser.feed(Array("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n".utf8))
            #expect(try parser.next()?.head.status == 100)
            #expect(try parser.next()?.head.status == 200)
            #expect(try parser.next() == nil)
        }
    }

    @Test(.rules("9110-2.3-1")) func `a thousand fields are accepted, and a head without end is refused`() {
        let fields = (0..<1000).map { "X-Field-\($0): \(String(repeating: "v", count: 100))\r\n" }.joined()
        let legal = "\(Self.start)Content-Length: 0\r\n\(fields)\r\n"
        #expect(HeadOutcome(of: [Array(legal.utf8)], limits: WireLimits()).error == nil)
        let many = Self.start + String(repeating: "A: b\r\n", count: 1025)
        #expect(HeadOutcome(of: [Array(many.utf8)], limits: WireLimits()).error == .tooManyFields(limit: 1024))
        let long = Self.start + String(repeating: "A: \(String(repeating: "b", count: 1000))\r\n", count: 131)
        #expect(HeadOutcome(of: [Array(long.utf8)], limits: WireLimits()).error == .headTooLarge(limit: 128 << 10))
    }

    @Test func `a name longer than an entry can hold is refused`() {
        let limits = Self.limits {
            $0.headBytes = 1 << 20
            $0.lineBytes = 1 << 20
        }
        let fits = String(repeating: "n", count: Fields.longestName)
        #expect(HeadOutcome(of: [Array("\(Self.start)\(fits): v\r\n\r\n".utf8)], limits: limits).error == nil)
        #expect(
            HeadOutcome(of: [Array("\(Self.start)\(fits)n: v\r\n\r\n".utf8)], limits: limits).error
                == .lineTooLong(limit: Fields.longestName))
    }

    /// Looking at every byte again with each new one would take hours here.
    @Test(.timeLimit(.minutes(10)), arguments: ["n", "n:", "n:v", ""])
    func `each byte of a head is looked at once, though the bytes come one by one`(prefix: String) throws {
        let limits = Self.limits {
            $0.headBytes = 1 << 20
            $0.lineBytes = 1 << 20
        }
        let filler: UInt8 = prefix.hasSuffix(":") ? 0x20 : 0x78
        var parser = HeadParser(limits: limits)
        parser.feed(Array((prefix.isEmpty ? "HTTP/1.1 200 " : Self.start + prefix).utf8))
        for _ in 0..<(1 << 18) {
            parser.feed([filler])
            guard try parser.next() == nil else { break }
        }
        #expect(!parser.isEmpty)
        #expect(throws: WireError.truncatedHead) { try parser.endOfStream() }
    }
}
