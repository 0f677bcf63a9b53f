internal import Glibc

/// What a descriptor of the command leads to: a terminal of some width, with colours or without, or a file or a pipe.
package struct Screen: Equatable, Sendable {
    package let isTerminal: Bool
    package let hasColour: Bool
    /// How many columns a page of help has.
    package let columns: Int

    private static let usualColumns = 80
    /// Below and above these, widths are mistakes, or lines become hard to read.
    private static let sensibleColumns = 20...1000

    /// `reported` is what the terminal says of its width, 0 if it says nothing. Where it says nothing, and where there
    /// is none, `COLUMNS` counts. `NO_COLOR` and a terminal that is called `dumb` have no colours.
    package init(isTerminal: Bool, reported: Int = 0, _ variable: (String) -> String?) {
        self.isTerminal = isTerminal
        let knowsColour = variable("TERM").map { !$0.isEmpty && $0 != "dumb" } ?? false
        hasColour = isTerminal && knowsColour && (variable("NO_COLOR") ?? "").isEmpty
        let said = [isTerminal ? reported : 0, variable("COLUMNS").flatMap { Int($0) } ?? 0]
        let columns = said.first { $0 > 0 } ?? Self.usualColumns
        self.columns = min(max(columns, Self.sensibleColumns.lowerBound), Self.sensibleColumns.upperBound)
    }

    package init(of descriptor: Int32) {
        var size = winsize()
        let isTerminal = isatty(descriptor) == 1
        let reported = isTerminal && ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 ? Int(size.ws_col) : 0
        self.init(isTerminal: isTerminal, reported: reported) { name in getenv(name).map { String(cString: $0) } }
    }
}
