/// The members of an object as a `Decodable` type reads them.
struct JSONKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: JSONValueDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }

    var allKeys: [Key] { decoder.memberNames.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { decoder.value(named: key.stringValue) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { decoder.document.isNull(try position(of: key)) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try decoder.decode(type, try position(of: key), at: .key(key))
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard let position = valuePosition(of: key) else { return nil }
        return try decoder.decode(type, position, at: .key(key))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try decoder.decoder(of: try position(of: key), at: .key(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder.decoder(of: try position(of: key), at: .key(key)).unkeyedContainer()
    }

    /// A decoder for `super`; if it is missing, one that finds null, so that a class without members of its own needs
    /// none.
    func superDecoder() -> any Decoder { superDecoder(JSONKey.base) }
    func superDecoder(forKey key: Key) -> any Decoder { superDecoder(key) }

    private func superDecoder(_ key: any CodingKey) -> any Decoder {
        decoder.decoder(of: decoder.value(named: key.stringValue) ?? JSONDocument.absent, at: .key(key))
    }

    private func position(of key: Key) throws -> Int {
        guard let position = decoder.value(named: key.stringValue) else {
            throw decoder.refusal(.missing, at: .key(key))
        }
        return position
    }

    /// The place of a key's value; nil if it is missing or null.
    private func valuePosition(of key: Key) -> Int? {
        guard let position = decoder.value(named: key.stringValue), !decoder.document.isNull(position) else {
            return nil
        }
        return position
    }
}

// MARK: - Scalars

extension JSONKeyedContainer {
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        do throws(JSONRefusal) { return try decoder.bool(key.stringValue) } catch { throw refusal(error, key) }
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        do throws(JSONRefusal) { return try decoder.string(key.stringValue) } catch { throw refusal(error, key) }
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        do throws(JSONRefusal) { return try decoder.double(key.stringValue) } catch { throw refusal(error, key) }
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        do throws(JSONRefusal) { return try decoder.float(key.stringValue) } catch { throw refusal(error, key) }
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try integer(key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try integer(key) }
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try integer(key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(key) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try integer(key) }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        guard let position = valuePosition(of: key) else { return nil }
        do throws(JSONRefusal) { return try decoder.document.bool(position) } catch { throw refusal(error, key) }
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        guard let position = valuePosition(of: key) else { return nil }
        do throws(JSONRefusal) { return try decoder.document.string(position) } catch { throw refusal(error, key) }
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        guard let position = valuePosition(of: key) else { return nil }
        do throws(JSONRefusal) { return try decoder.document.double(position) } catch { throw refusal(error, key) }
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        guard let position = valuePosition(of: key) else { return nil }
        do throws(JSONRefusal) { return try decoder.document.integer(type, position) } catch {
            throw refusal(error, key)
        }
    }

    private func integer<Integer: FixedWidthInteger>(_ key: Key) throws -> Integer {
        do throws(JSONRefusal) {
            return try decoder.integer(key.stringValue)
        } catch {
            throw refusal(error, key)
        }
    }

    private func refusal(_ refusal: JSONRefusal, _ key: Key) -> DecodingError {
        decoder.refusal(refusal, at: .key(key))
    }
}

/// Separate from the container, so that nothing here is generic over the key type.
extension JSONValueDecoder {
    fileprivate func bool(_ name: String) throws(JSONRefusal) -> Bool { try document.bool(try found(name)) }
    fileprivate func string(_ name: String) throws(JSONRefusal) -> String { try document.string(try found(name)) }
    fileprivate func double(_ name: String) throws(JSONRefusal) -> Double { try document.double(try found(name)) }
    fileprivate func float(_ name: String) throws(JSONRefusal) -> Float { try document.float(try found(name)) }

    fileprivate func integer<Integer: FixedWidthInteger>(_ name: String) throws(JSONRefusal) -> Integer {
        try document.integer(Integer.self, try found(name))
    }

    private func found(_ name: String) throws(JSONRefusal) -> Int {
        guard let position = value(named: name) else { throw .missing }
        return position
    }
}
