internal import DunlinSemantics

extension HTTPSession {
    /// What a cache did with a request.
    public struct CacheUse: Sendable, Hashable {
        public enum Source: String, Sendable, Hashable {
            case network
            case memory
            case disk
        }

        /// Where the response's body came from. One that began in the cache and was completed by the network came from
        /// the network.
        public let source: Source
        /// Whether the origin was asked about what is stored and confirmed it.
        public let isRevalidated: Bool
        /// Whether it is older than it should be: served because nothing newer was to be had, because the request
        /// allows it, or because it is asked for meanwhile. What the origin has just confirmed is not.
        public let isStale: Bool
        /// How long ago the origin made or confirmed it; nil for what has just come from the network.
        public let age: Duration?
        /// The same in the words of `Cache-Status` (RFC 9211): `dunlin; hit; ttl=42`. It says `stored` of a response
        /// that has been by the time when this is asked for: of a stream, only after its end.
        public let status: String

        init(
            _ source: Source, isRevalidated: Bool = false, isStale: Bool = false, age: Int64? = nil,
            _ status: CacheStatus
        ) {
            (self.source, self.isRevalidated, self.isStale) = (source, isRevalidated, isStale)
            self.age = age.map { .seconds($0) }
            self.status = status.member(named: "dunlin")
        }

        private init(_ use: CacheUse, status: String) {
            (source, isRevalidated, isStale, age) = (use.source, use.isRevalidated, use.isStale, use.age)
            self.status = status
        }

        /// The same for a response that was stored.
        var stored: CacheUse { CacheUse(self, status: status + "; stored") }

        /// The same for a request that was not sent, because one like it was under way.
        var collapsed: CacheUse { source == .network ? CacheUse(self, status: status + "; collapsed") : self }
    }
}

extension HTTPSession.CacheUse: CustomStringConvertible {
    public var description: String { status }
}
