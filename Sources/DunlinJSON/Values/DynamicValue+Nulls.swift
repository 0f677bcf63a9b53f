extension DynamicValue {
    /// Returns the value without null members and elements, at every level. Null itself stays.
    public func withoutNulls() -> DynamicValue {
        switch self {
        case .array(let elements): .array(elements.filter { !$0.isNull }.map { $0.withoutNulls() })
        case .object(let members):
            .object(
                Members(
                    members.filter { !$0.value.isNull }
                        .map { Members.Member(key: $0.key, value: $0.value.withoutNulls()) }))
        default: self
        }
    }
}
