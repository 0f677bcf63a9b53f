@testable import DunlinDisplay

/// A small terminal: knows what a display writes, keeps what has scrolled away, and wraps again when it is resized.
struct Screen {
    private struct Cell: Equatable {
        var text: String
        var width: Int
    }

    private(set) var size: TerminalSize
    /// Lines as they were written, however many rows each takes; the last is where the cursor may be.
    private var lines: [[Cell]] = [[]]
    private var line = 0
    private var column = 0
    /// What it did not understand.
    private(set) var problems: [String] = []
    /// The cursor went further up than the terminal could.
    private(set) var isOverrun = false

    init(columns: Int, rows: Int = 24) {
        size = TerminalSize(columns: columns, rows: rows)
    }

    /// Everything from the beginning, blanks at the ends taken off.
    var text: [String] {
        lines.map { line in
            let text = line.map(\.text).joined()
            return String(text.reversed().drop { $0 == " " }.reversed())
        }
    }

    /// Above the cursor.
    var shown: [String] { Array(text.prefix(line)) }

    var isAtStartOfEmptyLine: Bool { column == 0 && line == lines.count - 1 && lines[line].isEmpty }

    mutating func resize(columns: Int) { size.columns = columns }

    mutating func take(_ text: String) {
        var rest = Array(text.unicodeScalars)[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\r": column = 0
            case "\n": newLine()
            case "\u{1B}": control(&rest)
            default: put(scalar)
            }
        }
    }

    private mutating func newLine() {
        line += 1
        if line == lines.count { lines.append([]) }
    }

    private mutating func put(_ scalar: Unicode.Scalar) {
        let width = DisplayWidth.of(scalar)
        if scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) { problems.append("control \(scalar.value)") }
        if width == 0 {
            if column > 0, column <= lines[line].count { lines[line][column - 1].text.unicodeScalars.append(scalar) }
            return
        }
        while lines[line].count < column { lines[line].append(Cell(text: " ", width: 1)) }
        for (offset, text) in ([String(scalar)] + Array(repeating: "", count: width - 1)).enumerated() {
            let cell = Cell(text: text, width: 1)
            if column + offset < lines[line].count {
                lines[line][column + offset] = cell
            } else {
                lines[line].append(cell)
            }
        }
        column += width
    }

    private mutating func control(_ rest: inout ArraySlice<Unicode.Scalar>) {
        guard rest.popFirst() == "[" else { return problems.append("escape without bracket") }
        var number = ""
        while let scalar = rest.popFirst() {
            switch scalar {
            case "0"..."9": number.unicodeScalars.append(scalar)
            case "A": return goUp(Int(number) ?? 1)
            case "K": return lines[line].removeSubrange(min(column, lines[line].count)...)
            case "J":
                lines[line].removeSubrange(min(column, lines[line].count)...)
                return lines.removeSubrange((line + 1)...)
            case "m": return
            default: return problems.append("ESC [ \(number)\(scalar)")
            }
        }
    }

    /// By rows of the screen: a line that is wrapped has several.
    private mutating func goUp(_ rows: Int) {
        if rows >= size.rows { isOverrun = true }
        var left = rows
        while left > 0, line > 0 {
            line -= 1
            left -= max(1, (lines[line].count + size.columns - 1) / size.columns)
        }
    }
}
