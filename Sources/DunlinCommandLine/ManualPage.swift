internal import Dunlin

/// Writes the manual page, in the language of man(7).
package struct ManualPage {
    private let program: ProgramText

    init(_ program: ProgramText) { self.program = program }

    var text: String {
        (head + synopsis + commands + options + exitCodes + notes).joined(separator: "\n")
    }

    private var head: [String] {
        let name = Self.escaped(program.name)
        return [
            ".TH \(Self.escaped(program.name.uppercased())) 1 \"\" \"\(name) \(Self.escaped(LibraryVersion.number))\"",
            ".SH NAME", "\(name) \\- \(Self.escaped(program.help))",
        ]
    }

    private var synopsis: [String] {
        var lines = [".SH SYNOPSIS"]
        for command in program.all {
            lines += [Self.bold([program.name, command.name].filter { !$0.isEmpty }.joined(separator: " "))]
            if !command.sections.isEmpty { lines.append("[options]") }
            if !command.arguments.isEmpty { lines.append(Self.escaped(command.arguments)) }
            lines.append(".br")
        }
        return lines.dropLast()
    }

    private var commands: [String] {
        let title = Self.escaped("\(program.name) \(program.main.arguments)")
        return [".SH COMMANDS", ".TP", title, Self.sentence(program.main.help)]
            + program.commands.flatMap { command in
                [
                    ".TP", "\(Self.bold(command.name)) \(Self.escaped(command.arguments))",
                    Self.sentence(command.help),
                ]
            }
    }

    private var options: [String] {
        var lines = [".SH OPTIONS"]
        for option in [OptionText.help, .version] {
            lines += [".TP", Self.title(of: option), Self.sentence(option.help)]
        }
        for section in program.sections {
            lines.append(".SS \(Self.escaped(section.title))")
            for option in section.options {
                lines += [".TP", Self.title(of: option), Self.sentence(option.help)]
                if !option.details.isEmpty { lines.append(Self.escaped(option.details)) }
            }
        }
        return lines
    }

    private var exitCodes: [String] {
        [".SH EXIT STATUS"]
            + ExitCode.allCases.flatMap { [".TP", Self.bold("\($0.rawValue)"), Self.sentence($0.meaning)] }
    }

    private var notes: [String] {
        program.notes.flatMap { note in
            [".SH \(Self.escaped(note.title.uppercased()))"]
                + note.paragraphs.map { [Self.escaped($0)] }.joined(separator: [".PP"])
        }
    }

    private static func title(of option: OptionText) -> String {
        let names = option.spellings.map(bold).joined(separator: ", ")
        return names + (option.value.map { " \\fI\(escaped($0.label))\\fR" } ?? "")
    }

    private static func bold(_ text: String) -> String { "\\fB\(escaped(text))\\fR" }

    /// The clause with a capital letter and a full stop.
    private static func sentence(_ text: String) -> String {
        escaped(text.prefix(1).uppercased() + text.dropFirst() + ".")
    }

    /// The text where no character has a meaning for the formatter.
    package static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "'": result += "\\(aq"
            case "\"": result += "\\(dq"
            case "`": result += "\\(ga"
            case "^": result += "\\(ha"
            case "~": result += "\\(ti"
            default: result.append(character)
            }
        }
        return result.hasPrefix(".") ? "\\&" + result : result
    }
}
