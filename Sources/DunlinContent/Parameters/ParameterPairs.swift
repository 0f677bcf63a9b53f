internal import FoundationEssentials

/// Parameters as pairs of a key and a simple value, for queries, forms and multipart forms.
///
/// The key of an object's member is `outer[inner]`, that of an array's element `key[]`, and a set repeats its key. An
/// empty container has no pair. Nothing is escaped here, and values are not yet text.
struct ParameterPairs {
    struct Pair: Equatable {
        let key: String
        let value: DynamicValue
    }

    private(set) var pairs: [Pair] = []
    private let style: HTTP.ParameterStyle

    init(_ members: DynamicValue.Members, _ style: HTTP.ParameterStyle) throws {
        self.style = style
        for member in ordered(members) { try add(member.value, member.key, 1) }
    }

    private mutating func add(_ value: DynamicValue, _ key: String, _ depth: Int) throws {
        guard depth <= DynamicValue.depthLimit else {
            throw NetworkError(
                .invalidParameters, "the parameters are nested more than \(DynamicValue.depthLimit) levels deep")
        }
        switch value {
        case .object(let members):
            for member in ordered(members) { try add(member.value, self.key(member.key, in: key), depth + 1) }
        case .array(let elements):
            for (index, element) in elements.enumerated() { try add(element, self.key(index, in: key), depth + 1) }
        case .set(let elements):
            for element in elements.inOrder() { try add(element, key, depth + 1) }
        case .null where style.nulls == .dropped: break
        default: pairs.append(Pair(key: key, value: value))
        }
    }

    private func ordered(_ members: DynamicValue.Members) -> [DynamicValue.Members.Member] {
        style.order == .sorted ? members.members.sortedByKey() : members.members
    }

    private func key(_ member: String, in key: String) -> String {
        switch style.objects {
        case .brackets: "\(key)[\(member)]"
        case .dots: "\(key).\(member)"
        }
    }

    private func key(_ index: Int, in key: String) -> String {
        switch style.arrays {
        case .brackets: key + "[]"
        case .repeatedKey: key
        case .indexed: "\(key)[\(index)]"
        }
    }
}

extension HTTP.ParameterStyle {
    /// The text of a pair's value; nil for a key without a value. Throws for a NaN or infinite number.
    func text(of pair: ParameterPairs.Pair) throws -> String? {
        switch pair.value {
        case .null: return nulls == .bareKey ? nil : ""
        case .bool(let flag):
            switch bools {
            case .digits: return flag ? "1" : "0"
            case .words: return flag ? "true" : "false"
            }
        case .number(let number):
            guard number.isFinite else {
                throw NetworkError(
                    .invalidParameters,
                    "the parameter \(String(reflecting: pair.key)) is \(number), which is not a finite number"
                )
            }
            return number.literal
        case .string(let text): return text
        case .data(let bytes): return Base64.encode(bytes)
        case .date(let date): return try dates.value(of: date).text
        case .array, .set, .object: return ""
        }
    }

    /// The pairs as in a URL or form: everything but letters, digits and `-._~/?` is escaped, spaces too.
    func encoded(_ parameters: DynamicValue.Members) throws -> String {
        var bytes: [UInt8] = []
        for pair in try ParameterPairs(parameters, self).pairs {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            bytes.appendEscaped(pair.key, keeping: keepsBrackets ? .bracketedKey : .query)
            guard let text = try text(of: pair) else { continue }
            bytes.append(UInt8(ascii: "="))
            bytes.appendEscaped(text, keeping: .query)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
