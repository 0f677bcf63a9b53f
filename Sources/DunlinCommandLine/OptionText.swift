/// What is known of one option without running it: its names, its value, and what is said of it.
///
/// Parser, help, manual page and completions read nothing else, so that none of them can know an option that the others
/// do not.
package struct OptionText: Equatable, Sendable {
    /// The value that follows an option.
    package enum Value: Equatable, Sendable {
        /// Any text; the label stands for it in the help.
        case text(String)
        /// The name of a file.
        case file(String)
        /// One of these words.
        case words([String])

        package var label: String {
            switch self {
            case .text(let label), .file(let label): label
            case .words(let words): words.joined(separator: "|")
            }
        }
    }

    /// The long names without dashes. The first is the usual one.
    package let names: [String]
    package let letter: Character?
    /// The value; nil for an option without one.
    package let value: Value?
    /// One clause that follows the option's name.
    package let help: String
    /// Sentences for the manual page.
    package let details: String
    /// Whether the shortest help names it.
    package let isCommon: Bool

    package init(
        _ names: [String], letter: Character? = nil, value: Value? = nil, help: String, details: String = "",
        isCommon: Bool = false
    ) {
        (self.names, self.letter, self.value) = (names, letter, value)
        (self.help, self.details, self.isCommon) = (help, details, isCommon)
    }

    /// The usual long name.
    package var name: String { names[0] }

    /// All names as they are typed: `-o`, `--output`.
    package var spellings: [String] { (letter.map { ["-\($0)"] } ?? []) + names.map { "--\($0)" } }

    /// Every command has it.
    package static let help = OptionText(["help"], letter: "h", help: "prints the help of this command")
    /// So has every program, whatever the command: people add it to the arguments that they have.
    package static let version = OptionText(["version"], letter: "V", help: "prints the version")
}

/// An option of a command, and how its value gets into the command's settings.
package struct Option<Settings>: Sendable {
    package typealias Action = @Sendable (inout Settings, GivenOption) throws(UsageError) -> Void

    package let text: OptionText
    package let apply: Action

    package init(_ text: OptionText, _ apply: @escaping Action) {
        (self.text, self.apply) = (text, apply)
    }

    /// An option with a value.
    package init(
        _ names: String..., letter: Character? = nil, value: OptionText.Value, help: String, details: String = "",
        isCommon: Bool = false, _ apply: @escaping Action
    ) {
        let text = OptionText(
            names, letter: letter, value: value, help: help, details: details, isCommon: isCommon)
        self.init(text, apply)
    }

    /// An option that turns a setting on.
    package init(
        _ names: String..., letter: Character? = nil, help: String, details: String = "", isCommon: Bool = false,
        sets setting: any WritableKeyPath<Settings, Bool> & Sendable
    ) {
        let text = OptionText(names, letter: letter, help: help, details: details, isCommon: isCommon)
        self.init(text) { settings, _ in settings[keyPath: setting] = true }
    }

    /// An option that names what happens anyway.
    package init(_ names: String..., letter: Character? = nil, help: String, details: String = "") {
        self.init(OptionText(names, letter: letter, help: help, details: details)) { _, _ in }
    }

    /// The same option for a command whose settings contain these.
    package func lifted<Outer>(_ part: any WritableKeyPath<Outer, Settings> & Sendable) -> Option<Outer> {
        Option<Outer>(text) { (outer, given) throws(UsageError) in try apply(&outer[keyPath: part], given) }
    }
}

/// An option as it was given in the arguments.
package struct GivenOption: Equatable, Sendable {
    package let option: OptionText
    /// The name that was typed: `-o` or `--output`.
    package let spelling: String
    /// The value; empty for an option without one.
    package let value: String

    package init(_ option: OptionText, spelling: String, value: String = "") {
        (self.option, self.spelling, self.value) = (option, spelling, value)
    }

    /// The value where an empty one makes no sense.
    package var text: String {
        get throws(UsageError) {
            if value.isEmpty { throw UsageError(description: "\(spelling) needs a value") }
            return value
        }
    }

    /// The value as a whole number.
    package func number(_ range: ClosedRange<Int>) throws(UsageError) -> Int {
        let text = try text
        guard let number = Int(text), range.contains(number) else {
            throw UsageError(
                description: "\(spelling) needs a number from \(range.lowerBound) to \(range.upperBound), "
                    + "not \"\(text)\"")
        }
        return number
    }

    /// The value as a number of seconds, perhaps with a fraction.
    package var seconds: Duration {
        get throws(UsageError) {
            guard let seconds = Double(value), seconds > 0, seconds <= 1e6 else {
                throw UsageError(
                    description: "\(spelling) needs a number of seconds above 0 and at most 1000000, not \"\(value)\"")
            }
            return .milliseconds(max(1, Int64(seconds * 1000)))
        }
    }
}
