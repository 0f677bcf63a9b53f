package import DunlinSemantics

/// Where a cache's responses are stored. It knows no rules: what is stored, served and removed is decided by
/// `CacheMachine`.
///
/// Nothing here fails a request. What cannot be read is not there, what cannot be written is not stored, and the reason
/// is told once, as a warning.
package protocol ResponseStore: AnyObject, Sendable {
    /// What is stored under a key, if that can be said without a wait; nil if `responses(for:)` has to be asked.
    func responsesAtHand(for key: CacheKey) -> [StoredResponse]?

    /// What is stored under a key.
    func responses(for key: CacheKey) async -> [StoredResponse]

    /// Begins to store the body of a response that may have `length` bytes, behind the bytes of `part`, if that is
    /// given. Nil if there is no room for so many.
    func writer(for key: CacheKey, length: Int?, behind part: StoredResponse?) async -> (any ResponseWriter)?

    /// Puts another entry in front of the same body. Has no effect if the response is not stored any more.
    func update(_ response: StoredResponse, to entry: CacheEntry) async

    func remove(_ responses: [StoredResponse]) async

    /// Removes everything under these keys.
    func remove(_ keys: [CacheKey]) async
}

/// A stored response, as it was when it was found. Its body can be read whatever becomes of it meanwhile.
package struct StoredResponse: Sendable {
    package enum Level: Sendable, Hashable {
        case memory
        case disk
    }

    package let entry: CacheEntry
    package let level: Level
    package let body: any StoredBody
    /// By what its store knows it again: the same for as long as the same body is stored, whatever its head.
    package let id: UInt64

    package init(entry: CacheEntry, level: Level, body: any StoredBody, id: UInt64 = 0) {
        (self.entry, self.level, self.body, self.id) = (entry, level, body, id)
    }
}

/// The stored bytes of a body: those of the entry's `body.range`, counted from its beginning.
package protocol StoredBody: AnyObject, Sendable {
    var count: Int { get }

    /// All of them, if they are in memory.
    var bytes: Bytes? { get }

    /// At most `count` bytes from `offset` on, and at least one. Throws for bytes that are not what was stored: none of
    /// them is returned, and the response is removed.
    func read(from offset: Int, upTo count: Int) async throws -> Bytes
}

/// A body that is being stored. Whoever has it calls `finish` or `abandon`; a writer that is released has abandoned.
package protocol ResponseWriter: AnyObject, Sendable {
    /// Stores the next bytes. Once that has failed, or there are too many of them, nothing is stored.
    func write(_ bytes: Bytes) async

    /// Makes the response findable, and removes those it replaces. Without it nothing is.
    func finish(as entry: CacheEntry, replacing replaced: [StoredResponse]) async

    func abandon() async
}
