public import DunlinTypes

/// A moment as HTTP writes it (RFC 9110 §5.6.7), to the second.
///
/// All three forms are read, strictly: day names must be right as well. Written is the first.
///
///     Sun, 06 Nov 1994 08:49:37 GMT      as everybody writes it
///     Sunday, 06-Nov-94 08:49:37 GMT     of RFC 850: the years are 1970 to 2069
///     Sun Nov  6 08:49:37 1994           of C's asctime
public struct HTTPDate: Sendable, Hashable, Comparable {
    /// The seconds since 1970. A leap second counts as the one before it.
    public let seconds: Int64

    /// Creates the nearest moment that can be written, in the years 0 to 9999.
    public init(seconds: Int64) {
        self.seconds = min(max(seconds, Self.range.lowerBound), Self.range.upperBound)
    }

    public init?(_ value: Bytes) {
        if let moment = HTTPDate(fixed: value) {
            self = moment
            return
        }
        guard value.count <= 40, let text = String(validating: value, as: UTF8.self),
            let moment = Self.preferred(text) ?? Self.ofRFC850(text) ?? Self.asctime(text)
        else { return nil }
        self = moment
    }

    /// Reads a moment leniently, for an expiry that a cache reads (RFC 9111 §4.2): in any case, with any weekday. Other
    /// zones than GMT are refused here too.
    package init?(forgiving value: Bytes) {
        if let moment = HTTPDate(fixed: value) {
            self = moment
            return
        }
        guard value.count <= 40, let text = String(validating: value, as: UTF8.self).map(Self.usualCase),
            let moment = Self.preferred(text, false) ?? Self.ofRFC850(text, false) ?? Self.asctime(text, false)
        else { return nil }
        self = moment
    }

    public static func < (left: HTTPDate, right: HTTPDate) -> Bool { left.seconds < right.seconds }

    private static let range: ClosedRange<Int64> = -62_167_219_200...253_402_300_799
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let longDays = [
        "Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday",
    ]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}

// MARK: - Reading

extension HTTPDate {
    private static func preferred(_ text: String, _ isStrict: Bool = true) -> HTTPDate? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0].hasSuffix(","), parts[5] == "GMT" else { return nil }
        return HTTPDate(
            name: parts[0].dropLast(), among: days, year: number(parts[3], 4), month: parts[2],
            day: number(parts[1], 2), time: parts[4], isStrict)
    }

    private static func ofRFC850(_ text: String, _ isStrict: Bool = true) -> HTTPDate? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0].hasSuffix(","), parts[3] == "GMT" else { return nil }
        let date = parts[1].split(separator: "-", omittingEmptySubsequences: false)
        guard date.count == 3 else { return nil }
        return HTTPDate(
            name: parts[0].dropLast(), among: longDays, year: number(date[2], 2).map { $0 + ($0 < 70 ? 2000 : 1900) },
            month: date[1], day: number(date[0], 2), time: parts[2], isStrict)
    }

    private static func asctime(_ text: String, _ isStrict: Bool = true) -> HTTPDate? {
        let text = Array(text.utf8)
        guard text.count == 24, text.allSatisfy({ $0 < 0x80 }) else { return nil }
        func part(_ range: Range<Int>) -> Substring { Substring(String(decoding: text[range], as: UTF8.self)) }
        guard [3, 7, 10, 19].allSatisfy({ text[$0] == 0x20 }) else { return nil }
        let day = text[8] == 0x20 ? number(part(9..<10), 1) : number(part(8..<10), 2)
        return HTTPDate(
            name: part(0..<3), among: days, year: number(part(20..<24), 4), month: part(4..<7), day: day,
            time: part(11..<19), isStrict)
    }

    private init?(
        name: Substring, among names: [String], year: Int?, month: Substring, day: Int?, time: Substring,
        _ isStrict: Bool
    ) {
        guard let year, let day, let month = Self.months.firstIndex(where: { $0 == month }),
            let date = CalendarText.days(year: year, month: month + 1, day: day),
            isStrict ? names[((date % 7) + 7) % 7] == name : names.contains(where: { $0 == name }),
            let seconds = Self.secondsOfDay(time)
        else { return nil }
        self.init(seconds: Int64(date * 86_400 + seconds))
    }

    /// Returns each word with a capital first, and `GMT` with three.
    private static func usualCase(_ text: String) -> String {
        var isWithin = false
        let bytes = text.utf8.map { byte in
            guard (byte | 0x20) &- 0x61 < 26 else {
                isWithin = false
                return byte
            }
            defer { isWithin = true }
            return isWithin ? byte | 0x20 : byte & 0xDF
        }
        return String(decoding: bytes, as: UTF8.self).replacing("Gmt", with: "GMT")
    }

    private static func secondsOfDay(_ time: Substring) -> Int? {
        let parts = time.split(separator: ":", omittingEmptySubsequences: false).map { number($0, 2) }
        guard parts.count == 3, let hour = parts[0], let minute = parts[1], let second = parts[2], hour < 24,
            minute < 60, second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + min(second, 59)
    }

    private static func number(_ digits: Substring, _ count: Int) -> Int? {
        guard digits.utf8.count == count, digits.utf8.allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
        return Int(digits)
    }
}

// MARK: - Writing

extension HTTPDate: CustomStringConvertible {
    public var description: String {
        let date = Int((seconds - (seconds % 86_400 + 86_400) % 86_400) / 86_400)
        let rest = Int(seconds) - date * 86_400
        let (year, month, day) = CalendarText.civil(date)
        let name = Self.days[((date % 7) + 7) % 7]
        let calendar = "\(Self.padded(day)) \(Self.months[month - 1]) \(Self.padded(year, 4))"
        let time = [rest / 3600, rest / 60 % 60, rest % 60].map { Self.padded($0) }.joined(separator: ":")
        return "\(name), \(calendar) \(time) GMT"
    }

    private static func padded(_ number: Int, _ width: Int = 2) -> String {
        CalendarText.padded(number, width)
    }
}
