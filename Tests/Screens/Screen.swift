package import DunlinDisplay

/// A small terminal: knows what a program writes, keeps what has scrolled away, and wraps again when it is resized.
package struct Screen {
    private struct Cell: Equatable {
        var text: String
        var style = ""
    }

    package private(set) var size: TerminalSize
    /// Lines as they were written, however many rows each takes; the last is where the cursor may be.
    private var lines: [[Cell]] = [[]]
    private var line = 0
    private var column = 0
    /// The codes that have set the style of what is written next, none for the usual one.
    private var style = ""
    /// What it did not understand.
    package private(set) var problems: [String] = []
    /// The cursor went further up than the terminal could.
    package private(set) var isOverrun = false

    package init(columns: Int, rows: Int = 24) {
        size = TerminalSize(columns: columns, rows: rows)
    }

    /// The screen after a program has written this. The kernel returns the cursor at each line feed.
    package init(columns: Int, showing text: String) {
        self.init(columns: columns)
        take(
            text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
                .joined(separator: "\r\n"))
    }

    /// Everything from the beginning, blanks at the ends taken off.
    package var text: [String] { lines.map { Self.trimmed($0.map(\.text).joined()) } }

    /// The same with the codes of each style before its text: `[32]ok[0]`.
    package var styledText: [String] { lines.map { Self.trimmed(Self.styled($0)) } }

    /// The rows of a person's terminal: a line that is too long has several.
    package var rows: [String] {
        lines.flatMap { line in
            stride(from: 0, to: max(line.count, 1), by: size.columns).map {
                Self.trimmed(line[$0..<min($0 + size.columns, line.count)].map(\.text).joined())
            }
        }
    }

    /// Above the cursor.
    package var shown: [String] { Array(text.prefix(line)) }

    package var isAtStartOfEmptyLine: Bool { column == 0 && line == lines.count - 1 && lines[line].isEmpty }

    package mutating func resize(columns: Int) { size.columns = columns }

    package mutating func take(_ text: String) {
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

    private static func trimmed(_ text: String) -> String {
        String(text.reversed().drop { $0 == " " }.reversed())
    }

    private static func styled(_ line: [Cell]) -> String {
        var (text, style) = ("", "")
        for cell in line + [Cell(text: "")] {
            if cell.style != style { text += cell.style.isEmpty ? "[0]" : "[\(cell.style)]" }
            text += cell.text
            style = cell.style
        }
        return text
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
        while lines[line].count < column { lines[line].append(Cell(text: " ")) }
        for (offset, text) in ([String(scalar)] + Array(repeating: "", count: width - 1)).enumerated() {
            let cell = Cell(text: text, style: style)
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
            case "0"..."9", ";": number.unicodeScalars.append(scalar)
            case "A": return goUp(Int(number) ?? 1)
            case "K": return lines[line].removeSubrange(min(column, lines[line].count)...)
            case "J":
                lines[line].removeSubrange(min(column, lines[line].count)...)
                return lines.removeSubrange((line + 1)...)
            case "m": return paint(number)
            default: return problems.append("ESC [ \(number)\(scalar)")
            }
        }
    }

    private mutating func paint(_ codes: String) {
        for code in codes.split(separator: ";", omittingEmptySubsequences: false) {
            if code.isEmpty || code == "0" {
                style = ""
            } else {
                style += (style.isEmpty ? "" : ";") + code
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
