/// The elements of an array, in order.
struct JSONUnkeyedContainer: UnkeyedDecodingContainer {
    private let decoder: JSONValueDecoder
    private let elements: Int
    private(set) var currentIndex = 0
    /// The place of the next element.
    private var position: Int

    init(decoder: JSONValueDecoder, count: Int) {
        self.decoder = decoder
        elements = count
        position = decoder.position + 1
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { elements }
    var isAtEnd: Bool { currentIndex >= elements }

    /// Skips the element only if it is null.
    mutating func decodeNil() throws -> Bool {
        let position = try element(Never.self)
        guard decoder.document.isNull(position) else { return false }
        advance()
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try decoder.decode(type, try element(type), at: .element(currentIndex))
        advance()
        return value
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        let position = try element(KeyedDecodingContainer<Nested>.self)
        let container = try decoder.decoder(of: position, at: .element(currentIndex)).container(keyedBy: type)
        advance()
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let position = try element((any UnkeyedDecodingContainer).self)
        let container = try decoder.decoder(of: position, at: .element(currentIndex)).unkeyedContainer()
        advance()
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let position = try element((any Decoder).self)
        defer { advance() }
        return decoder.decoder(of: position, at: .element(currentIndex))
    }

    private func element(_ type: Any.Type) throws -> Int {
        if isAtEnd { throw decoder.refusal(.atEnd(type), at: .element(currentIndex), decoder.position) }
        return position
    }

    private mutating func advance() {
        position = decoder.document.index.end(of: position)
        currentIndex += 1
    }
}

// MARK: - Scalars

extension JSONUnkeyedContainer {
    mutating func decode(_ type: Bool.Type) throws -> Bool {
        try scalar { document, position throws(JSONRefusal) in try document.bool(position) }
    }

    mutating func decode(_ type: String.Type) throws -> String {
        try scalar { document, position throws(JSONRefusal) in try document.string(position) }
    }

    mutating func decode(_ type: Double.Type) throws -> Double {
        try scalar { document, position throws(JSONRefusal) in try document.double(position) }
    }

    mutating func decode(_ type: Float.Type) throws -> Float {
        try scalar { document, position throws(JSONRefusal) in try document.float(position) }
    }

    mutating func decode(_ type: Int.Type) throws -> Int { try integer() }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try integer() }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try integer() }

    private mutating func integer<Integer: FixedWidthInteger>() throws -> Integer {
        try scalar { document, position throws(JSONRefusal) in try document.integer(Integer.self, position) }
    }

    private mutating func scalar<Value>(
        _ read: (JSONDocument, Int) throws(JSONRefusal) -> Value
    ) throws -> Value {
        let position = try element(Value.self)
        do throws(JSONRefusal) {
            let value = try read(decoder.document, position)
            advance()
            return value
        } catch {
            throw decoder.refusal(error, at: .element(currentIndex), position)
        }
    }
}
