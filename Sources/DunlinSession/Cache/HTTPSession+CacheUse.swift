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
        public var status: String { cacheStatus.member(named: "dunlin") }
        /// The status, which becomes text only for those who ask.
        private var cacheStatus: CacheStatus
        /// Whether the response is stored, as far as known when this is read: nil if it is not to be stored, has not
        /// ended yet, or could not be stored. The event `storingEnded` reports the outcome of one that is `storing`.
        public private(set) var storing: Storing?

        init(
            _ source: Source, isRevalidated: Bool = false, isStale: Bool = false, age: Int64? = nil,
            _ status: CacheStatus
        ) {
            (self.source, self.isRevalidated, self.isStale) = (source, isRevalidated, isStale)
            self.age = age.map { .seconds($0) }
            cacheStatus = status
        }

        /// The value for a response that was stored.
        var stored: CacheUse {
            var use = self
            (use.cacheStatus.isStored, use.storing) = (true, .stored)
            return use
        }

        /// The value for a response that waits to be stored.
        var beingStored: CacheUse {
            var use = self
            use.storing = .storing
            return use
        }

        /// The value for a request that was not sent, because an identical one was under way.
        var collapsed: CacheUse {
            var use = self
            if source == .network { use.cacheStatus.isCollapsed = true }
            return use
        }
    }
}

extension HTTPSession.CacheUse: CustomStringConvertible {
    public var description: String { status }
}
