package import DunlinSemantics
package import DunlinTypes

/// Where a cache's responses are stored. It knows no rules: what is stored, served and removed is decided by
/// `CacheMachine`.
///
/// Nothing here fails a request. What cannot be read is not there, what cannot be written is not stored, and the
/// reason is told once, as a warning. So it is with what takes longer than `StoreWait` allows: what was begun is done
/// all the same, but nobody waits for it. Nil for a wait has no limit.
package protocol ResponseStore: AnyObject, Sendable {
    /// What is stored under a key, if that can be said without a wait; nil if `responses(for:)` has to be asked.
    func responsesAtHand(for key: CacheKey) -> [StoredResponse]?

    /// What is stored under a key.
    func responses(for key: CacheKey, within wait: StoreWait?) async -> [StoredResponse]

    /// A number that changes when everything under a key is removed.
    func removals(of key: CacheKey) -> UInt64

    /// Begins to store the body of a response that may have `length` bytes. Nil if there is no room for so many. The
    /// wait holds for all that the writer does. Nothing is stored if everything under the key was removed since
    /// `removals` was asked for; nil for now.
    func writer(
        for key: CacheKey, length: Int?, since removals: UInt64?, within wait: StoreWait?
    ) async -> (any ResponseWriter)?

    /// The same behind the bytes of `part`. Throws if those cannot be read.
    func writer(
        for key: CacheKey, length: Int?, behind part: StoredResponse, since removals: UInt64?, within wait: StoreWait?
    ) async throws(CacheDamage) -> (any ResponseWriter)?

    /// Puts another entry in front of the same body. Has no effect if the response is not stored any more.
    func update(_ response: StoredResponse, to entry: CacheEntry, within wait: StoreWait?) async

    func remove(_ responses: [StoredResponse], within wait: StoreWait?) async

    /// Removes everything under these keys.
    func remove(_ keys: [CacheKey], within wait: StoreWait?) async
}

/// A stored response, as it was when it was found. Its body is opened when it is first read, and can be read from then
/// on whatever becomes of it.
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
    func read(from offset: Int, upTo count: Int, within wait: StoreWait?) async throws(CacheDamage) -> Bytes
}

extension StoredBody {
    /// As long as it takes.
    package func read(from offset: Int, upTo count: Int) async throws(CacheDamage) -> Bytes {
        try await read(from: offset, upTo: count, within: nil)
    }
}

/// A body that is being stored. Whoever has it calls `finish` or `abandon`; a writer that is released has abandoned.
package protocol ResponseWriter: AnyObject, Sendable {
    /// Stores the next bytes. Once that has failed, or there are too many of them, nothing is stored.
    func write(_ bytes: Bytes) async

    /// Makes the response findable, and removes those it replaces or supersedes. Without it nothing is. Returns whether
    /// it is known to be findable now.
    @discardableResult
    func finish(as entry: CacheEntry, replacing replaced: [StoredResponse]) async -> Bool

    func abandon() async
}
