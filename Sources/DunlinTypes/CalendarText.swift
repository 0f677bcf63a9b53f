/// Dates and times as text for people, without a calendar library.
package enum CalendarText {
    /// Seconds since 1970 as `2024-05-01 12:00:00 UTC`, in the Gregorian calendar.
    package static func utc(_ seconds: Int64) -> String {
        // Certificates end in the year 9999 at the latest; other times are clamped to the years 0 to 9999.
        let seconds = min(max(seconds, -62_167_219_200), 253_402_300_799)
        let days = Int(seconds.floored(by: 86_400))
        let rest = Int(seconds) - days * 86_400
        let (year, month, day) = civil(days)
        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
        return "\(date) \(padded(rest / 3600, 2)):\(padded(rest / 60 % 60, 2)):\(padded(rest % 60, 2)) UTC"
    }

    /// Milliseconds since 1970 as `2024-05-01T12:00:00Z` (RFC 3339); a fraction is shown unless it is zero.
    package static func iso8601(milliseconds: Int64) -> String {
        let seconds = milliseconds.floored(by: 1000)
        let rest = Int(milliseconds - seconds * 1000)
        let text = utc(seconds)
        let day = text.prefix(10)
        let time = text.dropFirst(11).prefix(8)
        return "\(day)T\(time)\(rest == 0 ? "" : ".\(padded(rest, 3))")Z"
    }

    /// The date `days` days after 1 January 1970.
    ///
    /// Years begin in March here, so that the leap day is the last day of a year.
    package static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = Int(Int64(shifted).floored(by: 146_097))
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * dayOfYear + 2) / 153
        let month = march < 10 ? march + 3 : march - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * march + 2) / 5 + 1)
    }

    /// Days from 1970 to a date in the Gregorian calendar; nil if there is no such date in the years 0 to 9999.
    package static func days(year: Int, month: Int, day: Int) -> Int? {
        guard (0...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
        let shifted = month <= 2 ? year - 1 : year
        let era = Int(Int64(shifted).floored(by: 400))
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        let date = civil(days)
        // A day such as 30 February comes back as another date.
        return date == (year, month, day) ? days : nil
    }

    package static func padded(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }
}

extension Int64 {
    fileprivate func floored(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
