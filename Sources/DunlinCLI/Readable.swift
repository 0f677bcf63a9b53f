import Dunlin

extension Duration {
    /// Three or four digits and a unit.
    var readable: String {
        let microseconds = clampedNanoseconds / 1000
        if microseconds < 1000 { return "\(microseconds) µs" }
        let tenths = microseconds / 100
        if tenths < 10_000 { return "\(tenths / 10).\(tenths % 10) ms" }
        return "\(tenths / 10_000).\(tenths / 1000 % 10) s"
    }
}

extension Int {
    /// A count of bytes with a unit.
    var readableBytes: String {
        if self < 10_000 { return "\(self) B" }
        if self < 10_000 * 1024 { return "\(self / 1024) KiB" }
        return "\(self / 1024 / 1024) MiB"
    }
}
