extension Int {
    /// The number of bytes with a unit.
    package var readableBytes: String {
        if self < 10_000 { return "\(self) B" }
        if self < 10_000 * 1024 { return "\(self / 1024) KiB" }
        return "\(self / 1024 / 1024) MiB"
    }
}
