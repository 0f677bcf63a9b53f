internal import DunlinTypes

/// Reads a cookie's end, as leniently as everybody does (RFC 6265bis §5.1.1).
///
/// A time, a day, a month and a year in any order, with anything between and around them: each piece is the first of
/// these that it fits and that is still missing. Zones are not read; all times are UTC.
enum CookieDate {
    /// Returns seconds since 1970; nil for text without a date.
    static func seconds(_ text: ArraySlice<UInt8>) -> Int64? {
        var found = Found()
        for token in text.split(whereSeparator: isDelimiter) { found.take(token) }
        return found.seconds
    }

    private struct Found {
        private var time: (hour: Int, minute: Int, second: Int)?
        private var day: Int?
        private var month: Int?
        private var year: Int?

        mutating func take(_ token: ArraySlice<UInt8>) {
            if time == nil, let found = CookieDate.time(token) {
                time = found
            } else if day == nil, let found = CookieDate.number(token, 1...2) {
                day = found
            } else if month == nil, let found = CookieDate.month(token) {
                month = found
            } else if year == nil, let found = CookieDate.number(token, 2...4) {
                year = found
            }
        }

        var seconds: Int64? {
            guard let time, let day, let month, var year else { return nil }
            if year < 100 { year += year < 70 ? 2000 : 1900 }
            guard year >= 1601, time.hour < 24, time.minute < 60, time.second < 60,
                let days = CalendarText.days(year: year, month: month, day: day)
            else { return nil }
            return Int64(days * 86_400 + time.hour * 3600 + time.minute * 60 + time.second)
        }
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    /// Returns the number at the start of a token, with as many digits as `counts` allows, followed by none.
    private static func number(_ token: ArraySlice<UInt8>, _ counts: ClosedRange<Int>) -> Int? {
        let digits = token.prefix(while: isDigit)
        guard counts.contains(digits.count) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private static func time(_ token: ArraySlice<UInt8>) -> (hour: Int, minute: Int, second: Int)? {
        let parts = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].allSatisfy(isDigit), parts[1].allSatisfy(isDigit),
            let hour = number(parts[0], 1...2), let minute = number(parts[1], 1...2),
            let second = number(parts[2], 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    private static func month(_ token: ArraySlice<UInt8>) -> Int? {
        let name = token.prefix(3).map { $0 | 0x20 }
        return months.firstIndex { $0.utf8.elementsEqual(name) }.map { $0 + 1 }
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]
}
