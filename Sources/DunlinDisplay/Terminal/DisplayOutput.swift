/// The output that a display is drawn on.
public protocol DisplayOutput: Sendable {
    /// The terminal's current size; nil if lines cannot be redrawn, such as in a file or a pipe.
    var terminal: TerminalSize? { get }

    /// Writes all of the text. It is not called concurrently.
    func write(_ text: String)
}

/// The size of a terminal, in characters.
public struct TerminalSize: Sendable, Hashable {
    public var columns: Int
    public var rows: Int

    public init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }
}
