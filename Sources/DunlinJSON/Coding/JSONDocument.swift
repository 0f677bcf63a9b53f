internal import FoundationEssentials

/// A text of JSON, and the settings it is read with. It owns the bytes. All decoders and containers of the text share
/// it, and any that outlives decoding retains it.
final class JSONDocument {
    let index: JSONIndex
    let json: HTTP.JSON
    /// Whether members' names are used unchanged as coding keys.
    let keepsKeys: Bool
    private(set) lazy var positions = JSONPositions(Bytes(index.text, in: index.start..<index.text.count))

    init(_ index: JSONIndex, _ json: HTTP.JSON) {
        self.index = index
        self.json = json
        keepsKeys = if case .asWritten = json.keys { true } else { false }
    }

    /// The place of a missing `super` value.
    static let absent = -1

    /// Whether the name of a member suggests a secret value.
    func isNamedSecret(_ position: Int) -> Bool {
        guard position > 0, index.entries[position - 1].isText else { return false }
        // The longest escape of one byte is six bytes long.
        return json.secretFields.hides(
            index.beginning(of: index.entries[position - 1], 6 * (HTTP.SecretFields.longestName + 1)))
    }

    func entry(_ position: Int) -> JSONIndex.Entry {
        position < 0 ? JSONIndex.Entry(kind: .null, offset: 0, extent: 0) : index.entries[position]
    }
}

/// Why a value cannot be decoded; its decoder knows where.
enum JSONRefusal: Error {
    case missing
    case null(Any.Type)
    case mismatch(Any.Type)
    case corrupted(String)
    /// An element of an array of scalars, by its index.
    case element(Int)
    /// The array has no more elements.
    case atEnd(Any.Type)
}

// MARK: - Scalars

extension JSONDocument {
    func isNull(_ position: Int) -> Bool {
        entry(position).kind == .null
    }

    func bool(_ position: Int) throws(JSONRefusal) -> Bool {
        switch entry(position).kind {
        case .yes: return true
        case .no: return false
        // Also for null: Foundation reports null as missing for all types but Bool.
        default: throw .mismatch(Bool.self)
        }
    }

    func string(_ position: Int) throws(JSONRefusal) -> String {
        let entry = entry(position)
        guard entry.isText else { throw entry.kind == .null ? .null(String.self) : .mismatch(String.self) }
        return index.string(entry)
    }

    func integer<Integer: FixedWidthInteger>(_ type: Integer.Type, _ position: Int) throws(JSONRefusal) -> Integer {
        let entry = entry(position)
        guard entry.isNumber else { throw entry.kind == .null ? .null(type) : .mismatch(type) }
        guard let value: Integer = index.integer(entry) else { throw notRepresentable(entry, type) }
        return value
    }

    func double(_ position: Int) throws(JSONRefusal) -> Double {
        let entry = entry(position)
        guard entry.isNumber else { return try nonFinite(entry, Double.self) }
        guard let value = index.double(entry) else { throw notRepresentable(entry, Double.self) }
        return value
    }

    func float(_ position: Int) throws(JSONRefusal) -> Float {
        let entry = entry(position)
        guard entry.isNumber else { return try nonFinite(entry, Float.self) }
        guard let value = index.float(entry) else { throw notRepresentable(entry, Float.self) }
        return value
    }

    func decimal(_ position: Int) throws(JSONRefusal) -> Decimal {
        let entry = entry(position)
        guard entry.isNumber else { throw entry.kind == .null ? .null(Decimal.self) : .mismatch(Decimal.self) }
        guard let value = index.decimal(entry) else { throw notRepresentable(entry, Decimal.self) }
        return value
    }

    private func nonFinite<Value: BinaryFloatingPoint>(
        _ entry: JSONIndex.Entry, _ type: Value.Type
    ) throws(JSONRefusal) -> Value {
        if entry.kind == .null { throw .null(type) }
        guard entry.isText, case .text(let positive, let negative, let nan) = json.nonFinite else {
            throw .mismatch(type)
        }
        let text = index.string(entry)
        if text.hasSameBytes(as: positive) { return .infinity }
        if text.hasSameBytes(as: negative) { return -.infinity }
        if text.hasSameBytes(as: nan) { return .nan }
        throw .mismatch(type)
    }

    private func notRepresentable(_ entry: JSONIndex.Entry, _ type: Any.Type) -> JSONRefusal {
        .corrupted("the number does not fit in \(type)")
    }
}
