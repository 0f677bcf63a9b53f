internal import FoundationEssentials

extension DynamicValue {
    /// Creates a value from an `Encodable` value. Dates, data, URLs and decimals are kept as such; a number keeps its
    /// exact value.
    public init(encoding value: some Encodable) throws {
        self = try DynamicEncoder.value(of: value, at: [])
    }
}

extension DynamicValue.Members {
    /// Creates members from a value that encodes as an object; any other throws a `NetworkError` with code
    /// `invalidParameters`.
    public init(encoding value: some Encodable) throws {
        guard case .object(let members) = try DynamicValue(encoding: value) else {
            throw NetworkError(
                .invalidParameters, "parameters must encode as an object, and \(type(of: value)) does not")
        }
        self = members
    }

    /// The members of an encoded value, for calls: `parameters: .encoding(draft)`.
    public static func encoding(_ value: some Encodable) throws -> Self {
        try Self(encoding: value)
    }
}

/// Encodes into a tree of places. A container may be filled long after it was created, so the tree is read only at the
/// end.
final class DynamicEncoder: Encoder {
    /// The place of one value.
    final class Slot {
        enum Content {
            case empty
            case value(DynamicValue)
            case elements([Slot])
            case members([(key: String, slot: Slot)])
        }

        var content = Content.empty

        /// The value. A place that stayed empty becomes an object without members.
        var value: DynamicValue {
            switch content {
            case .empty: .object(DynamicValue.Members())
            case .value(let value): value
            case .elements(let slots): .array(slots.map(\.value))
            case .members(let members):
                .object(
                    DynamicValue.Members(
                        members.map { DynamicValue.Members.Member(key: $0.key, value: $0.slot.value) }
                    ))
            }
        }

        func append() -> Slot {
            let slot = Slot()
            var slots: [Slot] = []
            if case .elements(let before) = content { slots = before }
            content = .empty
            slots.append(slot)
            content = .elements(slots)
            return slot
        }

        func slot(for key: String) -> Slot {
            let slot = Slot()
            var members: [(key: String, slot: Slot)] = []
            if case .members(let before) = content { members = before }
            content = .empty
            members.append((key, slot))
            content = .members(members)
            return slot
        }

        var count: Int { if case .elements(let slots) = content { slots.count } else { 0 } }

        /// Sorts the members of values without order, so that equal values give the same bytes in every process.
        func sort() {
            switch content {
            case .members(let members):
                content = .members(members.sorted { $0.key.precedesInUTF16($1.key) })
            case .elements(let slots):
                content = .value(.array(slots.map(\.value).inOrder()))
            case .empty, .value: break
            }
        }
    }

    let slot: Slot
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(_ slot: Slot, _ path: [any CodingKey]) {
        self.slot = slot
        codingPath = path
    }

    static func value(of value: some Encodable, at path: [any CodingKey]) throws -> DynamicValue {
        let slot = Slot()
        try DynamicEncoder(slot, path).write(value)
        return slot.value
    }

    func write(_ value: some Encodable) throws {
        guard codingPath.count < DynamicValue.depthLimit else {
            throw NetworkError(
                .invalidParameters, "the value is nested more than \(DynamicValue.depthLimit) levels deep")
        }
        if let leaf = Self.leaf(value) {
            slot.content = .value(leaf)
        } else {
            try value.encode(to: self)
            if value is any WithoutOrder { slot.sort() }
        }
    }

    /// The value of a type that would encode less than it is; nil for other types.
    private static func leaf(_ value: some Encodable) -> DynamicValue? {
        switch value {
        case let value as DynamicValue: value
        case let value as Date: .date(value)
        case let value as Data: .data(Bytes(value))
        case let value as Decimal: .number(DynamicValue.Number(value))
        case let value as URL: .string(value.absoluteString)
        default: nil
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .empty = slot.content { slot.content = .members([]) }
        return KeyedEncodingContainer(Keyed<Key>(slot: slot, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .empty = slot.content { slot.content = .elements([]) }
        return Unkeyed(slot: slot, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        Single(slot: slot, codingPath: codingPath)
    }
}

/// Marks types that are encoded in a different order in every process.
private protocol WithoutOrder {}
extension Dictionary: WithoutOrder {}
extension Set: WithoutOrder {}
