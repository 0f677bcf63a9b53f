import Dunlin
import DunlinCommandLine
import DunlinDisplay

/// Where the demo writes: titles, lines within the terminal's width, and bars.
///
/// Where lines cannot be redrawn, in a file or a pipe, there are no escapes, and lines are 80 columns wide.
struct DemoPage: Sendable {
    let display: TerminalDisplay
    private let output: Output
    private let terminal: DescriptorOutput

    private static let indent = 3
    /// The column of the code beside the titles.
    private static let codeColumn = 29

    init(_ output: Output) {
        self.output = output
        terminal = DescriptorOutput(output.results)
        display = TerminalDisplay(on: terminal)
    }

    /// The columns for text, one less than there are.
    var width: Int { min(120, terminal.terminal?.columns ?? 80) - 1 }

    var style: DisplayStyle {
        var style = DisplayStyle.environment
        if terminal.terminal == nil { style.hasColour = false }
        return style
    }

    /// An empty line, the part's title, and its code beside it or below.
    func title(_ number: Int, _ title: String, _ code: String) {
        let title = "\(number)  \(title)"
        say()
        if Self.codeColumn + code.count <= width {
            let blanks = String(repeating: " ", count: max(2, Self.codeColumn - title.count))
            write(marked(title, "1") + blanks + marked(code, "2"))
        } else {
            write(marked(title, "1"))
            for line in Self.wrapped(code, width - Self.indent) { write(Self.blanks + marked(line, "2")) }
        }
    }

    /// A sentence about what has happened. It is wrapped, and cannot control the terminal.
    func say(_ text: String = "", indent: Int = Self.indent) {
        let blanks = String(repeating: " ", count: indent)
        for line in Self.wrapped(VisibleText.of(text), width - indent) { write(line.isEmpty ? "" : blanks + line) }
    }

    func count(_ number: Int, _ name: String) -> String { "\(number) \(name)\(number == 1 ? "" : "s")" }

    /// Lines with their own form, in colours if there are any.
    func draw(_ waterfall: Waterfall) {
        for line in waterfall.lines(width: width - Self.indent, style: style) { write(Self.blanks + line) }
    }

    /// Runs something that has bars. They are drawn for the last time before this returns, also if it fails.
    func finishingBars<Value: Sendable>(_ operation: () async throws -> Value) async throws -> Value {
        let result: Result<Value, any Error>
        do { result = .success(try await operation()) } catch { result = .failure(error) }
        await display.finish()
        return try result.get()
    }

    /// Time to read what is there, on a terminal.
    func rest() async throws {
        if terminal.terminal != nil { try await Task.sleep(for: .milliseconds(1400)) }
    }

    private static let blanks = String(repeating: " ", count: indent)

    private func marked(_ text: String, _ mark: String) -> String {
        style.hasColour ? "\u{1B}[\(mark)m\(text)\u{1B}[0m" : text
    }

    private func write(_ line: String) {
        output.write(Bytes(line + "\n"))
    }

    /// The text in lines of at most `width` columns, broken at blanks. Blanks at its beginning go on in each line.
    private static func wrapped(_ text: String, _ width: Int) -> [String] {
        let margin = String(text.prefix { $0 == " " })
        var lines = [margin]
        for word in text.dropFirst(margin.count).split(separator: " ", omittingEmptySubsequences: false) {
            let last = lines[lines.count - 1]
            if last == margin {
                lines[lines.count - 1] += word
            } else if last.count + 1 + word.count <= width {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(margin + word)
            }
        }
        return lines
    }
}
