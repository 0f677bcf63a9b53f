/// Random numbers that are the same for the same seed, on every machine and with every toolchain (SplitMix64). Not for
/// secrets.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) {
        state = seed
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mixed(state)
    }

    /// Returns a number in `0..<bound`. The standard library's own method does not promise the same number everywhere.
    public mutating func next(below bound: Int) -> Int {
        bound > 1 ? Int(next().multipliedFullWidth(by: UInt64(bound)).high) : 0
    }

    /// Returns a number in `range`.
    public mutating func next(in range: ClosedRange<Int>) -> Int {
        range.lowerBound + next(below: range.count)
    }

    static func mixed(_ value: UInt64) -> UInt64 {
        var value = value
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
