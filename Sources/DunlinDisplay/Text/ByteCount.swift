/// A number of bytes as text for people: at most four characters and a unit.
struct ByteCount: CustomStringConvertible {
    static let width = 8
    private static let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

    let count: Int

    init(_ count: Int) {
        self.count = max(0, count)
    }

    var description: String {
        if count < 1000 { return "\(count) B" }
        var size = 1.0
        for unit in Self.units {
            size *= 1024
            let amount = Double(count) / size
            let tenths = Int((amount * 10).rounded())
            if tenths < 1000 { return "\(tenths / 10).\(tenths % 10) \(unit)" }
            let whole = Int(amount.rounded())
            if whole < 1000 { return "\(whole) \(unit)" }
        }
        return "\(count) B"
    }
}

/// A rate in bytes a second, as text.
struct RateText: CustomStringConvertible {
    static let width = ByteCount.width + 2

    /// The rate; nil if it is not known.
    let rate: Double?

    init(_ rate: Double?) {
        self.rate = rate
    }

    var description: String {
        guard let rate, rate.isFinite, rate >= 0 else { return "" }
        return "\(ByteCount(Int(min(rate.rounded(), 1e18))))/s"
    }
}
