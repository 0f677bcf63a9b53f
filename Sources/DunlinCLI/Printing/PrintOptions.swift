import DunlinCommandLine

/// What the options say of how a body is printed.
struct PrintOptions: Equatable, Sendable {
    /// What is done to JSON so that people can read it.
    enum Pretty: String, CaseIterable, Sendable {
        case all
        case colors
        case format
        case none
    }

    /// Nil for what fits the screen: everything on a terminal, nothing in a file or a pipe.
    var pretty: Pretty?
    /// Whether bytes are written as they are, whatever they do to a terminal.
    var isRaw = false

    func indents(on screen: Screen) -> Bool {
        pretty.map { $0 == .all || $0 == .format } ?? screen.isTerminal
    }

    /// Colours that were asked for are written into a pipe too, such as that of a pager.
    func hasColour(on screen: Screen) -> Bool {
        pretty.map { $0 == .all || $0 == .colors } ?? screen.hasColour
    }

    func check() throws(UsageError) {
        if isRaw, pretty != nil { throw UsageError(description: "--raw and --pretty contradict each other; give one") }
    }

    static let table: [Option<Self>] = [
        Option(
            "pretty", value: .words(Pretty.allCases.map(\.rawValue)), help: "how JSON is shown: coloured, indented",
            details: "On a terminal JSON is coloured and indented as it arrives; in a file or a pipe it is not, except "
                + "with this option. NO_COLOR and TERM=dumb leave out colours. Numbers and strings are shown as sent."
        ) { (options, given) throws(UsageError) in
            guard let pretty = Pretty(rawValue: given.value) else {
                let names = Pretty.allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageError(description: "--pretty takes one of \(names), not \"\(given.value)\"")
            }
            options.pretty = pretty
        },
        Option(
            "raw", help: "prints the body's bytes as they are, on a terminal too",
            details: "Without it, what would control the terminal is shown as text, such as \\u001b, and a binary body "
                + "is not shown.", sets: \.isRaw),
    ]
}
