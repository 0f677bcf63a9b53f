internal import DunlinCache
internal import DunlinReactor
internal import DunlinSecure
internal import DunlinSemantics
internal import Synchronization

extension HTTPSession {
    /// A store of responses by the rules of RFC 9111 for a private cache: in memory, or in memory in front of a folder.
    ///
    /// ```swift
    /// configuration.cache = HTTPSession.Cache(.standard, folder: "/var/cache/app")
    /// ```
    ///
    /// Sessions with the same cache object share what was stored for the same user, and so do processes that share a
    /// folder. Bodies are stored as received, so stages and serializers see a stored response like one from the
    /// network. A stored response does not set its cookies again.
    ///
    /// A failing cache never fails a request. A folder that is full, not writable, gone or another user's is reported
    /// once and then treated as empty. S3-FIFO decides which responses are removed for space: a response that was
    /// requested once does not displace those requested repeatedly.
    public final class Cache: Sendable {
        let store: any ResponseStore
        let rules: CacheRules
        private let own: CacheStore?
        private let clock: @Sendable () -> Int64
        // How many requests were answered from each source.
        let hits = Atomic(0)
        let stale = Atomic(0)
        let revalidated = Atomic(0)
        let misses = Atomic(0)

        /// Creates a cache; `now` returns seconds since 1970.
        init(
            _ store: any ResponseStore, _ rules: CacheRules = Cache.rules(hiding: .usual),
            now: @escaping @Sendable () -> Int64 = { WallClock.seconds }
        ) {
            self.store = store
            self.rules = rules
            own = store as? CacheStore
            clock = now
        }

        /// Creates a cache in memory, and in a folder if one is given. A missing folder is created with permissions for
        /// its owner only; a folder that others may write to is not used.
        ///
        /// If responses vary by the request's `secretFields`, hashes of the values are stored instead, with a salt that
        /// is the folder's own. `warn` is called with the reason, in words, why something cannot be stored or found,
        /// once for each reason.
        public convenience init(
            _ capacity: Capacity = .standard, folder: String? = nil, secretFields: HTTP.SecretFields = .usual,
            warn: @escaping @Sendable (String) -> Void = { _ in }
        ) {
            let salt = CacheSalt()
            let rules = Self.rules(hiding: secretFields, salt)
            let store = CacheStore(
                capacity.stored, folder: folder.map { CacheFolder($0) }, rules: rules, salt: salt
            ) { warn("\($0)") }
            self.init(store, rules)
        }

        /// The rules for what is kept without a cache.
        static let usualRules = rules(hiding: .usual)

        private static func rules(
            hiding secretFields: HTTP.SecretFields, _ salt: CacheSalt = CacheSalt()
        ) -> CacheRules {
            CacheRules(secretFields: secretFields) { function, bytes in
                do throws(HashFunction.Unavailable) {
                    return try function.hash(of: salt.salted(bytes))
                } catch {
                    return nil
                }
            }
        }

        var now: Int64 { clock() }
    }
}

// MARK: - Looking at it

extension HTTPSession.Cache {
    /// The greatest number of bytes that a cache stores. What is in memory is also in the folder, if there is one.
    public struct Capacity: Sendable, Hashable {
        public var memory: Int
        /// The folder's share, counted as files occupy it.
        public var disk: Int
        /// The largest fraction of memory or folder that one body may take. Larger bodies are not stored there.
        public var largestShare: Double

        public init(memory: Int, disk: Int, largestShare: Double = 0.05) {
            (self.memory, self.disk, self.largestShare) = (memory, disk, largestShare)
        }

        /// 8 MiB of memory and 256 MiB of a folder. Bodies of up to 12.8 MiB are stored in the folder; without a
        /// folder, bodies of up to 419,430 bytes.
        public static let standard = Capacity(memory: 8 << 20, disk: 256 << 20)
        /// 4 MiB of memory and 20 MiB of a folder, as in AFNetworking's example.
        public static let small = Capacity(memory: 4 << 20, disk: 20 << 20)
        /// 20 MiB of memory and 150 MiB of a folder, as in AFNetworking's image downloader.
        public static let images = Capacity(memory: 20 << 20, disk: 150 << 20)

        var stored: CacheCapacity { CacheCapacity(memory: memory, disk: disk, largestShare: largestShare) }
    }

    /// The state of a cache, in numbers. Totals are counted since the cache was created.
    public struct Gauges: Sendable, Hashable, Codable {
        /// The number of requests answered from the store without asking the origin.
        public var hits = 0
        /// The number of answers from the store that were stale and not confirmed.
        public var stale = 0
        /// The number of requests answered from the store after the origin had confirmed it.
        public var revalidated = 0
        /// The number of requests answered by the network, including those that no cache applies to.
        public var misses = 0
        public var memoryBytes = 0
        public var diskBytes = 0
        /// The number of URLs with stored responses, each with all its variants.
        public var urls = 0
        /// The number of URLs that were removed for space.
        public var evictions = 0
        /// The number of responses that could not be written, or came while too many waited to be written.
        public var writeFailures = 0
        /// The number of responses that wait to be written into the folder, and the bytes of memory that they use.
        public var waiting = 0
        public var waitingBytes = 0

        public init() {}
    }

    public var gauges: Gauges {
        var gauges = Gauges()
        gauges.hits = hits.load(ordering: .relaxed)
        gauges.stale = stale.load(ordering: .relaxed)
        gauges.revalidated = revalidated.load(ordering: .relaxed)
        gauges.misses = misses.load(ordering: .relaxed)
        guard let figures = own?.figures else { return gauges }
        (gauges.memoryBytes, gauges.diskBytes) = (figures.memory.bytes, figures.disk?.bytes ?? 0)
        gauges.urls = figures.disk?.keys ?? figures.memory.keys
        gauges.evictions = figures.disk?.evictions ?? figures.memory.evictions
        gauges.writeFailures = figures.disk?.writeFailures ?? 0
        (gauges.waiting, gauges.waitingBytes) = (figures.disk?.waiting ?? 0, figures.disk?.waitingBytes ?? 0)
        return gauges
    }

    /// A stored response, as `entries` lists it.
    public struct Entry: Sendable {
        /// The URL, without secrets of its query.
        public let url: String
        public let status: HTTP.Status
        public let fields: Fields
        /// The number of stored bytes of the body, and whether the body is complete.
        public let count: Int
        public let isWhole: Bool
        /// The time at which it came from the network or was confirmed, in seconds since 1970.
        public let received: Int64
        /// How long it stays fresh; negative if it is stale.
        public let freshness: Duration
    }

    /// Returns all stored responses, in no order.
    public func entries() async -> [Entry] {
        let now = now
        return await own?.list().map { listed in
            let entry = listed.entry
            return Entry(
                url: entry.key.described(hiding: rules.secretFields), status: entry.status, fields: entry.fields,
                count: listed.count,
                isWhole: entry.body.isWhole, received: entry.receivedAt,
                freshness: .seconds(entry.freshness.remaining(at: now)))
        } ?? []
    }

    /// Removes the stored responses for a URL in all variants: for all users, and also for requests with a `Host` or
    /// address of their own. This searches the whole store.
    public func remove(_ url: String) async throws {
        do throws(AddressError) {
            let address = try WebAddress(url)
            let key = CacheKey(origin: address.origin, target: address.target)
            await store.remove([key], within: nil)
            let others = await own?.list().map(\.entry.key).filter { $0.isUnderOwnHost(of: key) } ?? []
            await store.remove(Array(Set(others)), within: nil)
        } catch {
            throw NetworkError(.invalidRequest, "\(error)", isSafeToRetry: true, underlying: error)
        }
    }

    public func removeAll() async { await own?.removeAll() }

    /// Waits until every response that waits to be written now is in the folder, or turned out not to be stored.
    public func waitUntilWritten() async { await store.written(within: nil) }

    /// Ends the cache's background work and waits for it; responses that wait to be written are written. Nothing is
    /// stored or found in its folder afterwards. Sessions do not close their cache, because they may share it.
    public func close() async { await own?.close() }
}
