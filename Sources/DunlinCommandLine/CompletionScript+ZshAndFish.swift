// MARK: - zsh

extension CompletionScript {
    var zsh: String {
        var lines = ["#compdef \(program.name)", "", "\(function)() {"]
        lines += ["    local curcontext=$curcontext", "    if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then"]
        lines += ["        local -a commands=("]
        lines += program.commands.map { "            \(Self.quoted("\($0.name):\(Self.zshText($0.help))"))" }
        lines += ["        )", "        _describe -t commands command commands"]
        if program.main.words == .files { lines.append("        _files") }
        lines += ["        return", "    fi", "    case $words[2] in"]
        for group in groups.dropFirst() {
            lines.append("    \(group.map { Self.quoted($0.name) }.joined(separator: " | ")))")
            lines += ["        shift words", "        ((CURRENT--))"] + zshArguments(group[0])
        }
        let others = groups[0].dropFirst().map(\.name)
        if !others.isEmpty {
            lines.append("    \(others.map(Self.quoted).joined(separator: " | ")))")
            lines += ["        shift words", "        ((CURRENT--))"] + zshArguments(program.main)
        }
        lines += ["    *)"] + zshArguments(program.main) + ["    esac", "}", ""]
        // The shell loads the file as a function when it first completes; `source` runs it at another time.
        lines += [
            "if [[ ${funcstack[1]} == \(function) ]]; then", "    \(function) \"$@\"",
            "elif (($+functions[compdef])); then", "    compdef \(function) \(Self.quoted(program.name))", "else",
            "    print -u2 \(Self.quoted("\(program.name): run compinit first: autoload -U compinit; compinit"))", "fi",
            "",
        ]
        return lines.joined(separator: "\n")
    }

    private func zshArguments(_ command: CommandText) -> [String] {
        var specifications: [String] = []
        for option in command.options {
            for spelling in option.spellings {
                let isLong = spelling.hasPrefix("--")
                var text = "*\(spelling)"
                if option.value != nil { text += isLong ? "=" : "+" }
                text += "[\(Self.zshText(option.help))]"
                if let value = option.value { text += ":\(Self.zshText(value.label)):\(Self.zshAction(value))" }
                specifications.append(text)
            }
        }
        switch command.words {
        case .none: break
        case .text: specifications.append("*:\(Self.zshText(command.arguments)): ")
        case .files: specifications.append("*:\(Self.zshText(command.arguments)):_files")
        case .fixed(let words): specifications.append("1:word:(\(words.joined(separator: " ")))")
        }
        let all = specifications.map { "            \(Self.quoted($0))" }
        return ["        _arguments -s -S : \\"] + [all.joined(separator: " \\\n"), "        ;;"]
    }

    private static func zshAction(_ value: OptionText.Value) -> String {
        switch value {
        case .text: " "
        case .file: "_files"
        case .words(let words): "(\(words.joined(separator: " ")))"
        }
    }

    /// A text within a specification of `_arguments`, where brackets and colons have a meaning.
    private static func zshText(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            if "[]:\\".contains(character) { result += "\\" }
            result.append(character)
        }
    }
}

// MARK: - fish

extension CompletionScript {
    var fish: String {
        var lines = ["# Completes the arguments of \(program.name) in fish."]
        if program.main.words != .files { lines.append("complete -c \(program.name) -f") }
        for command in program.commands {
            lines.append(
                "complete -c \(program.name) -n __fish_use_subcommand -a \(Self.fishQuoted(command.name)) "
                    + "-d \(Self.fishQuoted(command.help))")
        }
        for group in groups {
            let condition = Self.fishQuoted(fishCondition(of: group))
            lines += group[0].options.map { "complete -c \(program.name) -n \(condition) \(Self.fishText(of: $0))" }
            if case .fixed(let words) = group[0].words {
                lines.append(
                    "complete -c \(program.name) -n \(condition) -f -a \(Self.fishQuoted(words.joined(separator: " ")))"
                )
            }
        }
        return (lines + [""]).joined(separator: "\n")
    }

    private func fishCondition(of group: [CommandText]) -> String {
        let names = group.map(\.name).filter { !$0.isEmpty }
        if group.contains(where: \.name.isEmpty) {
            let others = program.commands.map(\.name).filter { !names.contains($0) }
            return "not __fish_seen_subcommand_from \(others.joined(separator: " "))"
        }
        return "__fish_seen_subcommand_from \(names.joined(separator: " "))"
    }

    private static func fishText(of option: OptionText) -> String {
        var parts = option.letter.map { ["-s \($0)"] } ?? []
        parts += option.names.map { "-l \($0)" }
        switch option.value {
        case nil: break
        case .text: parts.append("-x")
        case .file: parts.append("-r -F")
        case .words(let words): parts.append("-x -a \(fishQuoted(words.joined(separator: " ")))")
        }
        return (parts + ["-d \(fishQuoted(option.help))"]).joined(separator: " ")
    }

    private static func fishQuoted(_ text: String) -> String {
        text.reduce(into: "'") { result, character in
            if character == "'" || character == "\\" { result += "\\" }
            result.append(character)
        } + "'"
    }
}
