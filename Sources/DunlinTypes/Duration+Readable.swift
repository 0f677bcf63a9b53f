extension Duration {
    /// The duration as text for people: `850 µs`, `1.4 ms`, `12.0 s`.
    package var readable: String {
        let microseconds = clampedNanoseconds / 1000
        if microseconds < 1000 { return "\(microseconds) µs" }
        let tenths = microseconds / 100
        if tenths < 10_000 { return "\(tenths / 10).\(tenths % 10) ms" }
        return "\(tenths / 10_000).\(tenths / 1000 % 10) s"
    }
}
