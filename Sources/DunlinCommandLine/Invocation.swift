/// What a whole command line asks for, before any value is judged.
///
/// The walk of an argument list, one file per step:
/// 1. `Program.start` reads the arguments, runs the result, and exits with an `ExitCode`.
/// 2. `Invocation` chooses the command: the first argument if it is a command's name, and `ProgramText.main` otherwise.
/// 3. `ArgumentMachine` splits the rest into options and words, by the command's list of `OptionText`.
///    `OptionLookup` says what is wrong with an option that is not in the list.
/// 4. `ParsedArguments.apply` lets each `Option` put its value into the command's settings, in the order given.
/// 5. The program judges words and settings together, and has its own value of the whole.
package enum Invocation: Equatable {
    case page(HelpPage)
    /// A command, with the name that stands in the table.
    case command(String, ParsedArguments)

    package init(_ arguments: [String], of program: ProgramText) throws(UsageError) {
        guard let first = arguments.first else {
            self = .page(.overview)
            return
        }
        guard let command = program.command(first) else {
            self = try Self.parsed(program.main, arguments, of: program)
            return
        }
        self = try Self.parsed(command, Array(arguments.dropFirst()), of: program)
    }

    private static func parsed(
        _ command: CommandText, _ arguments: [String], of program: ProgramText
    ) throws(UsageError) -> Invocation {
        var machine = ArgumentMachine(command, of: program)
        var parsed = ParsedArguments()
        for argument in arguments {
            for action in try machine.take(argument) {
                switch action {
                case .word(let word): parsed.words.append(word)
                case .option(let given) where given.option == .help:
                    return .page(command.name.isEmpty ? .overview : .command(command.name))
                case .option(let given) where given.option == .version: return .page(.version)
                case .option(let given): parsed.options.append(given)
                }
            }
        }
        try machine.end()
        if command.words == .none, let extra = parsed.words.first {
            throw UsageError(description: "\(command.name) takes no arguments; \"\(extra)\" was given")
        }
        switch command.name {
        case "help": return .page(try HelpPage(parsed.words, of: program))
        case "completions": return .page(.completions(try shell(parsed.words)))
        case "version": return .page(.version)
        default: return .command(command.name, parsed)
        }
    }

    private static func shell(_ words: [String]) throws(UsageError) -> Shell {
        guard words.count == 1, let shell = Shell(rawValue: words[0]) else {
            let given = words.isEmpty ? "" : ", not \"\(words.joined(separator: " "))\""
            throw UsageError(description: "completions takes bash, zsh or fish\(given)")
        }
        return shell
    }
}

/// Options and words in the order given.
package struct ParsedArguments: Equatable, Sendable {
    package var options: [GivenOption] = []
    package var words: [String] = []

    package init() {}

    package func apply<Settings>(_ table: [Option<Settings>], to settings: inout Settings) throws(UsageError) {
        for given in options {
            for option in table where option.text == given.option { try option.apply(&settings, given) }
        }
    }
}
