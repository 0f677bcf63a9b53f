internal import DunlinTypes

extension CacheEntry {
    /// The memory that the entry uses at least, in bytes, with all that it refers to.
    package var held: Int {
        var held = MemoryLayout<CacheEntry>.stride + MemoryLayout<Contents>.stride + Self.block
        held += Self.held(key.text) + fields.held
        // If the response came without an Age, both are one.
        if ageless.count < fields.count { held += ageless.held }
        held += selecting.held
        // The validator has its own copy.
        if let entityTag { held += 2 * (entityTag.bytes.count + Self.block) }
        return held
    }

    /// The memory of an allocation beside its bytes: its header, and rounding.
    fileprivate static let block = 48

    /// Returns the memory of a text; short ones have no storage of their own.
    fileprivate static func held(_ text: String) -> Int { text.utf8.count > 15 ? text.utf8.count + block : 0 }
}

extension Fields {
    fileprivate var held: Int {
        bytes.capacity + entries.capacity * MemoryLayout<Entry>.stride + 2 * CacheEntry.block
    }
}

extension SelectingFields {
    fileprivate var held: Int {
        members.reduce(CacheEntry.block) { $0 + $1.held }
    }
}

extension SelectingFields.Member {
    fileprivate var held: Int {
        let values = [value, written].reduce(0) { $0 + ($1.map { $0.storage.count + CacheEntry.block } ?? 0) }
        return MemoryLayout<Self>.stride + CacheEntry.held(name) + values
    }
}
