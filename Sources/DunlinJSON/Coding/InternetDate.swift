internal import FoundationEssentials

/// Dates and times in the usual form of JSON (RFC 3339, a profile of ISO 8601): `2026-01-31T23:59:59.250+01:00`.
enum InternetDate {
    /// The date that a text names; nil for any other text, and for a day that does not exist. A zone is required and
    /// may lack its colon. A leap second counts as the first second of the next minute.
    static func date(_ text: String) -> Date? {
        var text = text
        return text.withUTF8 { bytes in
            var reader = Reader(bytes: bytes)
            return reader.date().map { Date(timeIntervalSince1970: $0) }
        }
    }

    /// The text of a date, rounded to milliseconds if `hasFraction`, otherwise without a fraction; nil unless the year
    /// has four digits.
    static func text(_ date: Date, hasFraction: Bool) -> String? {
        let seconds = date.timeIntervalSince1970
        let exact = hasFraction ? (seconds * 1000).rounded() : seconds.rounded(.down) * 1000
        guard exact >= -62_135_596_800_000, exact < 253_402_300_800_000 else { return nil }
        let milliseconds = Int64(exact)
        let rest = (milliseconds % 1000 + 1000) % 1000
        let whole = CalendarText.iso8601(milliseconds: milliseconds - rest)
        return hasFraction ? "\(whole.dropLast()).\(CalendarText.padded(Int(rest), 3))Z" : whole
    }

    private struct Reader {
        let bytes: UnsafeBufferPointer<UInt8>
        var position = 0

        mutating func date() -> Double? {
            guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2),
                skip("T") || skip("t"), let hour = number(2), hour < 24, skip(":"), let minute = number(2), minute < 60,
                skip(":"), let second = number(2), second <= 60, let fraction = fraction(), let zone = zone(),
                position == bytes.count, let days = CalendarText.days(year: year, month: month, day: day)
            else { return nil }
            return Double(days * 86_400 + hour * 3600 + minute * 60 + second - zone) + fraction
        }

        private mutating func number(_ digits: Int) -> Int? {
            guard position + digits <= bytes.count else { return nil }
            var number = 0
            for _ in 0..<digits {
                let digit = bytes[position] &- 0x30
                guard digit < 10 else { return nil }
                number = number * 10 + Int(digit)
                position += 1
            }
            return number
        }

        private mutating func skip(_ sign: Unicode.Scalar) -> Bool {
            guard position < bytes.count, bytes[position] == UInt8(ascii: sign) else { return false }
            position += 1
            return true
        }

        /// The fraction of a second. Digits after the fifteenth are ignored.
        private mutating func fraction() -> Double? {
            guard skip(".") || skip(",") else { return 0 }
            var digits = 0.0
            var scale = 1.0
            let start = position
            while position < bytes.count, bytes[position] &- 0x30 < 10 {
                if position - start < 15 {
                    digits = digits * 10 + Double(bytes[position] &- 0x30)
                    scale *= 10
                }
                position += 1
            }
            return position > start ? digits / scale : nil
        }

        /// The zone's offset from UTC, in seconds.
        private mutating func zone() -> Int? {
            if skip("Z") || skip("z") { return 0 }
            let isEast = skip("+")
            guard isEast || skip("-"), let hours = number(2), hours < 24 else { return nil }
            var minutes = 0
            if skip(":") || position < bytes.count {
                guard let number = number(2), number < 60 else { return nil }
                minutes = number
            }
            return (isEast ? 1 : -1) * (hours * 3600 + minutes * 60)
        }
    }
}
