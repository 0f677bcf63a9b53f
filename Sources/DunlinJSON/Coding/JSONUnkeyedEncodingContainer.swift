/// The elements of an array as an `Encodable` type writes them.
struct JSONUnkeyedEncodingContainer: UnkeyedEncodingContainer {
    let encoder: JSONValueEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.draft.outline.count(of: encoder.node) }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        try encoder.encode(value, within: element(), at: .element(count - 1))
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        encoder.encoder(of: element(), at: .element(count - 1)).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        encoder.encoder(of: element(), at: .element(count - 1)).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder {
        encoder.encoder(of: element(), at: .element(count - 1))
    }

    private func element() -> Int {
        encoder.draft.outline.append(to: encoder.node)
    }

    // MARK: Scalars

    mutating func encodeNil() { put(literal: "null") }
    mutating func encode(_ value: Bool) { put(literal: value ? "true" : "false") }

    mutating func encode(_ value: String) {
        let node = element()
        encoder.draft.outline.put(value, at: node)
    }

    mutating func encode(_ value: Double) throws { try encoder.put(value, within: element(), at: .element(count - 1)) }
    mutating func encode(_ value: Float) throws { try encoder.put(value, within: element(), at: .element(count - 1)) }
    mutating func encode(_ value: Int) { put(value) }
    mutating func encode(_ value: Int8) { put(value) }
    mutating func encode(_ value: Int16) { put(value) }
    mutating func encode(_ value: Int32) { put(value) }
    mutating func encode(_ value: Int64) { put(value) }
    mutating func encode(_ value: Int128) { put(value) }
    mutating func encode(_ value: UInt) { put(value) }
    mutating func encode(_ value: UInt8) { put(value) }
    mutating func encode(_ value: UInt16) { put(value) }
    mutating func encode(_ value: UInt32) { put(value) }
    mutating func encode(_ value: UInt64) { put(value) }
    mutating func encode(_ value: UInt128) { put(value) }

    private func put(_ value: some FixedWidthInteger) {
        let node = element()
        encoder.draft.outline.put(value, at: node)
    }

    private func put(literal: StaticString) {
        let node = element()
        encoder.draft.outline.put(literal: literal, at: node)
    }
}
