internal import DunlinSemantics

extension HTTPSession {
    /// What a cache did with a request.
    public struct CacheUse: Sendable, Hashable {
        public enum Source: String, Sendable, Hashable {
            case network
            case memory
            case disk
        }

        /// Whether a response has been stored.
        public enum Storing: String, Sendable, Hashable {
            /// The response waits to be written into the cache's folder. No request waits for that, and the response is
            /// not called stored until it is.
            case storing
            case stored
        }

        /// Where the response's body came from. One that began in the cache and was completed from the network counts
        /// as from the network.
        public let source: Source
        /// Whether the origin was asked to validate the stored response and confirmed it.
        public let isRevalidated: Bool
        /// Whether the response is older than it should be: because there was nothing newer, because the request allows
        /// it, or because a newer one is being fetched meanwhile. A response that the origin has just confirmed is not
        /// stale.
        public let isStale: Bool
        /// How long ago the origin created or confirmed it; nil for one that has just come from the network.
        public let age: Duration?
        /// The use in the format of `Cache-Status` (RFC 9211): `dunlin; hit; ttl=42`. It includes `stored` only once
        /// the response has been stored, which for a stream is after its end.
        public let status: String
        /// Whether the response is stored, as far as known when this is read: nil if it is not to be stored, has not
        /// ended yet, or could not be stored. The event `storingEnded` reports the outcome of one that is `storing`.
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

        /// The value for a response that was stored.
        var stored: CacheUse { CacheUse(self, status: status + "; stored", .stored) }

        /// The value for a response that waits to be stored.
        var beingStored: CacheUse { CacheUse(self, status: status, .storing) }

        /// The value for a request that was not sent, because an identical one was under way.
        var collapsed: CacheUse { source == .network ? CacheUse(self, status: status + "; collapsed", storing) : self }
    }
}

extension HTTPSession.CacheUse: CustomStringConvertible {
    public var description: String { status }
}
