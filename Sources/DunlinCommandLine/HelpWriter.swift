/// Writes help for a terminal of some width.
struct HelpWriter {
    private let program: ProgramText
    private let width: Int

    /// Where the explanation of an option begins.
    private var column: Int { width < 70 ? 20 : 29 }
    /// Lines that are longer are hard to read.
    private static let widest = 99

    init(_ program: ProgramText, columns: Int) {
        self.program = program
        width = min(columns - 1, Self.widest)
    }

    /// It fits a screen of 24 lines.
    var overview: String {
        var lines = usage(of: program.main)
        lines += entry(program.main.arguments, program.main.help)
        let alike = program.commands.filter { $0.sections == program.main.sections }
        if !alike.isEmpty {
            let names = alike.map(\.name).joined(separator: "|")
            lines += entry("\(names) \(program.main.arguments)", program.alike)
        }
        for command in program.commands where !alike.contains(command) {
            lines += entry(Self.title(of: command), command.help)
        }
        let common = program.main.options.filter(\.isCommon)
        if !common.isEmpty { lines.append("common options:") }
        for option in common + [.help] { lines += entry(of: option) }
        return (lines + pointers).joined(separator: "\n")
    }

    func text(of command: CommandText) -> String {
        var lines = usage(of: command) + wrapped(command.help, indent: 2)
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
        let codes = ExitCode.allCases.flatMap {
            WrappedText.lines(of: "  \($0.rawValue)  \($0.meaning)", width: width, indent: 3)
        }
        let general = ["every command:"] + [OptionText.help, .version].flatMap(entry(of:)) + [""]
        let sections = program.sections.map { text(of: $0) + "\n" }
        return ([overview, ""] + sections + general + ["exit codes:"] + codes + [""]).joined(separator: "\n")
    }

    private func text(of section: OptionSection) -> String {
        let title = section.options.isEmpty ? section.title : "\(section.title):"
        return (wrapped(title, indent: 0) + section.options.flatMap(entry(of:))).joined(separator: "\n")
    }

    private var pointers: [String] {
        let topics = program.sections.map(\.name).joined(separator: ", ")
        return wrapped("more by topic, \(program.name) help TOPIC: \(topics), all, man", indent: 0)
    }

    private func usage(of command: CommandText) -> [String] {
        let words = [program.name, command.name, command.sections.isEmpty ? "" : "[options]", command.arguments]
        let line = (["usage:"] + words.filter { !$0.isEmpty }).joined(separator: " ")
        return WrappedText.lines(of: line, width: width, indent: 4)
    }

    private static func title(of command: CommandText) -> String {
        [command.name, command.arguments].filter { !$0.isEmpty }.joined(separator: " ")
    }

    private func entry(of option: OptionText) -> [String] {
        let value = option.value.map { " \($0.label)" } ?? ""
        let letter = option.letter.map { "-\($0), " } ?? "    "
        let names = option.names.map { "--\($0)" }.joined(separator: ", ")
        return entry(letter + names + value, option.help)
    }

    private func entry(_ title: String, _ help: String) -> [String] {
        let start = "  \(title)"
        // A long title that leaves room for all of the explanation stays beside it.
        if start.count >= column - 1, start.count + 2 + help.count <= width { return ["\(start)  \(help)"] }
        var lines = wrapped(help, indent: column)
        guard start.count < column - 1 else { return [start] + lines }
        lines[0] = start + lines[0].dropFirst(start.count)
        return lines
    }

    private func wrapped(_ text: String, indent: Int) -> [String] {
        WrappedText.lines(of: String(repeating: " ", count: indent) + text, width: width)
    }
}
