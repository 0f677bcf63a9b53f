/// The tree as a dynamic value, instead of as text.
extension JSONOutline {
    /// The value as a dynamic one, with the members in their order, or sorted where they have none.
    func value(at index: Int) -> DynamicValue {
        let node = nodes[index]
        switch node.kind {
        case .scalar: return scalar(in: node.text.range)
        case .kept: return kept[Int(node.first)]
        case .array:
            let elements = children(of: node).map(value)
            return .array(strides[index].map { elements.inOrder(by: $0) } ?? elements)
        case .empty, .removed, .object, .dictionary:
            let members = children(of: node).map {
                DynamicValue.Members.Member(key: name(of: $0), value: value(at: $0))
            }
            return .object(DynamicValue.Members(strides[index] == nil ? members : members.sortedByKey()))
        }
    }

    private func children(of node: Node) -> [Int] {
        let all = sequence(first: Int(node.first)) { Int(nodes[$0].next) }.prefix { $0 != 0 }
        return all.filter { nodes[$0].kind != .removed }
    }

    private func scalar(in range: Range<Int>) -> DynamicValue {
        if text[range].first == UInt8(ascii: "\"") { return .string(string(in: range)) }
        switch String(decoding: text[range], as: UTF8.self) {
        case "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        case let literal: return .number(DynamicValue.Number(checked: literal))
        }
    }
}
