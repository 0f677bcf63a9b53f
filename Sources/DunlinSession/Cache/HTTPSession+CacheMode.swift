internal import DunlinSemantics

extension HTTPSession {
    /// How a request uses its session's cache.
    public enum CacheMode: String, Sendable, Hashable, Codable, CaseIterable {
        /// By RFC 9111: a fresh response is served, a stale one is validated.
        case standard
        /// A stored response is validated before it is served, unless it is fresh and `immutable`.
        case validating
        /// Stored responses are ignored; the new response is stored.
        case reloading
        /// A complete stored response is served, however old. Otherwise the network is used.
        case preferringStored
        /// A complete stored response is served, however old. Otherwise the request fails with `NetworkError` code
        /// `notCached`; nothing is sent.
        case storedOnly
        /// The cache is not used.
        case off

        var rules: DunlinSemantics.CacheMode {
            switch self {
            case .standard: .standard
            case .validating: .validating
            case .reloading: .reloading
            case .preferringStored: .preferringStored
            case .storedOnly: .storedOnly
            case .off: .off
            }
        }
    }
}
