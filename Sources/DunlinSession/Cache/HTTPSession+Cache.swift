internal import DunlinReactor
internal import DunlinSecure
internal import DunlinSemantics
internal import Synchronization

extension HTTPSession {
    /// Stored responses, by the rules of RFC 9111 for a private cache.
    ///
    /// ```swift
    /// configuration.cache = HTTPSession.Cache(memory: 4 << 20)
    /// ```
    ///
    /// It belongs to one user: sessions that have it in common serve each other what was stored for either. What is
    /// stored are bodies as they came, so the stages and serializers of a request see a stored response as they would
    /// see one from the network. Cookies that a stored response once set are not set again.
    public final class Cache: Sendable {
        let store: any ResponseStore
        let rules: CacheRules
        private let clock: @Sendable () -> Int64
        private let counts = Mutex(Gauges())

        /// `now` are seconds since 1970.
        init(
            _ store: any ResponseStore, secretFields: HTTP.SecretFields = .usual,
            now: @escaping @Sendable () -> Int64 = { WallClock.seconds }
        ) {
            self.store = store
            clock = now
            rules = CacheRules(secretFields: secretFields) { function, bytes in
                do throws(HashFunction.Unavailable) { return try function.hash(of: bytes) } catch { return nil }
            }
        }

        var now: Int64 { clock() }

        /// How often requests were answered by what, since the cache was made.
        public struct Gauges: Sendable, Hashable, Codable {
            /// Answered from the store, without a question to the origin.
            public var hits = 0
            /// Those of the hits that were stale.
            public var stale = 0
            /// Answered from the store once the origin had confirmed it.
            public var revalidated = 0
            /// Answered by the network. Requests that caches have nothing to do with count too.
            public var misses = 0

            public init() {}
        }

        public var gauges: Gauges { counts.withLock(\.self) }

        func count(_ change: (inout Gauges) -> Void) { counts.withLock { change(&$0) } }

        /// Removes what is stored for a URL, in all its variants.
        public func remove(_ url: String) async throws {
            do throws(AddressError) {
                let address = try WebAddress(url)
                await store.remove([CacheKey(origin: address.origin, target: address.target)])
            } catch {
                throw NetworkError(.invalidRequest, "\(error)", isSafeToRetry: true, underlying: error)
            }
        }
    }
}
