import DunlinCodecs
import DunlinTesting
import Testing

@testable import DunlinImages

@Suite struct TerminalAnswersTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: String
        var kitty = false
        var sixel = false
        var registers: Int?
        var cell: ImageSize?
        var background: ImageBuffer.Pixel?
        var isKnown = false
        var isInterrupted = false
    }

    private static let long = String(repeating: "1;", count: 100)

    static let rows = [
        Row(testDescription: "nothing", bytes: ""),
        Row(
            testDescription: "kitty", bytes: "\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[6;18;9t\u{1B}[?62;c", kitty: true,
            cell: ImageSize(width: 9, height: 18)),
        Row(
            testDescription: "kitty, and a kind", bytes: "\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[?62c", kitty: true,
            isKnown: true),
        Row(
            testDescription: "sixel with registers", bytes: "\u{1B}[?1;0;1024S\u{1B}[?63;1;2;4;6;9;15;22c", sixel: true,
            registers: 1024, isKnown: true),
        Row(testDescription: "a kind of 4 is no sixel", bytes: "\u{1B}[?4;6c", isKnown: true),
        Row(
            testDescription: "a background", bytes: "\u{1B}]11;rgb:1e1e/0000/ffff\u{1B}\\\u{1B}[?1;2c",
            background: ImageBuffer.Pixel(0x1E, 0, 0xFF), isKnown: true),
        Row(
            testDescription: "a background that ends with a bell", bytes: "\u{1B}]11;rgb:f/80/000\u{7}",
            background: ImageBuffer.Pixel(255, 0x80, 0)),
        Row(testDescription: "a background of too many parts", bytes: "\u{1B}]11;rgb:f/8/0/0\u{7}"),
        Row(testDescription: "a background with a sign", bytes: "\u{1B}]11;rgb:+f/8/0\u{7}"),
        Row(testDescription: "another number", bytes: "\u{1B}_Gi=3;OK\u{1B}\\"),
        Row(testDescription: "an error", bytes: "\u{1B}_Gi=31;EINVAL:no\u{1B}\\"),
        Row(testDescription: "an answer that never ends", bytes: "\u{1B}_Gi=31;OK"),
        Row(testDescription: "registers that were refused", bytes: "\u{1B}[?1;3;0S"),
        Row(testDescription: "another answer than was asked for", bytes: "\u{1B}[4;480;640t\u{1B}[8;24;80t"),
        Row(testDescription: "a character without a size", bytes: "\u{1B}[6;0;0t"),
        Row(testDescription: "a character too large", bytes: "\u{1B}[6;9999;9999t"),
        Row(
            testDescription: "numbers that are none",
            bytes: "\u{1B}[6;1 8;9t\u{1B}[?;;c\u{1B}[6;99999999999999999999;1t"),
        Row(testDescription: "keys", bytes: "ls -l\r\u{1B}[A\u{1B}OP\u{1B}[?62;4c", sixel: true, isKnown: true),
        Row(
            testDescription: "an escape before an answer", bytes: "\u{1B}\u{1B}[?62;4c", sixel: true, isKnown: true),
        Row(
            testDescription: "a sequence that another cuts off", bytes: "\u{1B}[6;18\u{1B}_Gi=31\u{1B}[?62;4c",
            sixel: true,
            isKnown: true),
        Row(
            testDescription: "a sequence too long", bytes: "\u{1B}[?\(long)4c\u{1B}_G\(long)i=31;OK\u{1B}\\",
            isKnown: false),
        Row(
            testDescription: "what comes after the last answer", bytes: "\u{1B}[?62c\u{1B}_Gi=31;OK\u{1B}\\",
            isKnown: true),
        Row(testDescription: "Control-C", bytes: "ab\u{3}\u{1B}[?62c", isInterrupted: true),
        Row(testDescription: "Control-C within a sequence", bytes: "\u{1B}[\u{3}", isInterrupted: true),
    ]

    @Test(arguments: rows, [1, 3, 4096])
    func `only exact answers to a question count, however they are split`(row: Row, piece: Int) {
        var answers = TerminalAnswers()
        let bytes = Array(row.bytes.utf8)
        for start in stride(from: 0, to: bytes.count, by: piece) {
            answers.read(bytes[start..<min(start + piece, bytes.count)])
        }
        #expect(answers.hasKitty == row.kitty)
        #expect(answers.hasSixel == row.sixel)
        #expect(answers.registers == row.registers)
        #expect(answers.cell == row.cell)
        #expect(answers.background == row.background)
        #expect(answers.isKnown == row.isKnown)
        #expect(answers.isInterrupted == row.isInterrupted)
    }

    @Test func `reading ends after so many bytes`() {
        var answers = TerminalAnswers()
        answers.read(Array(repeating: UInt8(ascii: "x"), count: 4095))
        #expect(!answers.isOver)
        answers.read(Array("x\u{1B}[?62;4c".utf8))
        #expect(answers.isOver)
        #expect(!answers.isKnown)
    }

    @Test(arguments: 0..<20)
    func `no bytes confuse the reader of a terminal's answers`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let letters = Array("\u{1B}[]_\\?;c04StGi=31OK/rgb\u{7}\u{3}\u{80}".utf8) + [0, 0x9B, 0xFF]
        for _ in 0..<200 {
            var answers = TerminalAnswers()
            let noise = (0..<random.next(below: 300)).map { _ in letters[random.next(below: letters.count)] }.filter {
                $0 != 3
            }
            answers.read(noise)
            let wasKnown = answers.isKnown
            // Whatever it was in the middle of, a whole answer is understood.
            answers.read(Array("\u{1B}[?62;4c".utf8))
            #expect(answers.isKnown)
            if !wasKnown { #expect(answers.hasSixel) }
        }
    }
}
