import DunlinCommandLine
import Folders
import Foundation
import Testing

@testable import DunlinCLI

/// The completions in the shells themselves, in a folder with a file whose name is a command. What runs it leaves
/// another file.
///
/// A shell that is not installed is left out, and the test says so; `.ci/install test` installs all of them.
@Suite(.timeLimit(.minutes(5))) struct CompletionTests {
    private static let name = "$(touch evaluated)"
    private let folder: Folder

    init() throws {
        folder = try Folder()
        try folder.write("", as: Self.name)
        for shell in Shell.allCases {
            try folder.write(HelpPage.completions(shell).text(of: CommandTable.text), as: "script.\(shell)")
        }
    }

    private static func isInstalled(_ program: String) -> Bool {
        ["/bin", "/usr/bin", "/usr/local/bin"].contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
    }

    /// What the program writes. `text` is its script.
    private func run(_ program: String, _ arguments: String..., text: String) throws -> String {
        try folder.write(text, as: "try")
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments + ["./try"]
        process.currentDirectoryURL = URL(filePath: folder.path)
        let pipe = Pipe()
        (process.standardOutput, process.standardError) = (pipe, pipe)
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let bytes = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: bytes, as: UTF8.self)
    }

    private func expectNothingEvaluated() {
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/evaluated"))
    }

    @Test func `bash completes options, words and files, and evaluates nothing`() throws {
        let said = try run(
            "bash", "--norc",
            text: """
                source ./script.bash
                compopt() { printf '(%s)' "$*"; }
                try() {
                    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
                    _dunlin
                    printf '<%s>' "${COMPREPLY[@]}"; echo
                }
                try dunlin rea
                try dunlin get --max-t
                try dunlin get --guard = ''
                try dunlin -o '$(t'
                try dunlin -- --guar
                try dunlin get -o -- --guar
                try dunlin --guard -- --pub
                try dunlin '$(touch evaluated)' --guar
                try dunlin help tru
                try dunlin '$(touch evaluated)'
                """)
        #expect(
            said == "<reachability>\n<--max-time>\n<public>\n(-o default)<>\n<>\n<>\n<>\n<--guard>\n<trust>\n<>\n")
        expectNothingEvaluated()
    }

    /// bash itself completes the names of files, so it runs on a terminal, with a program that prints its arguments.
    @Test(
        .enabled(if: isInstalled("zsh"), "zsh is not installed"),
        arguments: [
            ("-o \\\\$\\t", "<-o><\(name)>"), ("-o \"a b\\t", "<-o><a b c>"), ("-T a\\t", "<-T><a b c>"),
            ("--cacert=a\\t", "<--cacert=a b c>"),
        ])
    func `bash completes names with blanks, in quotes and without`(typed: String, expected: String) throws {
        try folder.write("", as: "a b c")
        let said = try run(
            "zsh", "-f",
            text: """
                zmodload zsh/zpty
                zpty b bash --norc --noprofile -i
                zpty -w b "source ./script.bash; dunlin() { printf '<%s>' \\"\\$@\\"; echo; }; echo rea''dy"
                zpty -r -m b all '*ready*'
                zpty -n -w b $'dunlin \(typed)\\n'
                zpty -r -m b all $'*<*>*\\n' && print -r -- "$all"
                zpty -d b
                """)
        #expect(said.contains(expected), "\(said)")
        expectNothingEvaluated()
    }

    @Test(.enabled(if: isInstalled("zsh"), "zsh is not installed"))
    func `zsh may read the script before it completes anything`() throws {
        let script = "source ./script.zsh && print -r -- \"<$_comps[dunlin]>\""
        let said = try run("zsh", "-f", text: "autoload -U compinit; compinit -D -u; \(script)")
        #expect(said == "<_dunlin>\n")
        let early = try run("zsh", "-f", text: "source ./script.zsh")
        #expect(early == "dunlin: run compinit first: autoload -U compinit; compinit\n")
    }

    @Test(.enabled(if: isInstalled("fish"), "fish is not installed"))
    func `fish completes options, words and files, and evaluates nothing`() throws {
        let said = try run(
            "fish", "--no-config",
            text: """
                source ./script.fish
                for line in 'dunlin rea' 'dunlin get --max-t' 'dunlin get --guard ' 'dunlin -o \\$' \
                    'dunlin "$(touch evaluated)" --guar' 'dunlin help tru' 'dunlin -- --guar'
                    complete -C $line | string replace -r '\\t.*' ''
                end
                """)
        #expect(said == "reachability\n--max-time\npublic\n\(Self.name)\n--guard\ntrust\n")
        expectNothingEvaluated()
    }

    /// zsh completes only what is typed, so it runs on a terminal of its own, until the text has come.
    @Test(
        .enabled(if: isInstalled("zsh"), "zsh is not installed"),
        arguments: [
            ("dunlin comple\\t", "completions"), ("dunlin get --max-t\\t", "--max-time"),
            ("dunlin get --guard \\t", "public"), ("dunlin -o \\\\$\\t", "touch\\\\ evaluated"),
            ("dunlin '$(touch evaluated)' --guar\\t", "--guard"),
            ("dunlin get -- --guar\\t\\t; print do''ne\\n", "done"),
        ])
    func `zsh completes options, words and files, and evaluates nothing`(typed: String, expected: String) throws {
        try folder.write(HelpPage.completions(.zsh).text(of: CommandTable.text), as: "_dunlin")
        let said = try run(
            "zsh", "-f",
            text: """
                zmodload zsh/zpty
                zpty z zsh -f -i
                zpty -w z "fpath=($PWD \\$fpath); autoload -U compinit; compinit -D -u; print rea''dy"
                zpty -r -m z all '*ready*'
                zpty -n -w z $'\(typed.replacing("'", with: "\\'"))'
                zpty -r -m z all '*\(expected)*' && print -r -- "found"
                zpty -d z
                """)
        #expect(said.hasSuffix("found\n"), "\(said)")
        expectNothingEvaluated()
    }

    @Test(.enabled(if: isInstalled("groff"), "groff is not installed"))
    func `the manual page is one that its formatter knows, word for word`() throws {
        let page = HelpPage.manual.text(of: CommandTable.text)
        try folder.write(page, as: "page")
        let said = try run("sh", text: "groff -man -ww -Tascii -P-c -P-b -P-u ./page")
        #expect(said.contains("DUNLIN(1)"))
        // What groff says against a page begins with the page's place.
        #expect(!said.contains("./page:"), "\(said.prefix(500))")
        for option in CommandTable.text.main.options { #expect(said.contains("--\(option.name)"), "\(option.name)") }
        #expect(ManualPage.escaped(".a\\b-c'd") == "\\&.a\\eb\\-c\\(aqd")
    }
}
