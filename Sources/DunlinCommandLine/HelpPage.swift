internal import DunlinTypes

/// A text that is made of a program's table.
package enum HelpPage: Equatable, Sendable {
    /// The commands, and the most common options.
    case overview
    case command(String)
    /// The options of one subject.
    case section(String)
    case all
    case manual
    case completions(Shell)
    /// The program's name, and the library's version.
    case version

    /// The page that `help` was asked for.
    init(_ words: [String], of program: ProgramText) throws(UsageError) {
        guard let topic = words.first else {
            self = .overview
            return
        }
        guard words.count == 1 else {
            throw UsageError(description: "help takes one topic; \"\(words[1])\" is another")
        }
        if topic == "all" {
            self = .all
        } else if topic == "man" {
            self = .manual
        } else if program.command(topic) != nil {
            self = .command(topic)
        } else if program.sections.contains(where: { $0.name == topic }) {
            self = .section(topic)
        } else {
            let topics = program.commands.map(\.name) + program.sections.map(\.name) + ["all", "man"]
            let nearest = OptionLookup.nearest(to: topic, among: topics).map { "the nearest is \($0)" }
            throw UsageError(
                description: "there is no help on \"\(topic)\"; \(nearest ?? "see \(program.name) help")")
        }
    }

    /// The text for a screen of `columns` columns. The manual page and completions have no width.
    package func text(of program: ProgramText, columns: Int = 80) -> String {
        let writer = HelpWriter(program, columns: columns)
        switch self {
        case .overview: return writer.overview
        case .command(let name): return writer.text(of: program.command(name) ?? program.main)
        case .section(let name): return writer.text(ofSection: name)
        case .all: return writer.all
        case .manual: return ManualPage(program).text
        case .completions(let shell): return CompletionScript(program).text(for: shell)
        case .version: return "\(program.name) \(LibraryVersion.number)"
        }
    }
}
