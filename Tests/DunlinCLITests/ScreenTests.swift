import Children
import Dunlin
import DunlinCommandLine
import Testing

@testable import DunlinCLI

/// The width of what the command itself prints, and whether it has colours.
@Suite(.timeLimit(.minutes(5))) struct ScreenTests {
    @Test(
        arguments: [
            (true, 60, [:], 60), (true, 0, [:], 80), (true, 0, ["COLUMNS": "70"], 70),
            (true, 60, ["COLUMNS": "70"], 60),
            (false, 60, [:], 80), (false, 0, ["COLUMNS": "100"], 100), (false, 0, ["COLUMNS": "x"], 80),
            (false, 0, ["COLUMNS": "-5"], 80), (true, 1, [:], 20), (true, 65_535, [:], 1000),
        ] as [(Bool, Int, [String: String], Int)])
    func `the width is the terminal's, then that of COLUMNS`(
        isTerminal: Bool, reported: Int, variables: [String: String], expected: Int
    ) {
        #expect(Screen(isTerminal: isTerminal, reported: reported) { variables[$0] }.columns == expected)
    }

    @Test(
        arguments: [
            (true, ["TERM": "xterm"], true), (true, ["TERM": "xterm", "NO_COLOR": "1"], false),
            (true, ["TERM": "xterm", "NO_COLOR": ""], true), (true, ["TERM": "dumb"], false), (true, [:], false),
            (true, ["TERM": ""], false), (false, ["TERM": "xterm"], false),
        ] as [(Bool, [String: String], Bool)])
    func `colours are for terminals that know them`(isTerminal: Bool, variables: [String: String], expected: Bool) {
        #expect(Screen(isTerminal: isTerminal, reported: 80) { variables[$0] }.hasColour == expected)
    }

    @Test(
        arguments: [
            ("one two three", 20, 0, ["one two three"]), ("one two three", 8, 0, ["one two", "three"]),
            ("one two three", 8, 2, ["one two", "  three"]), ("  one two", 6, 0, ["  one", "  two"]),
            ("aaaaaaaaaa bb", 5, 0, ["aaaaaaaaaa", "bb"]), ("", 5, 0, [""]), ("日本 語", 5, 0, ["日本", "語"]),
        ] as [(String, Int, Int, [String])])
    func `text is wrapped between words`(text: String, width: Int, indent: Int, expected: [String]) {
        #expect(WrappedText.lines(of: text, width: width, indent: indent) == expected)
    }

    @Test(arguments: [60, 80, 100]) func `every page of help fits the width, with its words whole`(columns: Int) {
        let text = CommandTable.text
        let pages =
            [HelpPage.overview, .all] + text.commands.map { .command($0.name) }
            + text.sections.map { .section($0.name) }
        for page in pages {
            let shown = page.text(of: text, columns: columns)
            for line in shown.split(separator: "\n") {
                #expect(line.count < columns || !line.drop { $0 == " " }.contains(" "), "\(line)")
            }
            func words(_ text: String) -> [Substring] { text.split { $0 == " " || $0 == "\n" } }
            #expect(words(shown) == words(page.text(of: text, columns: 1000)))
        }
    }

    @Test(arguments: [60, 100]) func `help and messages have the terminal's width`(columns: Int) async throws {
        let help = try await PseudoTerminal.run(["help"], columns: columns).text
        #expect(help == HelpPage.overview.text(of: CommandTable.text, columns: columns) + "\n")
        let (text, end) = try await PseudoTerminal.run(["--pin", "short", "https://a.test"], columns: columns)
        let lines = text.split(separator: "\n")
        #expect(lines.count == (columns == 60 ? 2 : 1))
        #expect(lines.allSatisfy { $0.count < columns } && lines.dropFirst().allSatisfy { $0.hasPrefix("    ") })
        #expect(text.split { " \n".contains($0) }.joined(separator: " ").hasSuffix(Self.refusal))
        #expect(end.status == ExitCode.usage.rawValue)
    }

    private static let refusal = "\"short\" is not a pin; a pin is sha256/ and Base64 of 32 bytes"

    @Test func `messages of any command are wrapped on a terminal, and are lines elsewhere`() throws {
        let message = "a message that is made of words \u{1B}and of something else"
        let terminal = try PseudoTerminal(columns: 40)
        Output(of: "dunlin-image", results: terminal.device, remarks: terminal.device).complain(message)
        #expect(
            terminal.finishedText() == "dunlin-image: a message that is made of\n    words and of something else\n")
        let paper = try Paper()
        paper.output.complain(message)
        #expect(try paper.remarked == "dunlin: a message that is made of words and of something else\n")
    }
}
