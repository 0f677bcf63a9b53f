internal import DunlinCache
internal import DunlinReactor
internal import DunlinSecure
internal import DunlinSemantics
internal import Synchronization

extension HTTPSession {
    /// Stored responses, by the rules of RFC 9111 for a private cache: in memory, or in memory in front of a folder.
    ///
    /// ```swift
    /// configuration.cache = HTTPSession.Cache(.standard, folder: "/var/cache/app")
    /// ```
    ///
    /// Sessions that are given the same object serve each other what was stored for the same user, and so do processes
    /// that share a folder. Bodies are stored as they came, so the stages and serializers of a request
    /// see a stored response as they would see one from the network. Cookies that a stored response once set are not
    /// set again.
    ///
    /// What goes wrong with a cache fails no request. A folder that is full, cannot be written, has gone or belongs to
    /// others is told of once, and is as good as empty. Which response goes when there is no more room is decided by
    /// S3-FIFO: one that was asked for once does not push out those that are asked for again and again.
    public final class Cache: Sendable {
        let store: any ResponseStore
        let rules: CacheRules
        private let own: CacheStore?
        private let clock: @Sendable () -> Int64
        // How often requests were answered by what.
        let hits = Atomic(0)
        let stale = Atomic(0)
        let revalidated = Atomic(0)
        let misses = Atomic(0)

        /// `now` are seconds since 1970.
        init(
            _ store: any ResponseStore, _ rules: CacheRules = Cache.rules(hiding: .usual),
            now: @escaping @Sendable () -> Int64 = { WallClock.seconds }
        ) {
            self.store = store
            self.rules = rules
            own = store as? CacheStore
            clock = now
        }

        /// A cache in memory, and in a folder if that is given. The folder is made if it is not there, with permissions
        /// for its owner alone; one that others may write to is not used.
        ///
        /// `secretFields`: where responses depend on such fields of a request, hashes of their values are stored in
        /// their place, with a salt that each folder has of its own. `warn` is told, in words, why something cannot be
        /// stored or found: each reason once.
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
    /// How much a cache may store, in bytes. What is in memory is also in the folder, if there is one.
    public struct Capacity: Sendable, Hashable {
        public var memory: Int
        /// Of the folder, as files take up room there.
        public var disk: Int
        /// The largest part of memory or folder that the body of one response may take up; larger ones are not stored
        /// there.
        public var largestShare: Double

        public init(memory: Int, disk: Int, largestShare: Double = 0.05) {
            (self.memory, self.disk, self.largestShare) = (memory, disk, largestShare)
        }

        /// 8 MiB of memory, 256 MiB of a folder. So bodies of up to 12.8 MiB are stored in the folder, and of up to
        /// 419,430 bytes where there is none.
        public static let standard = Capacity(memory: 8 << 20, disk: 256 << 20)
        /// 4 and 20 MiB, which AFNetworking's example has.
        public static let small = Capacity(memory: 4 << 20, disk: 20 << 20)
        /// 20 and 150 MiB, which AFNetworking's image downloader has.
        public static let images = Capacity(memory: 20 << 20, disk: 150 << 20)

        var stored: CacheCapacity { CacheCapacity(memory: memory, disk: disk, largestShare: largestShare) }
    }

    /// What a cache is at, in numbers. What is counted is counted since the cache was made.
    public struct Gauges: Sendable, Hashable, Codable {
        /// Answered from the store, without waiting for the origin.
        public var hits = 0
        /// Those of the answers from the store that were stale, and not confirmed.
        public var stale = 0
        /// Answered from the store once the origin had confirmed it.
        public var revalidated = 0
        /// Answered by the network. Requests that no cache has anything to do with count too.
        public var misses = 0
        public var memoryBytes = 0
        public var diskBytes = 0
        /// URLs of which something is stored, with all their variants.
        public var urls = 0
        /// URLs that had to go for want of room.
        public var evictions = 0
        public var writeFailures = 0

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
        return gauges
    }

    /// A stored response, as `entries` lists it.
    public struct Entry: Sendable {
        /// Without what its query hides.
        public let url: String
        public let status: HTTP.Status
        public let fields: Fields
        /// Bytes of the body that are stored, and whether these are all of it.
        public let count: Int
        public let isWhole: Bool
        /// Seconds since 1970 when it came from the network or was confirmed.
        public let received: Int64
        /// For how long it is fresh from now on; negative for what is stale.
        public let freshness: Duration
    }

    /// Everything that is stored, in no order.
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

    /// Removes what is stored for a URL, in all its variants: for all users, and for requests with a `Host` or an
    /// address of their own too. To find those it looks through all that is stored.
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

    /// Ends what the cache does in the background, and waits for it. Nothing is stored in its folder or found there
    /// from then on. Sessions do not close their cache, which they may share.
    public func close() async { await own?.close() }
}
