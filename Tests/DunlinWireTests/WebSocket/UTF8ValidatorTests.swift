import DunlinTypes
import DunlinWire
import Testing

@Suite struct `A UTF-8 validator` {
    /// The position of the first impossible byte, counted over all pieces; nil if there is none.
    private static func fault(in pieces: [[UInt8]]) -> (fault: Int?, isComplete: Bool) {
        var validator = UTF8Validator()
        var before = 0
        for piece in pieces {
            if let position = Bytes(piece).withUnsafeBytes({ validator.take($0) }) { return (before + position, false) }
            before += piece.count
        }
        return (nil, validator.isComplete)
    }

    /// Checks bytes however they are cut, and behind so much ASCII that they lie anywhere in a block of 32.
    private static func expect(_ bytes: [UInt8], fault: Int?, isComplete: Bool) {
        for ascii in [0, 1, 29, 30, 31, 32, 63] {
            let all = [UInt8](repeating: 0x61, count: ascii) + bytes
            for tail in [[], [UInt8](repeating: 0x62, count: 40)] {
                if fault == nil, !isComplete, !tail.isEmpty { continue }
                for pieces in cuts(of: all + tail) {
                    let found = Self.fault(in: pieces)
                    #expect(found.fault == fault.map { $0 + ascii }, "\(bytes) behind \(ascii) bytes")
                    #expect(found.isComplete == isComplete, "\(bytes) behind \(ascii) bytes")
                }
            }
        }
    }

    /// The first and the last of each length, and the neighbours of the surrogates.
    @Test(arguments: [
        "", "a", "\u{0}", "\u{7F}", "\u{80}", "\u{7FF}", "\u{800}", "\u{FFF}", "\u{1000}", "\u{CFFF}", "\u{D000}",
        "\u{D7FF}", "\u{E000}", "\u{FFFD}", "\u{FFFE}", "\u{FFFF}", "\u{10000}", "\u{3FFFF}", "\u{40000}", "\u{FFFFF}",
        "\u{100000}", "\u{10FFFF}", "\u{FEFF}", "κόσμε", "日本語のテキスト", "a\u{E9}\u{4E2D}\u{1F600}z",
    ])
    func `valid text is accepted, however it is cut`(text: String) {
        Self.expect(Array(text.utf8), fault: nil, isComplete: true)
    }

    @Test(
        arguments: [
            // A continuation without a beginning, and bytes that occur nowhere.
            ([0x80], 0), ([0xBF], 0), ([0xC3, 0xA9, 0xA9], 2), ([0xFE], 0), ([0xFF], 0), ([0x61, 0xFF], 1),
            // Longer forms than needed.
            ([0xC0, 0x80], 0), ([0xC1, 0xBF], 0), ([0xE0, 0x80, 0x80], 1), ([0xE0, 0x9F, 0xBF], 1),
            ([0xF0, 0x80, 0x80, 0x80], 1), ([0xF0, 0x8F, 0xBF, 0xBF], 1),
            // Surrogates, and what is beyond U+10FFFF.
            ([0xED, 0xA0, 0x80], 1), ([0xED, 0xBF, 0xBF], 1), ([0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80], 1),
            ([0xF4, 0x90, 0x80, 0x80], 1), ([0xF5, 0x80, 0x80, 0x80], 0), ([0xF8, 0x88, 0x80, 0x80, 0x80], 0),
            ([0xFC, 0x84, 0x80, 0x80, 0x80, 0x80], 0),
            // A sequence that something else cuts.
            ([0xC3, 0x61], 1), ([0xC3, 0xC3], 1), ([0xE4, 0xB8, 0x61], 2), ([0xE4, 0x61, 0x61], 1),
            ([0xE4, 0xB8, 0xC3], 2),
            ([0xF0, 0x9F, 0x98, 0x61], 3), ([0xF0, 0x9F, 0x61, 0x61], 2), ([0xF0, 0x9F, 0x98, 0xFF], 3),
        ] as [([UInt8], Int)])
    func `text is refused at its first impossible byte, however it is cut`(bytes: [UInt8], fault: Int) {
        Self.expect(bytes, fault: fault, isComplete: false)
    }

    @Test(
        arguments: [
            [0xC3], [0xE4], [0xE4, 0xB8], [0xF0], [0xF0, 0x9F], [0xF0, 0x9F, 0x98], [0x61, 0xF4, 0x8F, 0xBF],
        ] as [[UInt8]])
    func `text that ends within a character is incomplete, and not yet wrong`(bytes: [UInt8]) {
        Self.expect(bytes, fault: nil, isComplete: false)
        var validator = UTF8Validator()
        _ = Bytes(bytes).withUnsafeBytes { validator.take($0) }
        #expect(validator.pendingCount == bytes.count { $0 >= 0x80 })
        #expect(!UTF8Validator.accepts(Bytes(bytes)))
    }

    @Test func `each sequence of up to three bytes is accepted or refused as the standard library does`() {
        for first in 0x00...0xFF {
            for second in first < 0xC0 ? [0x00, 0x61, 0x80, 0xC3] : [0x00, 0x61] + Array(0x7F...0xC0) + [0xFF] {
                for third in [0x00, 0x61, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF] {
                    // The padding lets the validator read a word.
                    let bytes = [UInt8(first), UInt8(second), UInt8(third), 0x61, 0x61, 0x61, 0x61]
                    let isValid = String(validating: bytes, as: UTF8.self) != nil
                    if UTF8Validator.accepts(Bytes(bytes)) != isValid { Issue.record("\(bytes)") }
                }
            }
        }
    }

    @Test func `each sequence of four bytes at a border is accepted or refused as the standard library does`() {
        let borders: [UInt8] = [0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF]
        for first in UInt8(0xEF)...0xF8 {
            for second in UInt8(0x7F)...0xC0 {
                for third in borders {
                    for fourth in borders {
                        let bytes = [first, second, third, fourth]
                        let isValid = String(validating: bytes, as: UTF8.self) != nil
                        if UTF8Validator.accepts(Bytes(bytes)) != isValid { Issue.record("\(bytes)") }
                    }
                }
            }
        }
    }
}
