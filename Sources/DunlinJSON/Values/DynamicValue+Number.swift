public import FoundationEssentials

extension DynamicValue {
    /// A number as it is written: `1.10` stays `1.10`, and a long number loses no digit.
    ///
    /// Two numbers are equal if they are written the same way; compare `double` or `integer` to compare their values.
    public struct Number: Sendable, Hashable, CustomStringConvertible {
        /// The text: a JSON number, or `nan`, `inf` or `-inf`.
        public let literal: String

        /// Creates a number; nil if the text is not a JSON number.
        public init?(literal: String) {
            guard Self.isNumber(literal) else { return nil }
            self.literal = literal
        }

        /// Creates a number from text that has been checked.
        init(checked literal: String) {
            self.literal = literal
        }

        public init(_ value: some BinaryInteger) {
            literal = String(value)
        }

        /// Creates a number with the shortest digits that read as the same value; a whole number has no decimal point.
        public init(_ value: Double) {
            literal = Self.withoutZero("\(value)")
        }

        public init(_ value: Float) {
            literal = Self.withoutZero("\(value)")
        }

        public init(_ value: Decimal) {
            literal = value.isNaN ? "nan" : value.description
        }

        public var description: String { literal }

        /// Whether it is neither `nan` nor infinite; JSON has no such numbers.
        public var isFinite: Bool { literal.utf8.last.map { (0x30...0x39).contains($0) } ?? false }

        /// Returns the value if it is written as an integer and fits; otherwise nil.
        public func integer<Integer: FixedWidthInteger>(_ type: Integer.Type = Integer.self) -> Integer? {
            Integer(literal)
        }

        /// The nearest `Double`.
        public var double: Double { Double(literal) ?? .nan }
    }
}

extension DynamicValue.Number {
    private static func withoutZero(_ literal: String) -> String {
        literal.hasSuffix(".0") ? String(literal.dropLast(2)) : literal
    }

    /// Whether the text is a number by RFC 8259 §6.
    private static func isNumber(_ literal: String) -> Bool {
        var rest = Substring(literal).utf8
        func skip(_ bytes: ClosedRange<UInt8>) -> Int {
            let digits = rest.prefix { bytes.contains($0) }.count
            rest = rest.dropFirst(digits)
            return digits
        }
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
        let startsWithZero = rest.first == UInt8(ascii: "0")
        let whole = skip(digits)
        if whole == 0 || startsWithZero && whole > 1 { return false }
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            if skip(digits) == 0 { return false }
        }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest.removeFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest.removeFirst() }
            if skip(digits) == 0 { return false }
        }
        return rest.isEmpty
    }
}
