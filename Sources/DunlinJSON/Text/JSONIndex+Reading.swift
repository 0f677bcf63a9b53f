extension JSONIndex {
    /// The index of a text, which may begin with a byte order mark.
    static func of(
        _ text: Bytes, _ limits: HTTP.JSON.Limits = HTTP.JSON.Limits(), refusesRepeatedKeys: Bool = false,
        hiding secret: HTTP.SecretFields = .usual
    ) throws(HTTP.JSON.SyntaxError) -> JSONIndex {
        let start = text.offset
        var scanner = JSONScanner(start..<start + text.count, limits, refusesRepeatedKeys: refusesRepeatedKeys)
        do throws(JSONScanner.Fault) {
            try scanner.scan(text.storage.span)
        } catch {
            throw JSONExcerpt(of: text, scanner, hiding: secret).syntaxError(error)
        }
        return JSONIndex(text: text.storage, start: start, entries: scanner.entries)
    }
}

// MARK: - Dynamic values

extension DynamicValue {
    /// Creates a value from JSON (RFC 8259) in UTF-8, read strictly.
    ///
    /// Numbers keep their digits and an object's members their order. If a key is repeated in an object, only the last
    /// member is kept.
    public init(json text: Bytes) throws(HTTP.JSON.SyntaxError) {
        self = try JSONIndex.of(text).value(at: 0)
    }

    /// Creates a value from JSON in UTF-8, UTF-16 or UTF-32. Duplicate keys in an object are refused.
    package init(strictJSON text: Bytes) throws(HTTP.JSON.SyntaxError) {
        self = try JSONIndex.of(try text.inUTF8(), refusesRepeatedKeys: true).value(at: 0)
    }
}

extension JSONIndex {
    /// The value at `position`. It recurses as deep as the text, which the scanner has limited.
    func value(at position: Int) -> DynamicValue {
        let entry = entries[position]
        switch entry.kind {
        case .null: return .null
        case .yes: return .bool(true)
        case .no: return .bool(false)
        case .integer, .fraction: return .number(DynamicValue.Number(checked: literal(entry)))
        case .text, .escapedText: return .string(string(entry))
        case .array: return .array(elements(of: position))
        case .object, .repeatingObject: return .object(members(of: position))
        }
    }

    private func elements(of position: Int) -> [DynamicValue] {
        var elements: [DynamicValue] = []
        elements.reserveCapacity(Int(entries[position].count))
        var element = position + 1
        for _ in 0..<entries[position].count {
            elements.append(value(at: element))
            element = end(of: element)
        }
        return elements
    }

    private func members(of position: Int) -> DynamicValue.Members {
        var members: [DynamicValue.Members.Member] = []
        members.reserveCapacity(Int(entries[position].count))
        var key = position + 1
        for _ in 0..<entries[position].count {
            members.append(DynamicValue.Members.Member(key: string(entries[key]), value: value(at: key + 1)))
            key = end(of: key + 1)
        }
        return DynamicValue.Members(entries[position].kind == .repeatingObject ? Self.lastOfEach(members) : members)
    }

    /// The last member with each key.
    private static func lastOfEach(_ members: [DynamicValue.Members.Member]) -> [DynamicValue.Members.Member] {
        var seen: Set<[UInt8]> = []
        return members.reversed().filter { seen.insert(Array($0.key.utf8)).inserted }.reversed()
    }
}
