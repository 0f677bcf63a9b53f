internal import FoundationEssentials

/// What a display may use.
public struct DisplayStyle: Sendable, Hashable {
    public var hasColour: Bool
    /// Whether characters beyond ASCII are available.
    public var hasUnicode: Bool

    public init(hasColour: Bool, hasUnicode: Bool) {
        self.hasColour = hasColour
        self.hasUnicode = hasUnicode
    }

    /// The style by the environment: no colour with `NO_COLOR`, and characters beyond ASCII with a UTF-8 locale.
    public static var environment: DisplayStyle { DisplayStyle(ProcessInfo.processInfo.environment) }

    init(_ environment: [String: String]) {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        hasColour = value("NO_COLOR") == nil
        let locale = (value("LC_ALL") ?? value("LC_CTYPE") ?? value("LANG") ?? "").lowercased()
        hasUnicode = locale.contains("utf-8") || locale.contains("utf8")
    }

    /// Whether lines can be redrawn on such a terminal.
    static func canRedraw(_ environment: [String: String]) -> Bool {
        environment["TERM"].map { !$0.isEmpty && $0 != "dumb" } ?? false
    }
}

extension DisplayStyle {
    var gap: String { hasUnicode ? "…" : ".." }

    /// A bar of `width` columns, of which `fraction` is done.
    func bar(_ fraction: Double, width: Int) -> (done: String, rest: String) {
        let fraction = fraction.isFinite ? min(1, max(0, fraction)) : 0
        guard hasUnicode else {
            let done = Int(fraction * Double(width))
            return (String(repeating: "=", count: done), String(repeating: ".", count: width - done))
        }
        let halves = Int(fraction * Double(width * 2))
        let done = String(repeating: "━", count: halves / 2) + (halves.isMultiple(of: 2) ? "" : "╸")
        return (done, String(repeating: "─", count: width - (halves + 1) / 2))
    }

    /// The spinner's state; it turns once a second.
    func spinner(at time: Duration) -> String {
        let steps: [String] =
            hasUnicode ? ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"] : ["-", "\\", "|", "/"]
        let tenths = time.components.seconds &* 10 &+ time.components.attoseconds / 100_000_000_000_000_000
        return steps[Int(UInt64(bitPattern: tenths) % UInt64(steps.count))]
    }
}
