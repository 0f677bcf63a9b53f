/// Writes help for a terminal of 80 columns.
struct HelpWriter {
    private let program: ProgramText

    private static let width = 79
    /// Where the explanation of an option begins.
    private static let column = 29

    init(_ program: ProgramText) { self.program = program }

    /// It fits a screen of 24 lines.
    var overview: String {
        var lines = ["usage: \(usage(of: program.main))"]
        lines += Self.entry(program.main.arguments, program.main.help)
        let alike = program.commands.filter { $0.sections == program.main.sections }
        if !alike.isEmpty {
            let names = alike.map(\.name).joined(separator: "|")
            lines += Self.entry("\(names) \(program.main.arguments)", program.alike)
        }
        for command in program.commands where !alike.contains(command) {
            lines += Self.entry(Self.title(of: command), command.help)
        }
        let common = program.main.options.filter(\.isCommon)
        if !common.isEmpty { lines.append("common options:") }
        for option in common + [.help] { lines += entry(of: option) }
        return (lines + pointers).joined(separator: "\n")
    }

    func text(of command: CommandText) -> String {
        var lines = ["usage: \(usage(of: command))"] + Self.wrapped(command.help, indent: 2)
        if command.sections.count > 1 {
            lines.append("common options:")
            for option in command.options.filter(\.isCommon) + [.help] { lines += entry(of: option) }
            return (lines + pointers).joined(separator: "\n")
        }
        for option in command.options { lines += entry(of: option) }
        return lines.joined(separator: "\n")
    }

    func text(ofSection name: String) -> String {
        program.sections.filter { $0.name == name }.map(text(of:)).joined()
    }

    var all: String {
        let codes = ExitCode.allCases.map { "  \($0.rawValue)  \($0.meaning)" }
        return ([overview, ""] + program.sections.map { text(of: $0) + "\n" } + ["exit codes:"] + codes + [""])
            .joined(separator: "\n")
    }

    private func text(of section: OptionSection) -> String {
        let title = section.options.isEmpty ? section.title : "\(section.title):"
        return ([title] + section.options.flatMap(entry(of:))).joined(separator: "\n")
    }

    private var pointers: [String] {
        let topics = program.sections.map(\.name).joined(separator: ", ")
        return Self.wrapped("more by topic, \(program.name) help TOPIC: \(topics), all, man", indent: 0)
    }

    private func usage(of command: CommandText) -> String {
        [program.name, command.name, command.sections.isEmpty ? "" : "[options]", command.arguments]
            .filter { !$0.isEmpty }.joined(separator: " ")
    }

    private static func title(of command: CommandText) -> String {
        [command.name, command.arguments].filter { !$0.isEmpty }.joined(separator: " ")
    }

    private func entry(of option: OptionText) -> [String] {
        let value = option.value.map { " \($0.label)" } ?? ""
        let letter = option.letter.map { "-\($0), " } ?? "    "
        let names = option.names.map { "--\($0)" }.joined(separator: ", ")
        return Self.entry(letter + names + value, option.help)
    }

    private static func entry(_ title: String, _ help: String) -> [String] {
        let start = "  \(title)"
        // A long title that leaves room for all of the explanation stays beside it.
        if start.count >= column - 1, start.count + 2 + help.count <= width { return ["\(start)  \(help)"] }
        var lines = wrapped(help, indent: column)
        guard start.count < column - 1 else { return [start] + lines }
        lines[0] = start + lines[0].dropFirst(start.count)
        return lines
    }

    /// Lines of whole words. A word that is too long has a line of its own.
    static func wrapped(_ text: String, indent: Int) -> [String] {
        let margin = String(repeating: " ", count: indent)
        var (lines, line) = ([String](), "")
        for word in text.split(separator: " ") {
            if !line.isEmpty, indent + line.count + 1 + word.count > width {
                lines.append(margin + line)
                line = ""
            }
            line += line.isEmpty ? "\(word)" : " \(word)"
        }
        return lines + [margin + line]
    }
}
