internal import FoundationEssentials

extension Sequence<DynamicValue> {
    /// The elements sorted by text in UTF-16 code units: `10` comes before `2`, and upper case before lower case.
    package func inOrder() -> [DynamicValue] {
        let named = map { (text: $0.orderText, value: $0) }
        return named.sorted { left, right in
            if left.text.hasSameBytes(as: right.text) { return left.value.rank < right.value.rank }
            return left.text.precedesInUTF16(right.text)
        }.map(\.value)
    }
}

extension [DynamicValue] {
    /// The elements in that order, so many at a time.
    func inOrder(by stride: Int) -> Self {
        if stride == 1 { return inOrder() }
        let groups = Swift.stride(from: 0, to: count, by: stride).map { Self(self[$0..<Swift.min($0 + stride, count)]) }
        return groups.map(DynamicValue.array).inOrder().flatMap { group -> Self in
            if case .array(let elements) = group { elements } else { [] }
        }
    }
}

extension DynamicValue {
    fileprivate var orderText: String {
        switch self {
        case .null: ""
        case .bool(let flag): flag ? "1" : "0"
        case .number(let number): number.literal
        case .string(let text): text
        case .data(let bytes): Base64.encode(bytes)
        case .date(let date): "\(date.timeIntervalSince1970)"
        case .array(let elements): elements.map(\.orderText).joined(separator: ",")
        case .set(let elements): elements.inOrder().map(\.orderText).joined(separator: ",")
        case .object(let members): members.map { "\($0.key)=\($0.value.orderText)" }.joined(separator: ",")
        }
    }

    /// The order among elements with the same text.
    fileprivate var rank: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .number: 2
        case .string: 3
        case .data: 4
        case .date: 5
        case .array: 6
        case .set: 7
        case .object: 8
        }
    }
}
