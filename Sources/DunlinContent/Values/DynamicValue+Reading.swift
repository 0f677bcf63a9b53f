public import FoundationEssentials

/// What a value is, if it is that; nothing is converted into something else.
extension DynamicValue {
    public var isNull: Bool { self == .null }
    public var bool: Bool? { if case .bool(let flag) = self { flag } else { nil } }
    public var number: Number? { if case .number(let number) = self { number } else { nil } }
    /// Of a number that is written as an integer and fits.
    public var int: Int? { number?.integer() }
    /// Of any number, the nearest there is.
    public var double: Double? { number?.double }
    public var string: String? { if case .string(let text) = self { text } else { nil } }
    public var data: Bytes? { if case .data(let bytes) = self { bytes } else { nil } }
    public var date: Date? { if case .date(let date) = self { date } else { nil } }
    public var array: [DynamicValue]? { if case .array(let elements) = self { elements } else { nil } }
    public var members: Members? { if case .object(let members) = self { members } else { nil } }

    /// The member of an object; nil for anything else.
    public subscript(key: String) -> DynamicValue? { members?[key] }

    /// The element of an array; nil for anything else, and outside it.
    public subscript(index: Int) -> DynamicValue? {
        guard let array, array.indices.contains(index) else { return nil }
        return array[index]
    }
}
