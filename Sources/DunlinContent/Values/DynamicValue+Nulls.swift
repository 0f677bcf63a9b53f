extension DynamicValue {
    /// The same without nulls: members that are null, and null elements, at every level. Null itself stays.
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

    /// The first key that comes twice in one object, at any level.
    var repeatedKey: String? {
        switch self {
        case .array(let elements): return elements.lazy.compactMap(\.repeatedKey).first
        case .object(let members):
            var keys: Set<[UInt8]> = []
            for member in members where !keys.insert(Array(member.key.utf8)).inserted { return member.key }
            return members.lazy.compactMap(\.value.repeatedKey).first
        default: return nil
        }
    }
}
