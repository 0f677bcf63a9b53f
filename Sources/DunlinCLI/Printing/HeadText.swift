import Dunlin
import DunlinCommandLine

/// Heads and lines of a trace in several styles.
enum HeadText {
    /// The status line, the fields, and an empty line.
    static func lines(of head: ResponseHead) -> [[StyledText]] {
        [[StyledText(statusLine(head), style(of: head.status.code))]] + lines(of: head.fields) + [[]]
    }

    /// The request line, the fields, and an empty line.
    static func lines(of head: RequestHead, showingSecrets: Bool) -> [[StyledText]] {
        if showingSecrets {
            let line = StyledText("\(head.method) \(head.target) HTTP/1.1", .notice)
            return [[line]] + lines(of: head.fields) + [[]]
        }
        return HTTP.WireStep.requestHead(head).traceLines(hiding: .usual).map(trace) + [[]]
    }

    private static func lines(of fields: Fields) -> [[StyledText]] {
        fields.map { [StyledText(String($0.name), .name), StyledText(": \($0.value)")] }
    }

    static func statusLine(_ head: ResponseHead) -> String {
        head.reason.isEmpty ? "\(head.status)" : "\(head.status) \(String(head.reason))"
    }

    static func style(of code: Int) -> TextStyle {
        switch code {
        case 200..<300: .success
        case 400...: .failure
        default: .notice
        }
    }

    /// A line of a trace: `#1 < HTTP/1.1 200 OK`, `#1 > Accept: */*`, `#1 * 12 bytes sent`.
    static func trace(_ line: HTTPSession.TraceEvent.Line) -> [StyledText] {
        let start = StyledText(line.start)
        return switch line.kind {
        case .request: [start, StyledText(line.text, .notice)]
        case .status(let status): [start, StyledText(line.text, style(of: status.code))]
        case .field(let name): [start, StyledText(name, .name), StyledText(line.text)]
        case .failure: [start, StyledText(line.text, .failure)]
        case .remark: [start, StyledText(line.text)]
        }
    }
}
