internal import DunlinSemantics
internal import DunlinTypes

/// Reads when a limit is reset, as servers write it: how far away, or at which time.
///
/// | text | is |
/// |---|---|
/// | a number below 1,000,000,000, such as `30` or `0.5` | seconds from now |
/// | a number from there up to 100,000,000,000 | seconds since 1970 |
/// | a number from 1,000,000,000,000 up to 100,000,000,000,000 | milliseconds since 1970 |
/// | numbers with units, such as `1m30s` or `6ms` | their sum, from now |
/// | a date of HTTP | that time |
enum ResetTime {
    private static let units: [String: Double] = [
        "d": 86_400e9, "h": 3600e9, "m": 60e9, "s": 1e9, "ms": 1e6, "us": 1e3, "µs": 1e3, "ns": 1,
    ]

    /// How far away the reset is; nil if that cannot be read, or is not in the future. `now`: seconds since 1970.
    static func distance(_ value: Bytes, at now: Int64) -> Duration? {
        if let date = HTTPDate(value) { return positive(Double(date.seconds.subtractingClamped(now)) * 1e9) }
        guard let text = String(validating: value.array, as: UTF8.self) else { return nil }
        guard let number = number(text) else { return sum(text).flatMap(positive) }
        switch number {
        case ..<1e9: return positive(number * 1e9)
        case ..<1e11: return positive((number - Double(now)) * 1e9)
        case 1e12..<1e14: return positive((number - Double(now) * 1e3) * 1e6)
        default: return nil
        }
    }

    private static func positive(_ nanoseconds: Double) -> Duration? {
        nanoseconds >= 1 ? .nanoseconds(Int64(min(nanoseconds, 9e18))) : nil
    }

    /// Digits, with a point within them at most.
    private static func number(_ text: some StringProtocol) -> Double? {
        guard !text.isEmpty, !text.hasPrefix("."), !text.hasSuffix("."), text.utf8.allSatisfy(isNumeric) else {
            return nil
        }
        return Double(text)
    }

    private static func sum(_ text: String) -> Double? {
        var rest = Substring(text)
        var sum: Double?
        while !rest.isEmpty {
            let digits = rest.prefix { $0.utf8.allSatisfy(isNumeric) }
            rest = rest[digits.endIndex...]
            let letters = rest.prefix { !$0.utf8.allSatisfy(isNumeric) }
            rest = rest[letters.endIndex...]
            guard let number = number(digits), let unit = units[String(letters)] else { return nil }
            sum = (sum ?? 0) + number * unit
        }
        return sum
    }

    private static func isNumeric(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 || byte == UInt8(ascii: ".") }
}
