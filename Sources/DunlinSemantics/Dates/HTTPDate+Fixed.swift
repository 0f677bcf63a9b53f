internal import DunlinTypes

/// Reads the form of nearly all dates in place: `Sun, 06 Nov 1994 08:49:37 GMT`. A cache reads a few dates of each
/// response, and creating text of them would cost a fifth of a request's time.
extension HTTPDate {
    /// Reads the usual form; nil for anything else, which may still be a date.
    init?(fixed value: Bytes) {
        let text = value.span
        guard Self.hasFixedForm(text), let year = Self.number(text, 12..<16), let day = Self.number(text, 5..<7),
            let month = Self.fixedMonths.firstIndex(of: Self.word(text, at: 8)),
            let hour = Self.number(text, 17..<19), let minute = Self.number(text, 20..<22),
            let second = Self.number(text, 23..<25), hour < 24, minute < 60, second <= 60,
            let date = CalendarText.days(year: year, month: month + 1, day: day),
            Self.fixedDays[((date % 7) + 7) % 7] == Self.word(text, at: 0)
        else { return nil }
        self.init(seconds: Int64(date * 86_400 + hour * 3600 + minute * 60 + min(second, 59)))
    }

    private static func hasFixedForm(_ text: Span<UInt8>) -> Bool {
        text.count == 29 && text[3] == 0x2C && text[4] == 0x20 && text[7] == 0x20 && text[11] == 0x20
            && text[16] == 0x20 && text[19] == 0x3A && text[22] == 0x3A && text[25] == 0x20
            && word(text, at: 26) == 0x47_4D_54
    }

    private static func number(_ text: Span<UInt8>, _ range: Range<Int>) -> Int? {
        var number = 0
        for index in range {
            guard text[index] &- 0x30 < 10 else { return nil }
            number = number * 10 + Int(text[index] - 0x30)
        }
        return number
    }

    /// Returns three letters as a number.
    private static func word(_ text: Span<UInt8>, at start: Int) -> UInt32 {
        UInt32(text[start]) << 16 | UInt32(text[start + 1]) << 8 | UInt32(text[start + 2])
    }

    private static func word(_ text: String) -> UInt32 {
        text.utf8.reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static let fixedDays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"].map { word($0) }
    private static let fixedMonths = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ].map { word($0) }
}
