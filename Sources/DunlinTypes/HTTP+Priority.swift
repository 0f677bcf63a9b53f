extension HTTP {
    /// The order in which requests that wait for a connection are served: the higher number first, equal ones in order
    /// of arrival.
    public struct Priority: Sendable, Hashable, Comparable, ExpressibleByIntegerLiteral {
        public var rawValue: Int

        @inlinable public init(_ rawValue: Int) {
            self.rawValue = rawValue
        }

        @inlinable public init(integerLiteral value: Int) {
            self.init(value)
        }

        public static let low = Self(-100)
        public static let normal = Self(0)
        public static let high = Self(100)

        @inlinable public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }
}
