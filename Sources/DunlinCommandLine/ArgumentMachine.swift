/// Splits arguments into options and words, one argument at a time. It knows only the texts of the options: files,
/// settings and the meaning of a word are others' concern.
///
/// The rules are those of GNU's getopt_long, except that long names are never shortened:
/// - `-i -v` and `-iv` are two options; `-m3` and `-m 3` are one with a value, and so are `--max-time=3` and
///   `--max-time 3`. All that follows a letter with a value is its value.
/// - A value is taken as it is, even if it begins with a dash.
/// - Options may stand behind words. After `--` everything is a word; `-` alone is one too.
package struct ArgumentMachine {
    package enum Action: Equatable {
        case option(GivenOption)
        case word(String)
    }

    private enum State {
        case ready
        /// The option's value is the next argument.
        case needsValue(OptionText, spelling: String)
        case takesWordsOnly
    }

    private let options: [OptionText]
    private let lookup: OptionLookup
    private var state = State.ready

    package init(_ command: CommandText, of program: ProgramText) {
        options = command.options
        lookup = OptionLookup(command, of: program)
    }

    package mutating func take(_ argument: String) throws(UsageError) -> [Action] {
        switch state {
        case .takesWordsOnly: return [.word(argument)]
        case .needsValue(let option, let spelling):
            state = .ready
            return [.option(GivenOption(option, spelling: spelling, value: argument))]
        case .ready: break
        }
        if argument == "--" {
            state = .takesWordsOnly
            return []
        }
        if argument.hasPrefix("--") { return try takeLong(argument.dropFirst(2)) }
        if argument.hasPrefix("-"), argument != "-" { return try takeLetters(argument.dropFirst()) }
        return [.word(argument)]
    }

    /// Throws if the last option misses its value.
    package func end() throws(UsageError) {
        if case .needsValue(_, let spelling) = state { throw UsageError(description: "\(spelling) needs a value") }
    }

    private mutating func takeLong(_ text: Substring) throws(UsageError) -> [Action] {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let (name, spelling) = (String(parts[0]), "--\(parts[0])")
        guard let option = options.first(where: { $0.names.contains(name) }) else {
            throw lookup.error(forName: name)
        }
        let value = parts.count == 2 ? String(parts[1]) : nil
        guard option.value != nil else {
            // The value is not shown: it may be a secret that was meant for another option.
            if value != nil { throw UsageError(description: "\(spelling) takes no value, and one was given") }
            return [.option(GivenOption(option, spelling: spelling))]
        }
        if let value { return [.option(GivenOption(option, spelling: spelling, value: value))] }
        state = .needsValue(option, spelling: spelling)
        return []
    }

    private mutating func takeLetters(_ text: Substring) throws(UsageError) -> [Action] {
        var actions: [Action] = []
        var rest = text
        while let letter = rest.popFirst() {
            guard let option = options.first(where: { $0.letter == letter }) else {
                throw lookup.error(forLetter: letter, in: text)
            }
            let spelling = "-\(letter)"
            if option.value == nil {
                actions.append(.option(GivenOption(option, spelling: spelling)))
            } else if rest.isEmpty {
                state = .needsValue(option, spelling: spelling)
            } else {
                actions.append(.option(GivenOption(option, spelling: spelling, value: String(rest))))
                rest = ""
            }
        }
        return actions
    }
}
