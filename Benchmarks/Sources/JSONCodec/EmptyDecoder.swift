/// Decodes nothing: every text, number and flag is one that it has at hand.
struct EmptyDecoder: Decoder {
    /// How many elements an array has.
    var elements = 3

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Keyed<Key>())
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { Unkeyed(elements: elements) }
    func singleValueContainer() -> any SingleValueDecodingContainer { Single() }

    static let text = "a text with more than 15 bytes"

    struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
        var codingPath: [any CodingKey] { [] }
        var allKeys: [Key] { [] }
        func contains(_ key: Key) -> Bool { true }
        func decodeNil(forKey key: Key) -> Bool { false }
        func decode(_ type: Int.Type, forKey key: Key) -> Int { 1 }
        func decode(_ type: Bool.Type, forKey key: Key) -> Bool { true }
        func decode(_ type: Double.Type, forKey key: Key) -> Double { 1 }
        func decode(_ type: String.Type, forKey key: Key) -> String {
            String(decoding: EmptyDecoder.text.utf8, as: UTF8.self)
        }
        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
            try Value(from: EmptyDecoder())
        }
        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key)
            -> KeyedDecodingContainer<Nested>
        { EmptyDecoder().container(keyedBy: type) }
        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
            EmptyDecoder().unkeyedContainer()
        }
        func superDecoder() -> any Decoder { EmptyDecoder() }
        func superDecoder(forKey key: Key) -> any Decoder { EmptyDecoder() }
    }

    struct Unkeyed: UnkeyedDecodingContainer {
        let elements: Int
        var currentIndex = 0

        init(elements: Int) { self.elements = elements }

        var codingPath: [any CodingKey] { [] }
        var count: Int? { elements }
        var isAtEnd: Bool { currentIndex >= elements }
        mutating func decodeNil() -> Bool { false }

        mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            currentIndex += 1
            return try Value(from: EmptyDecoder())
        }

        mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedDecodingContainer<Nested> {
            EmptyDecoder().container(keyedBy: type)
        }
        mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { EmptyDecoder().unkeyedContainer() }
        mutating func superDecoder() -> any Decoder { EmptyDecoder() }
    }

    struct Single: SingleValueDecodingContainer {
        var codingPath: [any CodingKey] { [] }
        func decodeNil() -> Bool { false }
        func decode(_ type: String.Type) -> String { String(decoding: EmptyDecoder.text.utf8, as: UTF8.self) }
        func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: EmptyDecoder()) }
    }
}
