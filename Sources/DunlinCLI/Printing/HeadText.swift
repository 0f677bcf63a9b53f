import Dunlin
import DunlinCommandLine

/// Heads and lines of a trace in several styles.
enum HeadText {
    /// The status line, the fields, and an empty line.
    static func lines(of head: ResponseHead) -> [[StyledText]] {
        let fields = head.fields.map { field in
            [StyledText(String(field.name), .name), StyledText(": \(field.value)")]
        }
        return [[StyledText(statusLine(head), style(of: head.status.code))]] + fields + [[]]
    }

    static func statusLine(_ head: ResponseHead) -> String {
        head.reason.isEmpty ? "\(head.status)" : "\(head.status) \(String(head.reason))"
    }

    private static func style(of code: Int) -> TextStyle {
        switch code {
        case 200..<300: .success
        case 400...: .failure
        default: .notice
        }
    }

    /// A line of a trace: `#1 < HTTP/1.1 200 OK`, `#1 > Accept: */*`, `#1 * 12 bytes sent`.
    static func trace(_ line: String) -> [StyledText] {
        let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].hasPrefix("#") else { return [StyledText(line)] }
        let start = "\(parts[0]) \(parts[1]) "
        let rest = parts[2]
        switch parts[1] {
        case "!": return [StyledText(start), StyledText(String(rest), .failure)]
        case "<" where rest.hasPrefix("HTTP/"):
            let code = rest.split(separator: " ").dropFirst().first.flatMap { Int($0) }
            return [StyledText(start), StyledText(String(rest), style(of: code ?? 0))]
        case ">" where rest.hasSuffix(" HTTP/1.1"): return [StyledText(start), StyledText(String(rest), .notice)]
        case "<", ">":
            guard let colon = rest.firstIndex(of: ":") else { return [StyledText(line)] }
            return [StyledText(start), StyledText(String(rest[..<colon]), .name), StyledText(String(rest[colon...]))]
        default: return [StyledText(line)]
        }
    }
}
