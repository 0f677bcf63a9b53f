/// Where a display is drawn.
public protocol DisplayOutput: Sendable {
    /// The terminal as it is now; nil where lines cannot be drawn over, such as in a file or a pipe.
    var terminal: TerminalSize? { get }

    /// Takes all of it. Called by one at a time.
    func write(_ text: String)
}

/// In characters.
public struct TerminalSize: Sendable, Hashable {
    public var columns: Int
    public var rows: Int

    public init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }
}
