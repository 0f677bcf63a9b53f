internal import FoundationEssentials

/// One value of a text, as a `Decodable` type reads it.
///
/// It is the decoder, the single-value container, and the step on the path to values within it. It also holds an
/// object's cursor, so that a value costs one allocation. Its containers retain it.
final class JSONValueDecoder: Decoder, JSONNode {
    let document: JSONDocument
    let position: Int
    let parent: JSONValueDecoder?
    let step: JSONStep
    /// Whether names are used unchanged as coding keys, as a dictionary's are whatever the settings.
    private let keepsKeys: Bool

    /// Where the object's next key is probably found: types read keys in the order in which servers write them.
    private var cursor: Int
    private let end: Int
    /// The members' values by key, once searching one by one has cost too much.
    private var names: [JSONName: Int]?
    /// Whether this value, or one around it, looks secret.
    private lazy var isSecret: Bool = parent.map { $0.isSecret || $0.isSecretMember(step, position) } ?? false

    private static let searchLimit = 16

    init(_ document: JSONDocument, _ position: Int, in parent: JSONValueDecoder?, at step: JSONStep, keepsKeys: Bool) {
        self.document = document
        self.position = position
        self.parent = parent
        self.step = step
        self.keepsKeys = keepsKeys
        cursor = position + 1
        end = position < 0 ? 0 : document.index.end(of: position)
    }

    var userInfo: [CodingUserInfoKey: Any] { document.json.userInfo }

    var codingPath: [any CodingKey] { path }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try KeyedDecodingContainer(keyedContainer(type))
    }

    func keyedContainer<Key: CodingKey>(_ type: Key.Type) throws -> JSONKeyedContainer<Key> {
        let entry = document.entry(position)
        guard entry.isObject else {
            throw refusal(entry.kind == .null ? .null([String: Any].self) : .mismatch([String: Any].self))
        }
        // With duplicate names, the member that counts is not the one found first.
        if names == nil, entry.kind == .repeatingObject || !keepsKeys {
            let names = makeNames()
            // The scanner cannot detect names that become equal only by conversion.
            if document.json.repeatedKeys == .refused, names.count < Int(entry.count) {
                throw refusal(.corrupted("two members have the same name"))
            }
            self.names = names
        }
        return JSONKeyedContainer(decoder: self)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let entry = document.entry(position)
        guard entry.kind == .array else {
            throw refusal(entry.kind == .null ? .null([Any].self) : .mismatch([Any].self))
        }
        return JSONUnkeyedContainer(decoder: self, count: Int(entry.count))
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

// MARK: - Members

extension JSONValueDecoder {
    /// The place of the value of the member with this name.
    func value(named name: String) -> Int? {
        if let names { return names[JSONName(name)] }
        var name = name
        return name.withUTF8 { find($0) }
    }

    private func find(_ name: UnsafeBufferPointer<UInt8>) -> Int? {
        let first = position + 1
        if first == end { return nil }
        let start = cursor < end ? cursor : first
        switch document.index.key(name, from: start, first, end, limit: Self.searchLimit) {
        case .found(let key):
            cursor = document.index.end(of: key + 1)
            return key + 1
        case .missing: return nil
        case .tooMany:
            names = makeNames()
            return names?[JSONName(String(decoding: name, as: UTF8.self))]
        }
    }

    /// Makes the table of members. With duplicate names, the last member counts.
    private func makeNames() -> [JSONName: Int] {
        var names: [JSONName: Int] = [:]
        names.reserveCapacity(Int(document.entry(position).count))
        forEachMember { names[JSONName($0)] = $1 }
        return names
    }

    /// Calls `body` with each member's coding key name and the place of its value.
    private func forEachMember(_ body: (String, Int) -> Void) {
        var key = position + 1
        let converter = keepsKeys ? nil : JSONKeyConverter(document.json.keys)
        let path = converter?.needsPath == true ? codingPath : []
        while key < end {
            let name = document.index.string(document.index.entries[key])
            body(converter?.decoded(name, at: path) ?? name, key + 1)
            key = document.index.end(of: key + 1)
        }
    }

    /// The names of all members, each once, in the order of the text.
    var memberNames: [String] {
        var found: [String] = []
        found.reserveCapacity(Int(document.entry(position).count))
        let names = names
        forEachMember { name, value in
            // With duplicate names, the last member counts.
            if names == nil || names?[JSONName(name)] == value { found.append(name) }
        }
        return found
    }
}

// MARK: - Values

extension JSONValueDecoder {
    func decoder(of position: Int, at step: JSONStep, keepsKeys: Bool? = nil) -> JSONValueDecoder {
        JSONValueDecoder(document, position, in: self, at: step, keepsKeys: keepsKeys ?? document.keepsKeys)
    }

    /// Decodes a value of any type at `position`; `step` is evaluated only if needed.
    func decode<Value: Decodable>(_ type: Value.Type, _ position: Int, at step: @autoclosure () -> JSONStep) throws
        -> Value
    {
        if let leaf = JSONLeaf(type), !document.isCustom(leaf) {
            do throws(JSONRefusal) {
                return try document.value(leaf, position)
            } catch {
                // Reading the array element by element finds the faulty one and reports it.
                guard case .element = error else { throw refusal(error, at: step(), position) }
            }
        }
        // Null is never passed to the user's functions.
        if document.isNull(position), type == Date.self || type == Data.self {
            throw refusal(.null(type), at: step(), position)
        }
        let decoder = decoder(of: position, at: step(), keepsKeys: document.keepsKeys || type is any StringKeyed.Type)
        if case .custom(let decode, _) = document.json.dates, type == Date.self {
            return document.same(try decode(decoder))
        }
        if case .custom(let decode, _) = document.json.data, type == Data.self {
            return document.same(try decode(decoder))
        }
        return try Value(from: decoder)
    }

    /// The error for a refusal of this value.
    func refusal(_ refusal: JSONRefusal) -> DecodingError {
        self.refusal(refusal, at: .none, position)
    }

    /// The error for a refusal of a value within this one.
    func refusal(_ refusal: JSONRefusal, at step: JSONStep, _ position: Int? = nil) -> DecodingError {
        if case .missing = refusal {
            // The path leads to the object itself.
            return refusal.error(document, self.position, codingPath, step.key, isSecret: isSecret)
        }
        let path = codingPath + [step.key].compactMap(\.self)
        let position = position ?? step.key.flatMap { value(named: $0.stringValue) } ?? JSONDocument.absent
        return refusal.error(document, position, path, isSecret: isSecret || isSecretMember(step, position))
    }

    /// Whether a value within this one looks secret, by its key or its name in the document.
    private func isSecretMember(_ step: JSONStep, _ position: Int) -> Bool {
        guard case .key(let key) = step else { return false }
        return document.json.secretFields.hides(key.stringValue) || document.isNamedSecret(position)
    }
}

// MARK: - Single values

extension JSONValueDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { document.isNull(position) }

    func decode(_ type: Bool.Type) throws -> Bool {
        do throws(JSONRefusal) { return try document.bool(position) } catch { throw refusal(error) }
    }

    func decode(_ type: String.Type) throws -> String {
        do throws(JSONRefusal) { return try document.string(position) } catch { throw refusal(error) }
    }

    func decode(_ type: Double.Type) throws -> Double {
        do throws(JSONRefusal) { return try document.double(position) } catch { throw refusal(error) }
    }

    func decode(_ type: Float.Type) throws -> Float {
        do throws(JSONRefusal) { return try document.float(position) } catch { throw refusal(error) }
    }

    func decode(_ type: Int.Type) throws -> Int { try integer() }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    func decode(_ type: Int128.Type) throws -> Int128 { try integer() }
    func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try integer() }

    /// Decodes the same value as another type, at the same path.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try decode(type, position, at: .none)
    }

    private func integer<Integer: FixedWidthInteger>() throws -> Integer {
        do throws(JSONRefusal) { return try document.integer(Integer.self, position) } catch { throw refusal(error) }
    }
}
