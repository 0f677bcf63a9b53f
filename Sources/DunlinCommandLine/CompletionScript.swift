internal import DunlinTypes

/// Writes what completes a program's arguments in a shell.
///
/// All words in it are fixed and quoted, and the shell evaluates none of them, nor what the user has typed, nor the
/// name of a file.
struct CompletionScript {
    let program: ProgramText

    init(_ program: ProgramText) { self.program = program }

    func text(for shell: Shell) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    /// The name of the shell's function.
    var function: String { "_" + program.name.map { $0 == "-" ? "_" : $0 } }

    /// Commands that take the same, so that it is written once. The one without a name is among the first.
    var groups: [[CommandText]] {
        var groups: [[CommandText]] = []
        for command in program.all {
            if let index = groups.firstIndex(where: {
                $0[0].sections == command.sections && $0[0].words == command.words
            }) {
                groups[index].append(command)
            } else {
                groups.append([command])
            }
        }
        return groups
    }

    /// A word that bash and zsh take as it is.
    static func quoted(_ word: String) -> String { word.inSingleQuotes }

    static func quoted(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }
}

// MARK: - bash

extension CompletionScript {
    private var bash: String {
        let lines =
            [
                "# Completes the arguments of \(program.name) in bash.", "\(function)_files() {",
                "    # The shell does it itself, where no word was found: it knows quotes, blanks and the home folder.",
                "    compopt -o default", "}", "",
                "\(function)_words() {", "    local word=$1 candidate", "    shift", "    for candidate; do",
                "        [[ $candidate == \"$word\"* ]] && COMPREPLY+=(\"$candidate\")", "    done", "}", "",
                "\(function)() {", "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}",
                "    local command=''", "    COMPREPLY=()", "    # bash splits --name=value into three words.",
                "    if [[ $word == '=' ]]; then", "        word=''",
                "    elif [[ $before == '=' ]] && ((COMP_CWORD > 2)); then",
                "        before=${COMP_WORDS[COMP_CWORD - 2]}", "    fi",
                "    # After -- there are no options.", "    local -i index", "    local options=1",
                "    for ((index = 1; index < COMP_CWORD; index++)); do",
                "        [[ ${COMP_WORDS[index]} == '--' ]] && options='' before=''", "    done",
                "    ((COMP_CWORD > 1)) && command=${COMP_WORDS[1]}", "    case $command in",
            ] + groups.dropFirst().flatMap(bashCase)
            + ["    *)"] + groups.prefix(1).flatMap(bashBody) + ["        ;;", "    esac", "}", ""]
        return (lines + ["complete -F \(function) \(program.name)", ""]).joined(separator: "\n")
    }

    private func bashCase(_ group: [CommandText]) -> [String] {
        ["    \(group.map { Self.quoted($0.name) }.joined(separator: " | ")))"] + bashBody(group) + ["        ;;"]
    }

    private func bashBody(_ group: [CommandText]) -> [String] {
        let command = group[0]
        var lines = ["        case $before in"]
        for option in command.options {
            guard let value = option.value else { continue }
            let action =
                switch value {
                case .text: "return"
                case .file: "\(function)_files; return"
                case .words(let words): "\(function)_words \"$word\" \(Self.quoted(words)); return"
                }
            lines.append("        \(option.spellings.map(Self.quoted).joined(separator: " | "))) \(action) ;;")
        }
        lines += [
            "        esac", "        if [[ $options && $word == -* ]]; then",
            "            \(function)_words \"$word\" \(Self.quoted(command.options.flatMap(\.spellings)))",
            "            return", "        fi",
        ]
        switch command.words {
        case .files: lines.append("        \(function)_files")
        case .fixed(let words): lines.append("        \(function)_words \"$word\" \(Self.quoted(words))")
        case .none, .text: break
        }
        if command.name.isEmpty {
            let names = Self.quoted(program.commands.map(\.name))
            lines.append("        ((COMP_CWORD == 1)) && \(function)_words \"$word\" \(names)")
        }
        return lines + ["        return 0"]
    }
}
