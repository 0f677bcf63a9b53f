/// How a request uses the cache.
///
/// | mode | Fetch | NSURLRequest |
/// |---|---|---|
/// | `standard` | `default` | `useProtocolCachePolicy` |
/// | `validating` | `no-cache` | `reloadRevalidatingCacheData` |
/// | `reloading` | `reload` | `reloadIgnoringLocalCacheData` |
/// | `preferringStored` | `force-cache` | `returnCacheDataElseLoad` |
/// | `storedOnly` | `only-if-cached` | `returnCacheDataDontLoad` |
/// | `off` | `no-store` | |
package enum CacheMode: Sendable, Hashable, CaseIterable {
    /// By RFC 9111: what is fresh is served, what is stale is asked about.
    case standard
    /// Whatever is stored is asked about before it is served, but for what is fresh and `immutable` (RFC 8246).
    case validating
    /// Nothing stored is looked at. What comes is stored.
    case reloading
    /// Whatever is stored and whole is served, however old. The network is for what is not stored.
    case preferringStored
    /// As before, and what is not stored is not to be had.
    case storedOnly
    /// As if there were no cache: nothing is read and nothing is stored. What an unsafe request changes is still
    /// forgotten.
    case off
}
