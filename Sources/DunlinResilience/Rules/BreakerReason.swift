/// Why a breaker opened: so many of so many outcomes were bad.
package struct BreakerReason: Sendable, Equatable {
    package enum Kind: Sendable {
        case failures
        case slowness
        /// A probe failed, or was slow.
        case probe
    }

    package var kind: Kind
    package var bad: Int
    package var of: Int

    package init(_ kind: Kind, bad: Int, of: Int) {
        self.kind = kind
        self.bad = bad
        self.of = of
    }

    package var rate: Double { Double(bad) / Double(of) }
}
