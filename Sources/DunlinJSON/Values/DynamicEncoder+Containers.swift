extension DynamicEncoder {
    struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let slot: Slot
        let codingPath: [any CodingKey]

        mutating func encodeNil(forKey key: Key) { slot.slot(for: key.stringValue).content = .value(.null) }

        mutating func encode(_ value: some Encodable, forKey key: Key) throws {
            try encoder(key).write(value)
        }

        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) -> KeyedEncodingContainer<Nested> {
            encoder(key).container(keyedBy: type)
        }

        mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            encoder(key).unkeyedContainer()
        }

        mutating func superEncoder() -> any Encoder { encoder(DynamicValue.MemberKey(stringValue: "super")) }
        mutating func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }

        private func encoder(_ key: any CodingKey) -> DynamicEncoder {
            DynamicEncoder(slot.slot(for: key.stringValue), codingPath + [key])
        }
    }

    struct Unkeyed: UnkeyedEncodingContainer {
        let slot: Slot
        let codingPath: [any CodingKey]

        var count: Int { slot.count }

        mutating func encodeNil() { slot.append().content = .value(.null) }
        mutating func encode(_ value: some Encodable) throws { try encoder().write(value) }

        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type
        ) -> KeyedEncodingContainer<Nested> {
            encoder().container(keyedBy: type)
        }

        mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }
        mutating func superEncoder() -> any Encoder { encoder() }

        private func encoder() -> DynamicEncoder {
            let path = codingPath + [DynamicValue.MemberKey(intValue: slot.count)]
            return DynamicEncoder(slot.append(), path)
        }
    }

    struct Single: SingleValueEncodingContainer {
        let slot: Slot
        let codingPath: [any CodingKey]

        private func put(_ value: DynamicValue) { slot.content = .value(value) }
        private func put(_ number: some BinaryInteger) { put(.number(DynamicValue.Number(number))) }

        mutating func encodeNil() { put(.null) }
        mutating func encode(_ value: Bool) { put(.bool(value)) }
        mutating func encode(_ value: String) { put(.string(value)) }
        mutating func encode(_ value: Double) { put(.number(DynamicValue.Number(value))) }
        mutating func encode(_ value: Float) { put(.number(DynamicValue.Number(value))) }
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

        mutating func encode(_ value: some Encodable) throws {
            try DynamicEncoder(slot, codingPath).write(value)
        }
    }
}
