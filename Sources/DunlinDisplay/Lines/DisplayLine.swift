internal import Dunlin

/// What one line of a display says.
enum DisplayLine: Equatable, Sendable {
    case bar(BarLine)
    case batch(BatchLine)
    case spinner(String)
    case status(String)

    /// What the line is about; a column of its own, as wide for all lines.
    var name: String? {
        switch self {
        case .bar(let line): line.name
        case .batch(let line): line.name
        case .spinner, .status: nil
        }
    }

    /// Whether time alone changes it.
    var isAnimated: Bool {
        switch self {
        case .bar(let line): line.isAnimated
        case .spinner: true
        case .batch, .status: false
        }
    }

    /// What stays of it when it is over.
    var ended: DisplayLine? {
        switch self {
        case .bar(var line):
            line.isOver = true
            return .bar(line)
        case .batch: return self
        case .spinner, .status: return nil
        }
    }

    mutating func changeBar(_ change: (inout BarLine) -> Void) {
        guard case .bar(var line) = self else { return }
        change(&line)
        self = .bar(line)
    }

    func row(_ layout: Layout) -> Row {
        switch self {
        case .bar(let line): return line.row(layout).trimmed
        case .batch(let line): return line.row(layout).trimmed
        case .spinner(let label):
            var row = Row()
            row.add(layout.style.spinner(at: layout.time), .cyan)
            row.add(" " + label)
            return row.cut(to: layout.width)
        case .status(let text):
            var row = Row()
            row.add(text)
            return row.cut(to: layout.width)
        }
    }

    /// The same where lines cannot be drawn over.
    var plain: String {
        switch self {
        case .bar(let line): line.plain
        case .batch(let line): line.plain
        case .spinner(let text), .status(let text): text
        }
    }

    /// How far it is, in steps that are worth a line each where lines cannot be drawn over.
    var milestone: Int {
        switch self {
        case .bar(let line): line.milestone
        case .batch(let line): line.milestone
        case .spinner, .status: 0
        }
    }
}

/// What a frame has in common for all its lines.
struct Layout: Equatable, Sendable {
    /// Columns that may be used.
    var width: Int
    /// Columns that the longest name takes.
    var nameWidth: Int
    var style: DisplayStyle
    var time: Duration

    /// Two blanks between two fields.
    static let gap = "  "
}
