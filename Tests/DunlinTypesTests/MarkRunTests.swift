import Testing

@testable import DunlinTypes

@Suite struct `Runs of combining marks` {
    private static func text(_ marks: Int, _ mark: Unicode.Scalar = "\u{301}", before: Int = 0, after: Int = 0)
        -> String
    {
        String(repeating: "a", count: before)
            + String(String.UnicodeScalarView(repeatElement(mark, count: marks)))
            + String(repeating: "b", count: after)
    }

    /// Two, three and four bytes long.
    @Test(arguments: ["\u{301}", "\u{327}", "\u{5B0}", "\u{93C}", "\u{1AB0}", "\u{20D0}", "\u{1D165}", "\u{1E8D0}"])
    func `a run is too long if it has more than 256, wherever it is`(mark: Unicode.Scalar) {
        #expect(MarkRun.isMark(mark))
        for before in [0, 1, 2, 3, 100, 255, 509, 510, 511, 512, 513, 1000] {
            for after in [0, 1, 600] {
                #expect(MarkRun.isTooLong(in: Self.text(257, mark, before: before, after: after).utf8))
                #expect(!MarkRun.isTooLong(in: Self.text(256, mark, before: before, after: after).utf8))
            }
        }
    }

    @Test(arguments: ["a", "\u{E9}", "\u{4E2D}", "\u{1F600}", "\u{200D}", "\u{2F0}"] as [Unicode.Scalar])
    func `other characters are no marks`(scalar: Unicode.Scalar) {
        #expect(!MarkRun.isMark(scalar))
        #expect(!MarkRun.isTooLong(in: Self.text(2000, scalar).utf8))
    }

    @Test func `a letter among the marks ends a run, and so do bytes that are no text`() {
        #expect(!MarkRun.isTooLong(in: (Self.text(256) + "a" + Self.text(256)).utf8))
        #expect(MarkRun.isTooLong(in: (Self.text(256) + Self.text(1, "\u{1D165}")).utf8))
        for bytes in [[0xCC], [0xFF, 0xCC], [0x80, 0x80, 0x80, 0x80], [0xE1], [0xF0, 0x9D, 0x85]] as [[UInt8]] {
            let some = Array(repeatElement(bytes, count: 2000).joined())
            #expect(!MarkRun.isTooLong(in: some))
        }
    }
}
