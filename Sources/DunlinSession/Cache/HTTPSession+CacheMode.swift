internal import DunlinSemantics

extension HTTPSession {
    /// How a request uses its session's cache.
    public enum CacheMode: String, Sendable, Hashable, Codable, CaseIterable {
        /// By RFC 9111: what is fresh is served, what is stale is asked about.
        case standard
        /// Whatever is stored is asked about before it is served, but for what is fresh and `immutable`.
        case validating
        /// Nothing stored is looked at. What comes is stored.
        case reloading
        /// Whatever is stored whole is served, however old. The network is for what is not stored.
        case preferringStored
        /// As before, and what is not stored is an error: `NetworkError` code `notCached`. Nothing is sent.
        case storedOnly
        /// As if there were no cache.
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
