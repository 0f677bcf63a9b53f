public import FoundationEssentials

/// The value as one of its types; nil if it is another. Nothing is converted.
extension DynamicValue {
    public var isNull: Bool { self == .null }
    public var bool: Bool? { if case .bool(let flag) = self { flag } else { nil } }
    public var number: Number? { if case .number(let number) = self { number } else { nil } }
    /// The integer; nil unless it is a number written as one that fits.
    public var int: Int? { number?.integer() }
    /// The number as the nearest `Double`.
    public var double: Double? { number?.double }
    public var string: String? { if case .string(let text) = self { text } else { nil } }
    public var data: Bytes? { if case .data(let bytes) = self { bytes } else { nil } }
    public var date: Date? { if case .date(let date) = self { date } else { nil } }
    public var array: [DynamicValue]? { if case .array(let elements) = self { elements } else { nil } }
    public var members: Members? { if case .object(let members) = self { members } else { nil } }

    /// An object's member; nil for any other value.
    public subscript(key: String) -> DynamicValue? { members?[key] }

    /// An array's element; nil for any other value, and for an index out of range.
    public subscript(index: Int) -> DynamicValue? {
        guard let array, array.indices.contains(index) else { return nil }
        return array[index]
    }
}
