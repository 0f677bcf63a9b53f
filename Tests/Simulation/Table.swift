import SimulatedWorld

/// The table of results, as text.
enum Table {
    static let head = """
        Twenty runs of each, with every parameter up to a half more or less: the middle | the worst.
        goodput: successes, as a part of what was possible; p50, p99: seconds that successes took; load: attempts for
        each request; peak: attempts in the busiest second, as a part of the requests in a mean one; recovery: seconds
        from the end of the disturbance

                     goodput        p50            p99            load           peak           recovery
        """

    static func row(_ policy: Policy, _ middle: Results, _ worst: Results) -> String {
        let cells = [\Results.goodput, \.median, \.slowest, \.load, \.peak].map { path in
            cell(number(middle[keyPath: path], 2), number(worst[keyPath: path], 2))
        }
        let last = cell(number(middle.recovery, 0), number(worst.recovery, 0))
        let line = "  " + padded(policy.rawValue, 11) + (cells + [last]).joined()
        return String(line.reversed().drop { $0 == " " }.reversed())
    }

    /// A number with so many decimals.
    static func number(_ value: Double, _ decimals: Int) -> String {
        if !value.isFinite { return "never" }
        var scale = 1
        for _ in 0..<decimals { scale *= 10 }
        let whole = Int((value * Double(scale)).rounded())
        if decimals == 0 { return "\(whole)" }
        let rest = "\(whole % scale)"
        return "\(whole / scale)." + String(repeating: "0", count: decimals - rest.count) + rest
    }

    private static func cell(_ middle: String, _ worst: String) -> String { padded("\(middle) | \(worst)", 15) }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
