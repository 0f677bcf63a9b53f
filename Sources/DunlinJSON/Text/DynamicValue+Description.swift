extension DynamicValue: CustomDebugStringConvertible {
    /// The value as JSON on one line. There is no `description`, so that quoted text does not get into a target by
    /// mistake.
    public var debugDescription: String {
        do { return String(try shown.json()) } catch { return "\(error)" }
    }

    /// The value with forms for what JSON cannot represent.
    private var shown: DynamicValue {
        switch self {
        case .number(let number) where !number.isFinite: .string(number.literal)
        case .array(let elements): .array(elements.map(\.shown))
        case .set(let elements): .array(elements.inOrder().map(\.shown))
        case .object(let members): .object(Members(members.map { Members.Member(key: $0.key, value: $0.value.shown) }))
        default: self
        }
    }
}

extension DynamicValue.Members: CustomDebugStringConvertible {
    public var debugDescription: String { DynamicValue.object(self).debugDescription }
}
