internal import DunlinTypes

extension CacheEntry {
    /// How many bytes of memory it takes up, at least: what it consists of, and what that refers to.
    package var held: Int {
        var held = MemoryLayout<CacheEntry>.stride + Self.held(key.text) + fields.held
        // Where the response came without an Age, both are one.
        if ageless.count < fields.count { held += ageless.held }
        held += selecting.held
        // The validator has one of its own.
        if let entityTag { held += 2 * Self.held(entityTag.description) }
        return held
    }

    /// What an allocation takes up beside its bytes: its header, and what rounding it up costs.
    fileprivate static let block = 48

    /// Short texts have no storage of their own.
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
