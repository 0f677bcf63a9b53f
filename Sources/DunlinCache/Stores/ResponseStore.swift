package import DunlinSemantics
package import DunlinTypes

/// A store for a cache's responses. It knows no rules: `CacheMachine` decides what is stored, served and removed.
///
/// No failure here fails a request. What cannot be read is absent, what cannot be written is not stored, and the reason
/// is reported once, as a warning. The same holds for work that takes longer than `StoreWait` allows: it is finished,
/// but nobody waits for it. A nil wait has no limit.
package protocol ResponseStore: AnyObject, Sendable {
    /// Returns what is stored under a key, if that is known without waiting; nil if `responses(for:)` must be asked.
    func responsesAtHand(for key: CacheKey) -> [StoredResponse]?

    /// Returns what is stored under a key.
    func responses(for key: CacheKey, within wait: StoreWait?) async -> [StoredResponse]

    /// A number that changes when everything under a key is removed.
    func removals(of key: CacheKey) -> UInt64

    /// By how much removing everything under these keys raises that number.
    func removals(of key: CacheKey, by keys: [CacheKey]) -> UInt64

    /// Begins to store a response's body of up to `length` bytes. Returns nil if there is no room for it. The wait
    /// holds for all of the writer's work. Nothing is stored if everything under the key was removed since `removals`
    /// was read; nil for now.
    func writer(
        for key: CacheKey, length: Int?, since removals: UInt64?, within wait: StoreWait?
    ) async -> (any ResponseWriter)?

    /// Begins to store a body that continues `part`. Throws if the part cannot be read.
    func writer(
        for key: CacheKey, length: Int?, behind part: StoredResponse, since removals: UInt64?, within wait: StoreWait?
    ) async throws(CacheDamage) -> (any ResponseWriter)?

    /// Replaces the entry of a body. Has no effect if the response is no longer stored.
    func update(_ response: StoredResponse, to entry: CacheEntry, within wait: StoreWait?) async

    func remove(_ responses: [StoredResponse], within wait: StoreWait?) async

    /// Removes everything under these keys.
    func remove(_ keys: [CacheKey], within wait: StoreWait?) async

    /// Returns when everything that waits to be stored now is stored, or at the wait's deadline.
    func written(within wait: StoreWait?) async
}

extension ResponseStore {
    package func written(within wait: StoreWait?) async {}
}

/// A stored response, as it was when it was found. Its body is opened when first read, and can be read from then on
/// even if it is replaced or removed.
package struct StoredResponse: Sendable {
    package enum Level: Sendable, Hashable {
        case memory
        case disk
    }

    package let entry: CacheEntry
    package let level: Level
    package let body: any StoredBody
    /// The store's number for it: the same while the same body is stored, whatever its head.
    package let id: UInt64

    package init(entry: CacheEntry, level: Level, body: any StoredBody, id: UInt64 = 0) {
        (self.entry, self.level, self.body, self.id) = (entry, level, body, id)
    }
}

/// The stored bytes of a body: those of the entry's `body.range`, counted from the first of them.
package protocol StoredBody: AnyObject, Sendable {
    var count: Int { get }

    /// The whole body, if it is in memory.
    var bytes: Bytes? { get }

    /// Returns 1 to `count` bytes from `offset` on. Throws if they are not what was stored: none is returned, and the
    /// response is removed.
    func read(from offset: Int, upTo count: Int, within wait: StoreWait?) async throws(CacheDamage) -> Bytes
}

extension StoredBody {
    /// Reads without a limit of time.
    package func read(from offset: Int, upTo count: Int) async throws(CacheDamage) -> Bytes {
        try await read(from: offset, upTo: count, within: nil)
    }
}

/// The result of giving a response to its store.
package enum HandedResponse: Sendable, Hashable {
    case stored
    /// The response waits to be written. The outcome is reported later.
    case storing
    case refused
}

/// A writer of a body that is being stored. Its owner calls `finish`, `hand` or `discard`; releasing a writer discards
/// the body.
package protocol ResponseWriter: AnyObject, Sendable {
    /// Stores the next bytes. After a failure, or too many bytes, nothing is stored.
    func write(_ bytes: Bytes) async

    /// Makes the response findable, and removes those it replaces or supersedes; without this call it is not stored.
    /// Returns whether it is known to be findable now.
    @discardableResult
    func finish(as entry: CacheEntry, replacing replaced: [StoredResponse]) async -> Bool

    /// Does the same as `finish`, but waits for a disk only if it must. If it returns `.storing`, and only then,
    /// `whenStored` is called with what `finish` would have returned, once and from any thread.
    func hand(
        as entry: CacheEntry, replacing replaced: [StoredResponse], whenStored: @escaping @Sendable (Bool) -> Void
    ) async -> HandedResponse

    func discard() async
}

extension ResponseWriter {
    package func hand(
        as entry: CacheEntry, replacing replaced: [StoredResponse], whenStored: @escaping @Sendable (Bool) -> Void
    ) async -> HandedResponse {
        await finish(as: entry, replacing: replaced) ? .stored : .refused
    }
}
