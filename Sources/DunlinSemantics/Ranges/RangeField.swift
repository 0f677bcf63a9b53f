package import DunlinTypes

/// A Range field in bytes (RFC 9110 §14.2) with one range.
package enum RangeField: Sendable, Hashable {
    /// A range from an offset to another, that of the last byte, or to the end.
    case from(Int, through: Int?)
    /// A number of bytes at the end.
    case last(Int)

    /// Reads a field; nil for other units, for several ranges, and for an invalid one.
    package init?(_ fields: Fields) {
        guard let value = fields.soleValue(of: "range") else { return nil }
        var reader = ValueReader(value)
        guard reader.token()?.lowercased() == "bytes", reader.take("=") else { return nil }
        reader.skipBlanks()
        guard let range = Self.range(&reader) else { return nil }
        reader.skipBlanks()
        guard reader.isAtEnd else { return nil }
        self = range
    }

    private static func range(_ reader: inout ValueReader) -> RangeField? {
        guard let first = reader.number() else {
            guard reader.take("-"), let count = reader.number() else { return nil }
            return .last(count)
        }
        guard reader.take("-") else { return nil }
        guard let last = reader.number() else { return .from(first, through: nil) }
        return first <= last ? .from(first, through: last) : nil
    }

    /// Returns the range in a representation of that length; nil if it is empty.
    package func range(of length: Int) -> Range<Int>? {
        switch self {
        case .from(let first, let last):
            guard first < length else { return nil }
            return first..<(min(last ?? length - 1, length - 1) + 1)
        case .last(let count):
            guard count > 0, length > 0 else { return nil }
            return max(0, length - count)..<length
        }
    }
}
