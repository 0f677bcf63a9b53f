import DunlinCommandLine
import Foundation
import Testing

@testable import DunlinCLI

/// One table makes the parser, help, manual page and completions.
@Suite(.timeLimit(.minutes(10))) struct CommandTableTests {
    private static let text = CommandTable.text
    private static let pages = [HelpPage.all, .manual] + Shell.allCases.map { HelpPage.completions($0) }

    /// The page's words, without what marks them in one of its languages.
    private static func words(of page: HelpPage) -> Set<Substring> {
        let text = page.text(of: text).replacing("\\-", with: "-").replacing("\\fB", with: " ")
            .replacing("\\fR", with: " ")
        return Set(text.split { !($0.isLetter || $0.isNumber || $0 == "-" || $0 == ".") })
    }

    @Test(arguments: pages) func `every command and option is on every page`(page: HelpPage) {
        let words = Self.words(of: page)
        let isFish = page == .completions(.fish)
        for command in Self.text.commands {
            #expect(words.contains(Substring(command.name)), "\(command.name)")
            for spelling in command.options.flatMap(\.spellings) {
                // fish has `-s o -l output`.
                let word = isFish ? Substring(spelling).drop { $0 == "-" } : Substring(spelling)
                #expect(words.contains(word), "\(spelling)")
            }
        }
    }

    @Test func `the parser knows the options of the pages, and no others`() {
        let requests = Self.text.main.options.filter { $0 != .help && $0 != .version }
        let known = Command.GetOptions.table.map(\.text)
        #expect(Set(requests.flatMap(\.spellings)) == Set(known.flatMap(\.spellings)))
        #expect(requests.count == known.count)
        let transfers = ["download": TransferOptions.downloadTable, "upload": TransferOptions.uploadTable]
        for (name, table) in transfers {
            let spellings = Self.text.command(name)?.options.flatMap(\.spellings)
            let expected = (table.map(\.text) + [.help, .version]).flatMap(\.spellings)
            #expect(Set(spellings ?? []) == Set(expected), "\(name)")
        }
        let reaching = Self.text.command("reachability")?.options
        #expect(reaching == ReachabilityOptions.table.map(\.text) + [.help, .version])
        #expect(CommandTable.methods.allSatisfy { Self.text.command($0)?.sections == Self.text.main.sections })
    }

    @Test func `no name means two things`() {
        for command in Self.text.all {
            let spellings = command.options.flatMap(\.spellings)
            #expect(Set(spellings).count == spellings.count, "\(command.name): \(spellings.sorted())")
        }
        let topics = Self.text.commands.map(\.name) + Self.text.sections.map(\.name) + ["all", "man"]
        // `reachability`, `download` and `upload` are commands and sections of their options.
        #expect(Set(topics).count == topics.count - 3)
    }

    @Test func `what is said to be absent is absent, and said once`() {
        let there = Set(Self.text.all.flatMap(\.options).flatMap(\.spellings))
        let absent = Self.text.absent.flatMap { option in
            option.names.map { "--\($0)" } + (option.letter.map { ["-\($0)"] } ?? [])
        }
        #expect(Set(absent).count == absent.count)
        // -P belongs to download only.
        #expect(there.intersection(absent) == ["-P"])
    }

    @Test func `every page of help fits a screen of 24 lines and 80 columns`() {
        let pages =
            [HelpPage.overview] + Self.text.commands.map { .command($0.name) }
            + Self.text.sections.map { .section($0.name) }
        for page in pages {
            let lines = page.text(of: Self.text).split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count <= 24, "\(page): \(lines.count) lines")
            #expect(lines.allSatisfy { $0.count < 80 }, "\(page)")
        }
    }

    @Test func `every exit code is in the help and in the manual page`() {
        for code in ExitCode.allCases {
            #expect(HelpPage.all.text(of: Self.text).contains("  \(code.rawValue)  \(code.meaning)\n"))
            #expect(HelpPage.manual.text(of: Self.text).contains("\\fB\(code.rawValue)\\fR\n"))
        }
    }

    @Test func `help is printed`() async throws {
        let paper = try Paper()
        #expect(await DunlinCommand.run(try Command(arguments: ["help", "trust"]), paper.output) == .success)
        #expect(try paper.said.hasPrefix("trust over https:\n"))
    }

    @Test(
        arguments: ["README.md"]
            + ["Caching", "Cookies", "Logging", "Proxies", "Trust"].map { "Sources/Dunlin/Dunlin.docc/\($0).md" })
    func `each command that the documentation shows is one`(file: String) throws {
        let root = URL(filePath: #filePath).appending(path: "../../..").standardized
        let text = try String(contentsOf: root.appending(path: file), encoding: .utf8)
        let shown = text.matches(of: /(?:^|`)(?:swift run )?dunlin ([^`\n]+)/.anchorsMatchLineEndings())
        #expect(!shown.isEmpty)
        let values = ["URL": "https://a.test", "bash|zsh|fish": "bash", "'*'": "*"]
        for command in shown {
            let words = command.output.1.split(separator: " ").map { word in
                word.hasPrefix("sha256/") ? "sha256/RhJ0zCbdbdlj3rUd8PEcLlzpVz5SUQzzGHKXFzvLP6M=" : String(word)
            }
            #expect(throws: Never.self, "\(command.output.0)") {
                try Command(arguments: words.map { values[$0] ?? $0 })
            }
        }
    }
}
