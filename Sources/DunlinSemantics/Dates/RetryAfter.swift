public import DunlinTypes

/// How long a server asks to be left alone (RFC 9110 §10.2.3): seconds, or until a date.
///
/// A date counts by the server's own clock if the response says what that shows, for ours may be another. What is
/// neither a number nor a date asks for nothing; of several fields the longest wait counts.
public enum RetryAfter {
    /// Returns the seconds, at least zero; nil without a valid field. `now` is this machine's clock, since 1970.
    public static func seconds(_ fields: Fields, at now: Int64) -> Int64? {
        fields.rawValues(of: "retry-after").compactMap { value in
            DeltaSeconds.value(of: value)
                ?? HTTPDate(value).map { max(0, $0.seconds.subtractingClamped(sent(fields)?.seconds ?? now)) }
        }.max()
    }

    private static func sent(_ fields: Fields) -> HTTPDate? {
        let dates = fields.rawValues(of: "date")
        return dates.count == 1 ? HTTPDate(dates[0]) : nil
    }
}
