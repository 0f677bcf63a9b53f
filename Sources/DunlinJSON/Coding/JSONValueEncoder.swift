internal import FoundationEssentials

/// What all encoders of a value share.
final class JSONDraft {
    var outline: JSONOutline
    let json: HTTP.JSON
    let keepsKeys: Bool
    /// Whether dates and the like are kept as they are, for a dynamic value, instead of being written.
    let keepsTypes: Bool

    init(_ json: HTTP.JSON, keepsTypes: Bool = false) {
        self.json = json
        self.keepsTypes = keepsTypes
        outline = JSONOutline(json.format, depth: json.limits.depth)
        keepsKeys = if case .asWritten = json.keys { true } else { false }
    }

    func isCustom(_ leaf: JSONLeaf) -> Bool { leaf.isCustom(json) }

    static func tooDeep(_ value: Any, _ depth: Int) -> EncodingError {
        .invalidValue(
            value, .init(codingPath: [], debugDescription: "the value is nested more than \(depth) levels deep"))
    }
}

/// The place of one value as an `Encodable` type sees it: the encoder, the single-value container, and the step on the
/// path to values within it.
final class JSONValueEncoder: Encoder, JSONNode {
    let draft: JSONDraft
    let node: Int
    let parent: JSONValueEncoder?
    let step: JSONStep
    /// How deep encoders are nested, counting types that only wrap each other.
    private let depth: Int
    /// Whether the value is a dictionary, whose names are data and unique.
    private let isDictionary: Bool

    init(
        _ draft: JSONDraft, _ node: Int, in parent: JSONValueEncoder?, at step: JSONStep,
        isDictionary: Bool = false
    ) {
        self.draft = draft
        self.node = node
        // Nesting too deep is refused at the end; a path to it would be as long as it is deep.
        self.parent = draft.outline.problem == nil ? parent : nil
        self.step = step
        self.isDictionary = isDictionary
        depth = (parent?.depth ?? 0) + 1
    }

    var userInfo: [CodingUserInfoKey: Any] { draft.json.userInfo }

    var codingPath: [any CodingKey] { path }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        draft.outline.makeObject(node, hasUniqueNames: isDictionary)
        return KeyedEncodingContainer(JSONKeyedEncodingContainer(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        draft.outline.makeArray(node)
        return JSONUnkeyedEncodingContainer(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

// MARK: - Members and elements

extension JSONValueEncoder {
    /// Adds a member. Returns its place.
    func member(_ key: some CodingKey) -> Int {
        draft.outline.append(name(of: key), to: node)
    }

    /// The place of a member that is an array or object: the existing one, or a new one.
    func container(_ key: some CodingKey, isArray: Bool) -> Int {
        let name = name(of: key)
        return draft.outline.container(name, in: node, isArray: isArray) ?? draft.outline.append(name, to: node)
    }

    private func name(of key: some CodingKey) -> String {
        if draft.keepsKeys || isDictionary { return key.stringValue }
        return JSONKeyConverter(draft.json.keys).encoded(key, at: codingPath)
    }

    func encoder(of node: Int, at step: JSONStep, isDictionary: Bool = false) -> JSONValueEncoder {
        JSONValueEncoder(draft, node, in: self, at: step, isDictionary: isDictionary)
    }

    /// Encodes a value of any type at a place of its own, `child`. If that fails, nothing remains.
    func encode<Value: Encodable>(
        _ value: Value, within child: Int, at step: @autoclosure () -> JSONStep
    ) throws {
        do {
            try encode(value, child, at: step())
        } catch {
            draft.outline.remove(child, from: node)
            throw error
        }
    }

    /// Encodes a value of any type at `node`; an empty object if it encodes nothing.
    func encode<Value: Encodable>(_ value: Value, _ node: Int, at step: @autoclosure () -> JSONStep) throws {
        try encodeIfAny(value, node, at: step())
        draft.outline.fill(node)
    }

    /// Encodes a value at `node`, which stays empty if the value encodes nothing.
    func encodeIfAny<Value: Encodable>(_ value: Value, _ node: Int, at step: @autoclosure () -> JSONStep) throws {
        if let leaf = JSONLeaf(Value.self), !draft.isCustom(leaf) { return try put(value, as: leaf, node, at: step()) }
        // Nearly every second level may be a value that only wraps another.
        if draft.outline.problem == .tooDeep || (depth - 1) / 2 >= draft.json.limits.depth {
            throw JSONDraft.tooDeep(value, draft.json.limits.depth)
        }
        let encoder = encoder(of: node, at: step(), isDictionary: Value.self is any StringKeyed.Type)
        if case .custom(_, let encode) = draft.json.dates, let date = value as? Date {
            try encode(date, encoder)
            draft.outline.fill(node)
        } else if case .custom(_, let encode) = draft.json.data, let data = value as? Data {
            try encode(data, encoder)
            draft.outline.fill(node)
        } else {
            try value.encode(to: encoder)
            if draft.keepsTypes, let type = Value.self as? any WithoutOrder.Type {
                draft.outline.note(stride: type.stride, of: node)
            }
        }
    }

    /// Writes a number at a place of its own.
    func put(
        _ value: some BinaryFloatingPoint & CustomStringConvertible & Encodable, within child: Int,
        at step: @autoclosure () -> JSONStep
    ) throws {
        do {
            try put(value, child, at: step())
        } catch {
            draft.outline.remove(child, from: node)
            throw error
        }
    }

    func put(
        _ value: some BinaryFloatingPoint & CustomStringConvertible & Encodable, _ node: Int,
        at step: @autoclosure () -> JSONStep
    ) throws {
        if value.isFinite || draft.keepsTypes { return draft.outline.put(value, at: node) }
        guard case .text(let positive, let negative, let nan) = draft.json.nonFinite else {
            throw invalid(value, "JSON cannot represent \(value)", at: step())
        }
        draft.outline.put(value.isNaN ? nan : value > 0 ? positive : negative, at: node)
    }

    func invalid(_ value: Any, _ problem: String, at step: JSONStep) -> EncodingError {
        let path = codingPath + [step.key].compactMap(\.self)
        return .invalidValue(value, .init(codingPath: path, debugDescription: problem))
    }
}

// MARK: - Single values

extension JSONValueEncoder: SingleValueEncodingContainer {
    func encodeNil() { draft.outline.put(literal: "null", at: node) }
    func encode(_ value: Bool) { draft.outline.put(literal: value ? "true" : "false", at: node) }
    func encode(_ value: String) { draft.outline.put(value, at: node) }
    func encode(_ value: Double) throws { try orNothing { try put(value, node, at: .none) } }
    func encode(_ value: Float) throws { try orNothing { try put(value, node, at: .none) } }
    func encode(_ value: Int) { draft.outline.put(value, at: node) }
    func encode(_ value: Int8) { draft.outline.put(value, at: node) }
    func encode(_ value: Int16) { draft.outline.put(value, at: node) }
    func encode(_ value: Int32) { draft.outline.put(value, at: node) }
    func encode(_ value: Int64) { draft.outline.put(value, at: node) }
    func encode(_ value: Int128) { draft.outline.put(value, at: node) }
    func encode(_ value: UInt) { draft.outline.put(value, at: node) }
    func encode(_ value: UInt8) { draft.outline.put(value, at: node) }
    func encode(_ value: UInt16) { draft.outline.put(value, at: node) }
    func encode(_ value: UInt32) { draft.outline.put(value, at: node) }
    func encode(_ value: UInt64) { draft.outline.put(value, at: node) }
    func encode(_ value: UInt128) { draft.outline.put(value, at: node) }

    func encode<Value: Encodable>(_ value: Value) throws {
        try orNothing { try encode(value, node, at: .none) }
    }

    /// Undoes what `encode` wrote if it fails: another value may be tried in its place.
    private func orNothing(_ encode: () throws -> Void) throws {
        let wasEmpty = draft.outline.isEmpty(node)
        do {
            try encode()
        } catch {
            if wasEmpty { draft.outline.empty(node) }
            throw error
        }
    }
}
