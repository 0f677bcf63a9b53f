extension Bytes: ExpressibleByStringInterpolation {
    public init(stringLiteral text: String) {
        self.init(text)
    }

    public init(stringInterpolation parts: StringInterpolation) {
        self.init(parts.bytes)
    }

    /// Interpolated bytes (`Bytes`, `Data`, `[UInt8]`) are appended as they are, and of any other value its text. What
    /// has no text, such as an optional, is refused by the compiler.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var bytes: [UInt8] = []

        public init(literalCapacity: Int, interpolationCount: Int) {
            bytes.reserveCapacity(literalCapacity + interpolationCount * 8)
        }

        public mutating func appendLiteral(_ literal: String) {
            bytes.append(contentsOf: literal.utf8)
        }

        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            bytes.append(contentsOf: value.description.utf8)
        }

        public mutating func appendInterpolation(_ value: some CustomStringConvertible & Sequence<UInt8>) {
            bytes.append(contentsOf: value)
        }
    }
}
