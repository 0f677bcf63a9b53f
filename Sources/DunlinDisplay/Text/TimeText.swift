/// A time as text for people: minutes and seconds, hours if there are any, days if there are many.
struct TimeText: CustomStringConvertible {
    static let width = 8

    /// The time; nil if it is not known.
    let time: Duration?

    init(_ time: Duration?) {
        self.time = time
    }

    /// Parts of a second count as one, so that the time left is never zero.
    var description: String {
        guard let time, time >= .zero else { return "" }
        let (whole, rest) = time.components
        guard whole < 1000 * 24 * 3600 else { return "" }
        let seconds = rest > 0 ? whole + 1 : whole
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
        if hours >= 100 { return "\(hours / 24) d" }
        let tail = Self.twoDigits(seconds % 60)
        return hours > 0 ? "\(hours):\(Self.twoDigits(minutes)):\(tail)" : "\(minutes):\(tail)"
    }

    private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
