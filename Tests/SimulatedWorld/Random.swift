/// A generator of numbers that a seed determines (SplitMix64).
package struct Random {
    private var state: UInt64
    private var constant: UInt64?

    package init(seed: UInt64) {
        state = seed &* 0x2545_F491_4F6C_DD1D &+ 0x9E37_79B9_7F4A_7C15
    }

    /// Creates one that always gives the same number, in whatever order its users come.
    package init(always number: UInt64) {
        self.init(seed: 0)
        constant = number
    }

    mutating func next() -> UInt64 {
        if let constant { return constant }
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to 1.
    mutating func share() -> Double { Double(next() >> 11) / Double(1 << 53) }

    /// A time of this mean, as of events that know nothing of each other.
    mutating func time(mean: Double) -> Double { -mean * Logarithm.of(1 - share()) }

    /// The value, up to a half more or less.
    mutating func varied(_ value: Double) -> Double { value * (0.5 + share()) }
}
