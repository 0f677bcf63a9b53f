import DunlinCommandLine
import Testing

/// How arguments are split into options and words.
@Suite struct ArgumentMachineTests {
    private static let options = [
        OptionText(["quiet", "silent"], letter: "q", help: ""), OptionText(["loud"], letter: "l", help: ""),
        OptionText(["number"], letter: "n", value: .text("N"), help: ""),
    ]
    private static let program = ProgramText(
        name: "tool", help: "",
        main: CommandText(
            "", arguments: "WORD", words: .text, help: "",
            sections: [
                OptionSection("all", title: "", options)
            ]),
        commands: [
            CommandText(
                "other", help: "",
                sections: [
                    OptionSection("more", title: "", [OptionText(["watch"], letter: "w", help: "")])
                ])
        ],
        absent: [AbsentOption("fast", letter: "f", because: "nothing is")])

    /// Each action as text: `-q`, `-n=3`, `word`.
    private static func actions(_ arguments: [String]) throws(UsageError) -> [String] {
        var machine = ArgumentMachine(program.main, of: program)
        var texts: [String] = []
        for argument in arguments {
            for action in try machine.take(argument) {
                switch action {
                case .word(let word): texts.append(word)
                case .option(let given):
                    texts.append(given.spelling + (given.option.value == nil ? "" : "=\(given.value)"))
                }
            }
        }
        try machine.end()
        return texts
    }

    @Test(
        arguments: [
            ([], []), (["-q", "-l"], ["-q", "-l"]), (["-ql"], ["-q", "-l"]), (["-qq"], ["-q", "-q"]),
            (["-n", "3"], ["-n=3"]), (["-n3"], ["-n=3"]), (["-qn3"], ["-q", "-n=3"]), (["-nq"], ["-n=q"]),
            (["-qn", "3", "a"], ["-q", "-n=3", "a"]), (["-n=3"], ["-n==3"]), (["-n", ""], ["-n="]),
            (["--number", "3"], ["--number=3"]), (["--number=3"], ["--number=3"]), (["--number="], ["--number="]),
            (["--number=a=b"], ["--number=a=b"]), (["--number", "--quiet"], ["--number=--quiet"]),
            (["--number", "--"], ["--number=--"]), (["-n", "-q"], ["-n=-q"]), (["-n", "-"], ["-n=-"]),
            (["--silent"], ["--silent"]), (["a", "-q", "b"], ["a", "-q", "b"]),
            (["-q", "--", "-l", "--", "--no"], ["-q", "-l", "--", "--no"]), (["-"], ["-"]), ([""], [""]),
            (["-n", "é", "$(x)"], ["-n=é", "$(x)"]),
        ] as [([String], [String])])
    func `options are joined, have values, and stand where they like`(arguments: [String], expected: [String]) throws {
        #expect(try Self.actions(arguments) == expected)
    }

    @Test(arguments: [
        (["-n"], "-n needs a value"), (["-qn"], "-n needs a value"), (["--number"], "--number needs a value"),
        (["--quiet=yes"], "--quiet takes no value, and one was given"),
        (["--quite"], "there is no option \"--quite\"; the nearest is --quiet"),
        (["--numbre=3"], "there is no option \"--numbre\"; the nearest is --number"),
        (["--num=3"], "there is no option \"--num\"; the nearest is --number"),
        (["--zzz"], "there is no option \"--zzz\"; see tool help all"),
        (["--"], nil), (["--="], "there is no option \"--\"; see tool help all"),
        (["-z"], "there is no option \"-z\"; see tool help all"),
        (["-qz3"], "there is no option \"-z\", in \"-qz…\"; see tool help all"),
        (["-L"], "there is no option \"-L\"; the nearest is -l, --loud"),
        (["-number"], nil), (["-silent"], "there is no option \"-silent\"; the nearest is --silent"),
        (
            ["--number 3"],
            "there is no option \"--number…\"; write --number and its value as two words, or with = between"
        ),
        (["--nmber 3"], "there is no option \"--nmber…\"; the nearest is --number"),
        (["--watch"], "there is no option \"--watch\"; it is one of tool other"),
        (["-w"], "there is no option \"-w\"; it is one of tool other"),
        (["--fast"], "--fast is not there: nothing is"), (["-f"], "-f (--fast) is not there: nothing is"),
        (["-qf"], "-f (--fast) is not there: nothing is"),
    ])
    func `what makes no sense is refused with the reason or the nearest`(arguments: [String], expected: String?) throws
    {
        guard let expected else {
            _ = try Self.actions(arguments)
            return
        }
        #expect(throws: UsageError(description: expected)) { try Self.actions(arguments) }
    }
}
