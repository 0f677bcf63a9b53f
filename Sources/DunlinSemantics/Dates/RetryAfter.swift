public import DunlinTypes

/// How long a server asks to be left alone (RFC 9110 §10.2.3): seconds, or until a date.
///
/// A date counts by the server's own clock if the response says what that shows, for ours may be another. What is
/// neither a number nor a date asks for nothing; of several fields the longest wait counts.
public enum RetryAfter {
    /// Seconds, none of them below zero; nil without a field that means anything. `now` is our clock, since 1970.
    public static func seconds(_ fields: Fields, at now: Int64) -> Int64? {
        fields.rawValues(of: "retry-after").compactMap { value in
            digits(value) ?? HTTPDate(value).map { max(0, $0.seconds.subtractingClamped(sent(fields)?.seconds ?? now)) }
        }.max()
    }

    private static func sent(_ fields: Fields) -> HTTPDate? {
        let dates = fields.rawValues(of: "date")
        return dates.count == 1 ? HTTPDate(dates[0]) : nil
    }

    /// A number that no clock holds is a long time.
    private static func digits(_ value: Bytes) -> Int64? {
        guard !value.isEmpty else { return nil }
        var number: Int64 = 0
        for index in 0..<value.count {
            let digit = value[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            let (scaled, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, spill) = scaled.addingReportingOverflow(Int64(digit))
            number = overflow || spill ? .max : sum
        }
        return number
    }
}
