public import DunlinTypes

/// How long a server asks to be left alone (RFC 9110 §10.2.3): seconds, or until a date. Model APIs say it more
/// exactly, in `retry-after-ms`, a number of milliseconds; where that is valid, it counts. Decimals, which the RFC does
/// not know, count as one more of either: a server that says them wants to be left alone.
///
/// A date counts by the server's own clock if the response says what that shows, for ours may be another. What is
/// neither a number nor a date asks for nothing; of several fields of a name the longest wait counts.
public enum RetryAfter {
    /// The wait, at least zero; nil without a valid field. `now` is this machine's clock, since 1970.
    public static func wait(_ fields: Fields, at now: Int64) -> Duration? {
        let exact = fields.rawValues(of: "retry-after-ms").compactMap(roundedUp).max()
        if let exact { return .milliseconds(exact) }
        return fields.rawValues(of: "retry-after").compactMap { value in
            roundedUp(value)
                ?? HTTPDate(value).map { max(0, $0.seconds.subtractingClamped(sent(fields)?.seconds ?? now)) }
        }.max().map { .seconds($0) }
    }

    /// A whole number, and one more for any decimals.
    private static func roundedUp(_ value: Bytes) -> Int64? {
        let parts = value.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = DeltaSeconds.value(of: parts[0]) else { return nil }
        guard parts.count == 2 else { return whole }
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard !parts[1].isEmpty, parts[1].allSatisfy(digits.contains) else { return nil }
        return parts[1].allSatisfy { $0 == UInt8(ascii: "0") } ? whole : whole.addingClamped(1)
    }

    private static func sent(_ fields: Fields) -> HTTPDate? {
        let dates = fields.rawValues(of: "date")
        return dates.count == 1 ? HTTPDate(dates[0]) : nil
    }
}
