internal import FoundationEssentials

/// Values that are written directly, without an encoder of their own, as leaves are read.
extension JSONValueEncoder {
    /// Writes a value of the leaf's type.
    func put<Value: Encodable>(
        _ value: Value, as leaf: JSONLeaf, _ node: Int, at step: @autoclosure () -> JSONStep
    ) throws {
        if draft.keepsTypes, let kept = DynamicValue(kept: value) { return draft.outline.put(kept: kept, at: node) }
        switch leaf {
        case .string: if let text = value as? String { draft.outline.put(text, at: node) }
        case .integer: if let number = value as? Int { draft.outline.put(number, at: node) }
        case .double: if let number = value as? Double { try put(number, node, at: step()) }
        case .bool: if let flag = value as? Bool { draft.outline.put(literal: flag ? "true" : "false", at: node) }
        case .date: if let date = value as? Date { try put(date, node, at: step()) }
        case .data: if let data = value as? Data { draft.outline.put(Base64.encode(Bytes(data)), at: node) }
        case .uuid: if let uuid = value as? UUID { draft.outline.put(text: uuid.quoted, at: node) }
        case .decimal: if let decimal = value as? Decimal { try put(decimal, node, at: step()) }
        case .url: if let url = value as? URL { draft.outline.put(url.absoluteString, at: node) }
        case .dynamic: if let dynamic = value as? DynamicValue { try put(dynamic, node, at: step()) }
        case .strings: if let texts = value as? [String] { draft.outline.put(texts, at: node) }
        case .integers: if let numbers = value as? [Int] { draft.outline.put(numbers, at: node) }
        case .doubles: if let numbers = value as? [Double] { try put(numbers, node, at: step()) }
        }
    }

    private func put(_ numbers: [Double], _ node: Int, at step: @autoclosure () -> JSONStep) throws {
        draft.outline.makeArray(node)
        let encoder = encoder(of: node, at: step())
        for (index, number) in numbers.enumerated() {
            try encoder.put(number, draft.outline.append(to: node), at: .element(index))
        }
    }

    private func put(_ decimal: Decimal, _ node: Int, at step: @autoclosure () -> JSONStep) throws {
        if decimal.isNaN { throw invalid(decimal, "JSON cannot represent nan", at: step()) }
        draft.outline.put(text: Bytes(decimal.description), at: node)
    }

    private func put(_ date: Date, _ node: Int, at step: @autoclosure () -> JSONStep) throws {
        switch draft.json.dates {
        case .deferred, .custom: try put(date.timeIntervalSinceReferenceDate, node, at: step())
        case .secondsSince1970: try put(date.timeIntervalSince1970, node, at: step())
        case .millisecondsSince1970: try put(date.timeIntervalSince1970 * 1000, node, at: step())
        case .iso8601: try put(InternetDate.text(date, hasFraction: false), of: date, node, at: step())
        case .iso8601WithFractions: try put(InternetDate.text(date, hasFraction: true), of: date, node, at: step())
        }
    }

    private func put(
        _ text: String?, of date: Date, _ node: Int, at step: @autoclosure () -> JSONStep
    ) throws {
        guard let text else {
            // The number and not the date: Foundation traps when a distant date is printed.
            throw invalid(date.timeIntervalSince1970, "a date must lie in the years 1 to 9999", at: step())
        }
        draft.outline.put(text, at: node)
    }

    /// Writes a dynamic value with its numbers' digits. What JSON cannot represent is refused here as elsewhere.
    private func put(_ value: DynamicValue, _ node: Int, at step: @autoclosure () -> JSONStep) throws {
        do {
            let depth = draft.outline.depth(of: node)
            let text = try value.json(draft.json.format, depth: depth, limit: draft.json.limits.depth)
            draft.outline.put(text: text, at: node)
        } catch {
            throw invalid(value, "\(error)", at: step())
        }
    }
}
