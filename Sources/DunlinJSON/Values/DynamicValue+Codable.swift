internal import FoundationEssentials

extension DynamicValue: Encodable {
    /// Encodes with any encoder. `JSONEncoder` gets numbers as Int64, UInt64 or Double, whichever holds them; Dunlin's
    /// own output keeps every digit. Throws an `EncodingError` for values nested more than 512 levels deep.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .array, .set, .object: try Self.checkDepth(self, encoder)
        default: break
        }
        switch self {
        case .array(let elements): try Self.encode(elements, to: encoder)
        case .set(let elements): try Self.encode(elements.inOrder(), to: encoder)
        case .object(let members):
            var container = encoder.container(keyedBy: MemberKey.self)
            for member in members { try container.encode(member.value, forKey: MemberKey(stringValue: member.key)) }
        default:
            var container = encoder.singleValueContainer()
            try encodeLeaf(into: &container)
        }
    }

    private static func checkDepth(_ value: DynamicValue, _ encoder: any Encoder) throws {
        guard encoder.codingPath.count < depthLimit else {
            let reason = "the value is nested more than \(depthLimit) levels deep"
            throw EncodingError.invalidValue(value, .init(codingPath: [], debugDescription: reason))
        }
    }

    private static func encode(_ elements: [DynamicValue], to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for element in elements { try container.encode(element) }
    }

    private func encodeLeaf(into container: inout any SingleValueEncodingContainer) throws {
        switch self {
        case .bool(let flag): try container.encode(flag)
        case .string(let text): try container.encode(text)
        case .data(let bytes): try container.encode(Data(bytes))
        case .date(let date): try container.encode(date)
        case .number(let number):
            if let integer = number.integer(Int64.self) {
                try container.encode(integer)
            } else if let integer = number.integer(UInt64.self) {
                try container.encode(integer)
            } else {
                try container.encode(number.double)
            }
        case .null, .array, .set, .object: try container.encodeNil()
        }
    }

    struct MemberKey: CodingKey {
        var stringValue: String
        var intValue: Int?

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init(intValue: Int) {
            stringValue = String(intValue)
            self.intValue = intValue
        }
    }
}

extension DynamicValue: Decodable {
    /// Decodes from any decoder, as far as it distinguishes kinds of values. An object's members are sorted by key,
    /// since such decoders keep no order.
    public init(from decoder: any Decoder) throws {
        if let members = Self.attempt({ try decoder.container(keyedBy: MemberKey.self) }) {
            let pairs = try members.allKeys.map {
                Members.Member(key: $0.stringValue, value: try members.decode(DynamicValue.self, forKey: $0))
            }
            self = .object(Members(pairs.sortedByKey()))
        } else if var elements = Self.attempt({ try decoder.unkeyedContainer() }) {
            var array: [DynamicValue] = []
            while !elements.isAtEnd { array.append(try elements.decode(DynamicValue.self)) }
            self = .array(array)
        } else {
            self = try Self.leaf(try decoder.singleValueContainer())
        }
    }

    private static func leaf(_ container: any SingleValueDecodingContainer) throws -> DynamicValue {
        if container.decodeNil() { return .null }
        if let flag = attempt({ try container.decode(Bool.self) }) { return .bool(flag) }
        if let number = attempt({ try container.decode(Int64.self) }) { return .number(Number(number)) }
        if let number = attempt({ try container.decode(UInt64.self) }) { return .number(Number(number)) }
        if let number = attempt({ try container.decode(Double.self) }) { return .number(Number(number)) }
        if let text = attempt({ try container.decode(String.self) }) { return .string(text) }
        if let date = attempt({ try container.decode(Date.self) }) { return .date(date) }
        return .data(Bytes(try container.decode(Data.self)))
    }

    /// Decodes a value; nil if it is of another kind. Decoders report a number that does not fit by various errors, so
    /// any error counts. A value of no known kind fails the last attempt, which is not made here.
    private static func attempt<Value>(_ decode: () throws -> Value) -> Value? {
        do { return try decode() } catch { return nil }
    }
}
