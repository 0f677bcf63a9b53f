internal import Dunlin

/// The content of one line of a display.
enum DisplayLine: Equatable, Sendable {
    case bar(BarLine)
    case batch(BatchLine)
    case spinner(String)
    case status(String)

    /// The name of what the line shows, in a column that has the same width for all lines.
    var name: String? {
        switch self {
        case .bar(let line): line.name
        case .batch(let line): line.name
        case .spinner, .status: nil
        }
    }

    /// Whether the line changes with time alone.
    var isAnimated: Bool {
        switch self {
        case .bar(let line): line.isAnimated
        case .spinner: true
        case .batch, .status: false
        }
    }

    /// What stays of the line when it is over.
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

    /// The line for output that cannot be redrawn.
    var plain: String {
        switch self {
        case .bar(let line): line.plain
        case .batch(let line): line.plain
        case .spinner(let text), .status(let text): text
        }
    }

    /// The progress in steps that deserve a new line where lines cannot be redrawn.
    var milestone: Int {
        switch self {
        case .bar(let line): line.milestone
        case .batch(let line): line.milestone
        case .spinner, .status: 0
        }
    }
}

/// What all lines of a frame have in common.
struct Layout: Equatable, Sendable {
    /// The number of available columns.
    var width: Int
    /// The width of the longest name, in columns.
    var nameWidth: Int
    var style: DisplayStyle
    var time: Duration

    /// The gap between two fields.
    static let gap = "  "
}
