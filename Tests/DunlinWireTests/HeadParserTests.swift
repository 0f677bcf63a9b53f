import DunlinTypes
import DunlinWire
import LedgerRows
import Testing

@Suite struct `Head parser` {
    typealias Record = HeadOutcome.Record

    static let accepted: [(String, Record)] = [
        ("HTTP/1.1 200 OK\r\n\r\n", Record(version: .http11, status: 200, reason: "OK", fields: [:])),
        ("HTTP/1.0 404 Not Found\r\n\r\n", Record(version: .http10, status: 404, reason: "Not Found", fields: [:])),
        ("HTTP/1.7 200 OK\r\n\r\n", Record(version: .http11, status: 200, reason: "OK", fields: [:])),
        ("HTTP/1.1 999 \r\n\r\n", Record(version: .http11, status: 999, reason: "", fields: [:])),
        ("HTTP/1.1 204\r\n\r\n", Record(version: .http11, status: 204, reason: "", fields: [:])),
        ("HTTP/1.1 200 \tfine é \r\n\r\n", Record(version: .http11, status: 200, reason: "\tfine é ", fields: [:])),
        (
            "HTTP/1.1 200 OK\r\nA:\r\nB: \t \r\nc:d\r\nE: \t f \t g \t\r\nA: é\r\n!#$%&'*+-.^_`|~9: \"x\": y\r\n\r\n",
            Record(
                version: .http11, status: 200, reason: "OK",
                fields: [
                    "A": "", "B": "", "c": "d", "E": "f \t g", "A": "é", "!#$%&'*+-.^_`|~9": "\"x\": y",
                ])
        ),
        (
            "HTTP/1.1 200 OK\r\nLong: 0123456789abcdef\t0123456789\t\tabcdef\t01234567\t\r\n\r\n",
            Record(
                version: .http11, status: 200, reason: "OK",
                fields: ["long": "0123456789abcdef\t0123456789\t\tabcdef\t01234567"])
        ),
    ]

    @Test(
        .rules("9110-2.5-3", "9110-5.1-2", "9110-5.5-2", "9112-2.3-1", "9112-4-1", "9112-4-2", "9112-5-2"),
        arguments: accepted)
    func `the head parser reads a head however it is cut`(text: String, expected: Record) {
        for pieces in cuts(of: text + "rest") {
            #expect(HeadOutcome(of: pieces) == HeadOutcome(heads: [expected], rest: "rest"))
        }
    }

    static let refused: [(String, WireError)] = [
        ("", .receivedNothing),
        ("H", .truncatedHead),
        ("HTTP/1.1 200 OK", .truncatedHead),
        ("HTTP/1.1 200 OK\r\nA: b\r\n\r", .truncatedHead),
        ("\r\nHTTP/1.1 200 OK\r\n\r\n", .invalidStatusLine),
        ("\n", .invalidStatusLine),
        (" HTTP/1.1 200 OK\r\n\r\n", .invalidStatusLine),
        ("http/1.1 200 OK\r\n\r\n", .invalidStatusLine),
        ("HTTQ", .invalidStatusLine),
        ("ICY 200 OK\r\n\r\n", .invalidStatusLine),
        ("HTTP/1 200 OK\r\n\r\n", .invalidStatusLine),
        ("HTTP/1.x 200 OK\r\n\r\n", .invalidStatusLine),
        ("HTTP/1.10 200 OK\r\n\r\n", .invalidStatusLine),
        ("HTTP/1.1  200 OK\r\n\r\n", .invalidStatusCode),
        ("HTTP/1.1\t200 OK\r\n\r\n", .invalidStatusLine),
        ("HTTP/x.1 200 OK\r\n\r\n", .invalidStatusLine),
        ("HTTP/2.0 200 OK\r\n\r\n", .unsupportedVersion),
        ("HTTP/0.9 200 OK\r\n\r\n", .unsupportedVersion),
        ("HTTP/1.1 099 OK\r\n\r\n", .invalidStatusCode),
        ("HTTP/1.1 +20 OK\r\n\r\n", .invalidStatusCode),
        ("HTTP/1.1 20 OK\r\n\r\n", .invalidStatusCode),
        ("HTTP/1.1 2000 OK\r\n\r\n", .invalidStatusCode),
        ("HTTP/1.1 200\tOK\r\n\r\n", .invalidStatusCode),
        ("HTTP/1.1 200-OK\r\n\r\n", .invalidStatusCode),
        ("HTTP/1.1 200\n\n", .bareLineFeed),
        ("HTTP/1.1 200 OK\n\n", .bareLineFeed),
        ("HTTP/1.1 200 OK\rA: b\r\n\r\n", .bareCarriageReturn),
        ("HTTP/1.1 200 O\0K\r\n\r\n", .controlCharacter),
        ("HTTP/1.1 200 O\u{7F}K\r\n\r\n", .controlCharacter),
        ("HTTP/1.1 200 OK\r\nA: b\n\r\n", .bareLineFeed),
        ("HTTP/1.1 200 OK\r\nA: b\r\n\n", .bareLineFeed),
        ("HTTP/1.1 200 OK\r\n\r\r\n", .bareCarriageReturn),
        ("HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n", .bareCarriageReturn),
        ("HTTP/1.1 200 OK\r\nA: b\r\r\n\r\n", .bareCarriageReturn),
        ("HTTP/1.1 200 OK\r\nA: b\0c\r\n\r\n", .controlCharacter),
        ("HTTP/1.1 200 OK\r\nA: 0123456789abcdef\u{1B}[31m\r\n\r\n", .controlCharacter),
        ("HTTP/1.1 200 OK\r\nA\0: b\r\n\r\n", .controlCharacter),
        ("HTTP/1.1 200 OK\r\n: b\r\n\r\n", .emptyFieldName),
        ("HTTP/1.1 200 OK\r\nA : b\r\n\r\n", .whitespaceBeforeColon),
        ("HTTP/1.1 200 OK\r\nA\t: b\r\n\r\n", .whitespaceBeforeColon),
        ("HTTP/1.1 200 OK\r\nA b: c\r\n\r\n", .whitespaceBeforeColon),
        ("HTTP/1.1 200 OK\r\nA(b): c\r\n\r\n", .invalidFieldName),
        ("HTTP/1.1 200 OK\r\nÄ: c\r\n\r\n", .invalidFieldName),
        ("HTTP/1.1 200 OK\r\nA\r\n\r\n", .missingColon),
        ("HTTP/1.1 200 OK\r\nA\n\r\n", .missingColon),
        ("HTTP/1.1 200 OK\r\n A: b\r\n\r\n", .foldedLine),
        ("HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", .foldedLine),
        ("HTTP/1.1 200 OK\r\nA: b\r\n\tc\r\n\r\n", .foldedLine),
        ("HTTP/1.1 200 OK\r\nA: b\r\n \r\n\r\n", .foldedLine),
        ("HTTP/1.1 100 Continue\r\n\r\n", .truncatedHead),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 2", .truncatedHead),
    ]

    @Test(
        .rules(
            "9110-2.2-4", "9110-2.5-4", "9110-5.5-1", "9112-2.1-2", "9112-2.2-3", "9112-2.2-5", "9112-4-1", "9112-5-1",
            "9112-11-1"), arguments: refused)
    func `a malformed head is refused however it is cut`(text: String, expected: WireError) {
        for pieces in cuts(of: text) {
            #expect(HeadOutcome(of: pieces).error == expected)
        }
    }

    @Test(.rules("9110-5.6.2-1")) func `the head parser takes exactly the characters of a token in a name`() {
        let others = "!#$%&'*+-.^_`|~".utf8
        for byte in UInt8.min...UInt8.max where byte != UInt8(ascii: ":") {
            let letter = (byte | 0x20) &- 0x61
            let isToken = letter < 26 || byte &- 0x30 < 10 || others.contains(byte)
            let head = Array("HTTP/1.1 200 OK\r\nx".utf8) + [byte] + Array("x: y\r\n\r\n".utf8)
            #expect((HeadOutcome(of: [head]).error == nil) == isToken, "byte \(byte)")
        }
    }

    @Test(.rules("9110-5.5-3", "9112-2.2-1"))
    func `the head parser takes every character but controls in a value, at any place`() {
        for byte in UInt8.min...UInt8.max {
            let isText = byte >= 0x20 && byte != 0x7F || byte == 0x09
            // Eight bytes are looked at together, and what is left of a head one by one.
            for (before, after) in (0..<9).map({ ($0, 9) }) + [(0, 0), (3, 0), (9, 0), (9, 1)] {
                let value = [UInt8](repeating: 0x78, count: before) + [byte] + [UInt8](repeating: 0x78, count: after)
                let head = Array("HTTP/1.1 200 OK\r\nx:".utf8) + value + Array("\r\n\r\n".utf8)
                #expect((HeadOutcome(of: [head]).error == nil) == isText, "byte \(byte) between \(before), \(after)")
            }
        }
    }

    @Test(.rules("9110-15.2-1")) func `the head parser gives interim heads, then the final one`() {
        let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: <a>\r\n\r\n"
        let text = interim + "HTTP/1.1 200 OK\r\nA: b\r\n\r\nrest"
        let expected = HeadOutcome(
            heads: [
                Record(version: .http11, status: 100, reason: "Continue", fields: [:]),
                Record(version: .http11, status: 103, reason: "Early", fields: ["Link": "<a>"]),
                Record(version: .http11, status: 200, reason: "OK", fields: ["A": "b"]),
            ], rest: "rest")
        for pieces in cuts(of: text) { #expect(HeadOutcome(of: pieces) == expected) }
    }

    @Test func `a switch of protocols is taken for final`() {
        let text = "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n\u{1}\u{2}"
        for pieces in cuts(of: text) {
            let outcome = HeadOutcome(of: pieces)
            #expect(outcome.heads.map(\.status) == [101])
            #expect(outcome.rest == "\u{1}\u{2}")
        }
    }

    @Test func `the head parser throws the same error again`() {
        var parser = HeadParser()
        parser.feed(Array("HTTP/1.1 200 OK\r\nA b".utf8))
        #expect(throws: WireError.whitespaceBeforeColon) { try parser.next() }
        parser.feed(Array(": c\r\n\r\n".utf8))
        #expect(throws: WireError.whitespaceBeforeColon) { try parser.next() }
    }

    @Test func `the head parser knows whether a head has begun`() throws {
        var parser = HeadParser()
        #expect(parser.isEmpty)
        parser.feed(Array("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 201 Created\r\n\r\nrest".utf8))
        #expect(!parser.isEmpty)
        #expect(try parser.next()?.head.status == 200)
        #expect(!parser.isEmpty)
        #expect(try parser.next()?.head.status == 201)
        #expect(String(parser.takeRest()) == "rest")
        #expect(parser.isEmpty)
        #expect(try parser.next() == nil)
        #expect(throws: WireError.receivedNothing) { try parser.endOfStream() }
    }
}

@Suite struct `Head parser's storage` {
    /// Where an array's elements lie.
    private func address(of array: [UInt8]) -> UnsafePointer<UInt8>? {
        array.withUnsafeBufferPointer(\.baseAddress)
    }

    @Test func `the storage of a head is the array that was fed, for fields and rest alike`() throws {
        let received = Array("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\nbody".utf8)
        var parser = HeadParser()
        parser.feed(received)
        let interim = try #require(try parser.next())
        let final = try #require(try parser.next())
        let rest = parser.takeRest()
        #expect(address(of: interim.head.reason.storage) == address(of: received))
        #expect(address(of: final.head.fields.bytes) == address(of: received))
        #expect(address(of: rest.storage) == address(of: received))
        #expect(String(rest) == "body")
    }

    @Test func `the head parser releases interim heads when more must be read`() throws {
        var parser = HeadParser()
        parser.feed(Array("HTTP/1.1 103 Early\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\nB:".utf8))
        #expect(try parser.next()?.head.status == 103)
        #expect(try parser.next() == nil)
        parser.feed(Array(" c\r\n\r\n".utf8))
        let head = try #require(try parser.next()).head
        #expect(head.fields == ["A": "b", "B": "c"])
        #expect(String(head.reason) == "OK")
        #expect(head.fields.bytes.count == "HTTP/1.1 200 OK\r\nA: b\r\nB: c\r\n\r\n".utf8.count)
    }
}
