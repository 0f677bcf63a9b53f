internal import DunlinSemantics

extension HTTPSession {
    /// What a cache did with a request.
    public struct CacheUse: Sendable, Hashable {
        public enum Source: String, Sendable, Hashable {
            case network
            case memory
            case disk
        }

        /// What becomes of a response in its cache.
        public enum Storing: String, Sendable, Hashable {
            /// It was given to be written into the cache's folder, which nobody waits for. Nothing stored is said to be
            /// before it is.
            case storing
            case stored
        }

        /// Where the response's body came from. One that began in the cache and was completed by the network came from
        /// the network.
        public let source: Source
        /// Whether the origin was asked to validate the stored response and confirmed it.
        public let isRevalidated: Bool
        /// Whether the response is older than it should be: because there was nothing newer, because the request allows
        /// it, or because a newer one is being fetched meanwhile. A response that the origin has just confirmed is not
        /// stale.
        public let isStale: Bool
        /// How long ago the origin created or confirmed it; nil for one that has just come from the network.
        public let age: Duration?
        /// The same in the format of `Cache-Status` (RFC 9211): `dunlin; hit; ttl=42`. It includes `stored` only once
        /// the response has been stored, which for a stream is after its end.
        public let status: String
        /// Whether the response is stored, as far as that is known when this is asked for: nil if it is not to be, has
        /// not ended yet, or could not be. The event `storingEnded` tells what becomes of one that is `storing`.
        public let storing: Storing?

        init(
            _ source: Source, isRevalidated: Bool = false, isStale: Bool = false, age: Int64? = nil,
            _ status: CacheStatus
        ) {
            (self.source, self.isRevalidated, self.isStale) = (source, isRevalidated, isStale)
            self.age = age.map { .seconds($0) }
            self.status = status.member(named: "dunlin")
            storing = nil
        }

        private init(_ use: CacheUse, status: String, _ storing: Storing?) {
            (source, isRevalidated, isStale, age) = (use.source, use.isRevalidated, use.isStale, use.age)
            (self.status, self.storing) = (status, storing)
        }

        /// The same for a response that was stored.
        var stored: CacheUse { CacheUse(self, status: status + "; stored", .stored) }

        /// The same for a response that waits to be stored.
        var beingStored: CacheUse { CacheUse(self, status: status, .storing) }

        /// The same for a request that was not sent, because one like it was under way.
        var collapsed: CacheUse { source == .network ? CacheUse(self, status: status + "; collapsed", storing) : self }
    }
}

extension HTTPSession.CacheUse: CustomStringConvertible {
    public var description: String { status }
}
