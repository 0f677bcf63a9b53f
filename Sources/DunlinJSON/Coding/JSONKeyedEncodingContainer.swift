/// The members of an object as an `Encodable` type writes them.
struct JSONKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: JSONValueEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try encoder.encode(value, within: encoder.member(key), at: .key(key))
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoder.encoder(of: encoder.container(key, isArray: false), at: .key(key)).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.encoder(of: encoder.container(key, isArray: true), at: .key(key)).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder {
        encoder.encoder(of: encoder.member(JSONKey.base), at: .key(JSONKey.base))
    }

    mutating func superEncoder(forKey key: Key) -> any Encoder {
        encoder.encoder(of: encoder.member(key), at: .key(key))
    }

    // MARK: Scalars

    mutating func encodeNil(forKey key: Key) { put(literal: "null", key) }
    mutating func encode(_ value: Bool, forKey key: Key) { put(literal: value ? "true" : "false", key) }

    mutating func encode(_ value: String, forKey key: Key) {
        let node = encoder.member(key)
        encoder.draft.outline.put(value, at: node)
    }

    mutating func encode(_ value: Double, forKey key: Key) throws {
        try encoder.put(value, within: encoder.member(key), at: .key(key))
    }

    mutating func encode(_ value: Float, forKey key: Key) throws {
        try encoder.put(value, within: encoder.member(key), at: .key(key))
    }

    mutating func encode(_ value: Int, forKey key: Key) { put(value, key) }
    mutating func encode(_ value: Int8, forKey key: Key) { put(value, key) }
    mutating func encode(_ value: Int16, forKey key: Key) { put(value, key) }
    mutating func encode(_ value: Int32, forKey key: Key) { put(value, key) }
    mutating func encode(_ value: Int64, forKey key: Key) { put(value, key) }
    mutating func encode(_ value: Int128, forKey key: Key) { put(value, key) }
    mutating func encode(_ value: UInt, forKey key: Key) { put(value, key) }
    mutating func encode(_ value: UInt8, forKey key: Key) { put(value, key) }
    mutating func encode(_ value: UInt16, forKey key: Key) { put(value, key) }
    mutating func encode(_ value: UInt32, forKey key: Key) { put(value, key) }
    mutating func encode(_ value: UInt64, forKey key: Key) { put(value, key) }
    mutating func encode(_ value: UInt128, forKey key: Key) { put(value, key) }

    private func put(_ value: some FixedWidthInteger, _ key: Key) {
        let node = encoder.member(key)
        encoder.draft.outline.put(value, at: node)
    }

    private func put(literal: StaticString, _ key: Key) {
        let node = encoder.member(key)
        encoder.draft.outline.put(literal: literal, at: node)
    }
}
