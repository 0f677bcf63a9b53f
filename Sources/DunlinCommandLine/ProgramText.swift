/// The table of a program: its commands, their options, and what is said of them.
package struct ProgramText: Sendable {
    package let name: String
    /// What the program is, in a few words.
    package let help: String
    /// What runs without a command's name: arguments that begin with a URL, a file or an option.
    package let main: CommandText
    package let commands: [CommandText]
    /// What is said of all the commands together that take what `main` takes.
    package let alike: String
    /// Options of other programs that people expect, with the reason why they are not there.
    package let absent: [AbsentOption]
    /// Sentences for the manual page: a title and paragraphs each.
    package let notes: [Note]

    package struct Note: Sendable {
        package let title: String
        package let paragraphs: [String]

        package init(_ title: String, _ paragraphs: String...) {
            (self.title, self.paragraphs) = (title, paragraphs)
        }
    }

    package init(
        name: String, help: String, main: CommandText, commands: [CommandText], alike: String = "",
        absent: [AbsentOption] = [], notes: [Note] = []
    ) {
        (self.name, self.help, self.main) = (name, help, main)
        let sections = ([main] + commands).flatMap(\.sections).map(\.name)
        let topics = commands.map(\.name) + CommandText.generalNames + sections + ["all", "man"]
        self.commands = commands + CommandText.general(topics: topics)
        (self.alike, self.absent, self.notes) = (alike, absent, notes)
    }

    package func command(_ name: String) -> CommandText? { commands.first { $0.name == name } }

    /// The command whose name was perhaps meant.
    package func nearestCommand(to word: String) -> String? {
        OptionLookup.nearest(to: word, among: commands.map(\.name))
    }

    /// All commands, the one without a name first.
    package var all: [CommandText] { [main] + commands }

    /// The sections of all commands; those that several commands share occur once.
    package var sections: [OptionSection] {
        var names: Set<String> = []
        return all.flatMap(\.sections).filter { names.insert($0.name).inserted }
    }
}

/// A command, and what may follow its name.
package struct CommandText: Sendable, Equatable {
    /// What its words are: what a shell completes.
    package enum Words: Sendable, Equatable {
        case none
        case text
        case files
        case fixed([String])
    }

    /// The name; empty for what runs without one.
    package let name: String
    /// How the words are shown: `URL`, `[HOST]`.
    package let arguments: String
    package let help: String
    package let words: Words
    package let sections: [OptionSection]

    package init(
        _ name: String, arguments: String = "", words: Words = .none, help: String, sections: [OptionSection] = []
    ) {
        (self.name, self.arguments, self.help) = (name, arguments, help)
        (self.words, self.sections) = (words, sections)
    }

    package var options: [OptionText] { sections.flatMap(\.options) + [.help, .version] }

    static let generalNames = ["completions", "help", "version"]

    /// The commands of every program. The topics are what help can be asked about; each is offered once.
    static func general(topics: [String]) -> [CommandText] {
        var seen: Set<String> = []
        return [
            CommandText(
                "completions", arguments: Shell.names.joined(separator: "|"), words: .fixed(Shell.names),
                help: "prints what completes the arguments in a shell"),
            CommandText(
                "help", arguments: "[TOPIC]", words: .fixed(topics.filter { seen.insert($0).inserted }),
                help: "help on a command or a topic; also: all, man"),
            CommandText("version", help: "prints the version"),
        ]
    }
}

/// Options of one subject.
package struct OptionSection: Sendable, Equatable {
    /// One word, by which `help` finds it.
    package let name: String
    package let title: String
    package let options: [OptionText]

    package init(_ name: String, title: String, _ options: [OptionText]) {
        (self.name, self.title, self.options) = (name, title, options)
    }
}

/// An option that is not there, and why.
package struct AbsentOption: Sendable {
    package let names: [String]
    package let letter: Character?
    /// A sentence that follows "is not there:".
    package let reason: String

    package init(_ names: String..., letter: Character? = nil, because reason: String) {
        (self.names, self.letter, self.reason) = (names, letter, reason)
    }
}

/// The shells whose arguments can be completed.
package enum Shell: String, Sendable, CaseIterable {
    case bash
    case zsh
    case fish

    package static var names: [String] { allCases.map(\.rawValue) }
}
