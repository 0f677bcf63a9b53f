internal import FoundationEssentials

extension DynamicValue {
    /// The value as its `Encodable` conformance tells it. Dates, data, URLs and decimals are taken for what they are;
    /// a number keeps its exact value.
    public init(encoding value: some Encodable) throws {
        self = try DynamicEncoder.value(of: value, at: [])
    }
}

extension DynamicValue.Members {
    /// The same, of what is told as an object; anything else throws `NetworkError` with code `invalidParameters`.
    public init(encoding value: some Encodable) throws {
        guard case .object(let members) = try DynamicValue(encoding: value) else {
            throw NetworkError(.invalidParameters, "\(type(of: value)) is not encoded as an object")
        }
        self = members
    }

    /// For a call: `parameters: .encoding(draft)`.
    public static func encoding(_ value: some Encodable) throws -> Self {
        try Self(encoding: value)
    }
}

/// Writes into a tree of places. A container given out early may be filled late, so the tree is read at the end only.
final class DynamicEncoder: Encoder {
    /// Where one value goes.
    final class Place {
        enum Content {
            case empty
            case value(DynamicValue)
            case elements([Place])
            case members([(key: String, place: Place)])
        }

        var content = Content.empty

        /// What is left empty was encoded without any content, which an object of no members says best.
        var value: DynamicValue {
            switch content {
            case .empty: .object(DynamicValue.Members())
            case .value(let value): value
            case .elements(let places): .array(places.map(\.value))
            case .members(let members):
                .object(
                    DynamicValue.Members(
                        members.map { DynamicValue.Members.Member(key: $0.key, value: $0.place.value) }
                    ))
            }
        }

        func append() -> Place {
            let place = Place()
            var places: [Place] = []
            if case .elements(let before) = content { places = before }
            content = .empty
            places.append(place)
            content = .elements(places)
            return place
        }

        func place(for key: String) -> Place {
            let place = Place()
            var members: [(key: String, place: Place)] = []
            if case .members(let before) = content { members = before }
            content = .empty
            members.append((key, place))
            content = .members(members)
            return place
        }

        var count: Int { if case .elements(let places) = content { places.count } else { 0 } }

        /// The same value gives the same bytes, in every process.
        func sort() {
            switch content {
            case .members(let members):
                content = .members(members.sorted { $0.key.precedesInUTF16($1.key) })
            case .elements(let places):
                content = .value(.array(places.map(\.value).inOrder()))
            case .empty, .value: break
            }
        }
    }

    let place: Place
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(_ place: Place, _ path: [any CodingKey]) {
        self.place = place
        codingPath = path
    }

    static func value(of value: some Encodable, at path: [any CodingKey]) throws -> DynamicValue {
        let place = Place()
        try DynamicEncoder(place, path).write(value)
        return place.value
    }

    /// What is said deeper down than this is a cycle, or an attack.
    static let depth = 512

    func write(_ value: some Encodable) throws {
        guard codingPath.count < Self.depth else {
            throw NetworkError(.invalidParameters, "the value is nested more than \(Self.depth) levels deep")
        }
        if let leaf = Self.leaf(value) {
            place.content = .value(leaf)
        } else {
            try value.encode(to: self)
            if value is any WithoutOrder { place.sort() }
        }
    }

    /// What would tell less of itself than it is.
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
        if case .empty = place.content { place.content = .members([]) }
        return KeyedEncodingContainer(Keyed<Key>(place: place, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .empty = place.content { place.content = .elements([]) }
        return Unkeyed(place: place, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        Single(place: place, codingPath: codingPath)
    }
}

/// Encoded in another order in every process.
private protocol WithoutOrder {}
extension Dictionary: WithoutOrder {}
extension Set: WithoutOrder {}
