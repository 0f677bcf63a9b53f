import DunlinCodecs
import Testing

@testable import DunlinImages

@Suite struct TerminalChoiceTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var environment: [String: String]
        var answers = ""
        var asked: TerminalImage.Method?
        var isTerminal = true
        let expected: String
        var testDescription: String {
            "\(environment) \(answers.debugDescription) \(asked?.rawValue ?? "") \(expected)"
        }
    }

    private static let utf8 = ["TERM": "xterm-256color", "LANG": "en_US.UTF-8"]
    private static let kitty = "\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[?62c"
    private static let sixel = "\u{1B}[?62;4c"

    private static func with(_ more: [String: String]) -> [String: String] { utf8.merging(more) { $1 } }

    static let rows = [
        Row(environment: utf8, expected: "blocks palette"),
        Row(environment: with(["COLORTERM": "truecolor"]), expected: "blocks full"),
        Row(environment: with(["COLORTERM": "24bit"]), expected: "blocks full"),
        Row(environment: utf8, answers: kitty, expected: "kitty palette"),
        Row(environment: utf8, answers: sixel, expected: "sixel palette"),
        Row(environment: utf8, answers: "\u{1B}_Gi=31;OK\u{1B}\\" + sixel, expected: "kitty palette"),
        Row(environment: with(["TERM": "xterm-kitty"]), expected: "kitty full"),
        Row(environment: with(["TERM": "foot"]), expected: "sixel full"),
        Row(environment: with(["TERM_PROGRAM": "WezTerm"]), expected: "kitty full"),
        // A terminal that answers knows better than its name.
        Row(environment: with(["TERM": "xterm-kitty"]), answers: "\u{1B}[?62c", expected: "blocks full"),
        Row(environment: with(["TMUX": "/tmp/tmux-0/default,1,0"]), answers: sixel, expected: "blocks palette"),
        Row(environment: with(["TERM": "screen-256color"]), answers: kitty, expected: "blocks palette"),
        Row(environment: with(["TERM": "tmux-256color", "TERM_PROGRAM": "ghostty"]), expected: "blocks full"),
        Row(environment: ["TERM": "xterm", "LANG": "C"], expected: "noUnicode"),
        Row(environment: ["TERM": "xterm", "LANG": "en_US.UTF-8", "LC_ALL": "C"], expected: "noUnicode"),
        Row(environment: ["TERM": "xterm", "LANG": "C"], answers: sixel, expected: "sixel palette"),
        Row(environment: with(["TERM": "dumb"]), expected: "dumbTerminal"),
        Row(environment: ["LANG": "en_US.UTF-8"], expected: "dumbTerminal"),
        Row(environment: with(["NO_COLOR": "1"]), answers: kitty, expected: "noColor"),
        Row(environment: with(["NO_COLOR": ""]), answers: kitty, expected: "kitty palette"),
        Row(environment: utf8, isTerminal: false, expected: "noTerminal"),
        // Asked for outright.
        Row(environment: [:], asked: .blocks, isTerminal: false, expected: "blocks full"),
        Row(environment: utf8, asked: .sixel, isTerminal: false, expected: "sixel palette"),
        Row(environment: with(["NO_COLOR": "1", "TMUX": "x"]), asked: .kitty, expected: "kitty palette"),
        Row(environment: ["TERM": "xterm", "LANG": "C"], asked: .blocks, expected: "blocks palette"),
    ]

    @Test(arguments: rows)
    func `a picture is drawn in the best way that the terminal is known to show`(row: Row) {
        var answers = TerminalAnswers()
        answers.read(row.answers.utf8)
        let choice = TerminalChoice(
            asked: row.asked, isTerminal: row.isTerminal, TerminalHints(row.environment), answers)
        switch choice {
        case .draw(let style): #expect("\(style.method.rawValue) \(style.colors)" == row.expected)
        case .describe(let refusal): #expect(refusal.rawValue == row.expected)
        }
    }

    @Test func `what the terminal tells goes into the style`() {
        var answers = TerminalAnswers()
        answers.read("\u{1B}[?1;0;16S\u{1B}]11;rgb:10/20/30\u{7}\u{1B}[?62;4c".utf8)
        guard case .draw(let style) = TerminalChoice(isTerminal: true, TerminalHints(Self.utf8), answers) else {
            Issue.record("nothing is drawn")
            return
        }
        #expect(style.registers == 16)
        #expect(style.background == ImageBuffer.Pixel(0x10, 0x20, 0x30))
    }

    @Test(
        arguments: [
            (utf8, nil, true, true), (utf8, nil, false, false), (with(["TMUX": "x"]), nil, true, false),
            (with(["TERM": "linux"]), nil, true, false), (with(["TERM": "dumb"]), .sixel, true, false),
            (with(["NO_COLOR": "1"]), nil, true, false), (with(["NO_COLOR": "1"]), .sixel, true, true),
        ] as [([String: String], TerminalImage.Method?, Bool, Bool)])
    func `a terminal is asked only where its answer matters`(
        environment: [String: String], asked: TerminalImage.Method?, isTerminal: Bool, expected: Bool
    ) {
        #expect(TerminalChoice.asks(asked: asked, isTerminal: isTerminal, TerminalHints(environment)) == expected)
    }

    // MARK: - Layout

    @Test(
        arguments: [
            // Never larger than it is.
            ((16, 16), .sixel, nil, nil, (16, 16, 2, 1)), ((16, 16), .blocks, nil, nil, (16, 16, 16, 8)),
            ((1, 1), .kitty, nil, nil, (1, 1, 1, 1)), ((1, 1), .blocks, nil, nil, (1, 1, 1, 1)),
            // As wide as the terminal, and a line less high.
            ((6400, 100), .sixel, nil, nil, (640, 10, 80, 1)), ((100, 6400), .sixel, nil, nil, (6, 368, 1, 23)),
            ((640, 480), .blocks, nil, nil, (61, 46, 61, 23)), ((640, 480), .kitty, nil, nil, (491, 368, 62, 23)),
            // As wide and as high as it was asked to be.
            ((16, 16), .sixel, 10, nil, (80, 80, 10, 5)), ((16, 16), .blocks, 10, nil, (10, 10, 10, 5)),
            ((16, 16), .sixel, nil, 40, (640, 640, 80, 40)), ((16, 16), .blocks, 20, 4, (8, 8, 8, 4)),
            ((640, 480), .blocks, 500, nil, (61, 46, 61, 23)), ((16, 16), .blocks, 0, nil, (1, 1, 1, 1)),
            ((100_000, 1), .blocks, nil, nil, (80, 1, 80, 1)), ((1, 100_000), .blocks, nil, nil, (1, 46, 1, 23)),
        ] as [((Int, Int), TerminalImage.Method, Int?, Int?, (Int, Int, Int, Int))])
    func `a picture keeps its shape and fits`(
        size: (Int, Int), method: TerminalImage.Method, columns: Int?, rows: Int?, expected: (Int, Int, Int, Int)
    ) {
        let layout = TerminalImage.Layout(
            of: ImageSize(width: size.0, height: size.1), method, .init(columns: columns, rows: rows), .init())
        #expect((layout.pixels.width, layout.pixels.height, layout.columns, layout.rows) == expected)
    }

    @Test func `square pixels stay square where characters are no half of one`() {
        let geometry = TerminalImage.Geometry(columns: 100, rows: 50, cell: ImageSize(width: 10, height: 25))
        let layout = TerminalImage.Layout(of: ImageSize(width: 50, height: 50), .blocks, .init(), geometry)
        #expect(layout.pixels == ImageSize(width: 50, height: 40))
    }
}
