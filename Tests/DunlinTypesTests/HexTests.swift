import DunlinTypes
import LedgerRows
import Testing

@Suite struct `Hexadecimal digits` {
    @Test func `a digit of either case has a value, and no other byte has`() {
        let digits = Array("0123456789abcdef".utf8)
        for byte in UInt8.min ... .max {
            let lowered = (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
            #expect(Hex.value(byte) == digits.firstIndex(of: lowered).map(UInt8.init), "byte \(byte)")
        }
    }

    @Test(arguments: [(false, "0123456789abcdef"), (true, "0123456789ABCDEF")])
    func `each value below sixteen has its digit`(uppercase: Bool, digits: String) {
        #expect((0..<16).map { Hex.digit($0, uppercase: uppercase) } == Array(digits.utf8))
    }

    @Test func `a number gets zeros up to its width, and keeps all of its digits`() {
        #expect(Hex.text(UInt64(0), count: 16) == "0000000000000000")
        #expect(Hex.text(UInt64.max, count: 16) == "ffffffffffffffff")
        #expect(Hex.text(UInt8(10), count: 2, uppercase: true) == "0A")
        #expect(Hex.text(UInt32(0x12345), count: 4) == "12345")
        #expect(Hex.text(UInt8(0), count: 0) == "0")
    }

    @Test func `random digits are thirty-two, and others each time`() {
        let texts = Set((0..<100).map { _ in Hex.random() })
        #expect(texts.count == 100)
        #expect(texts.allSatisfy { $0.utf8.count == 32 && $0.utf8.allSatisfy { Hex.value($0) != nil } })
    }

    @Test func `a byte is percent-encoded in upper case`() {
        var bytes: [UInt8] = []
        for byte: UInt8 in [0x00, 0x2F, 0xAF, 0xFF] { bytes.appendTriplet(of: byte) }
        #expect(String(decoding: bytes, as: UTF8.self) == "%00%2F%AF%FF")
    }

    @Test(arguments: [(" ", "U+0020"), ("\u{E9}", "U+00E9"), ("\u{10FFFF}", "U+10FFFF")] as [(Unicode.Scalar, String)])
    func `a scalar is named by four digits or more`(scalar: Unicode.Scalar, name: String) {
        #expect(scalar.codePoint == name)
    }
}

@Suite struct `Token characters` {
    @Test(.rules("9110-5.6.2-1")) func `the characters of a token are letters, digits and fifteen marks`() {
        let characters = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
        #expect((UInt8.min ... .max).filter(TokenCharacters.contains) == characters.utf8.sorted())
    }
}
