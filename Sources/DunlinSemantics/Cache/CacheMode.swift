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
    /// By RFC 9111: fresh responses are served, stale ones revalidated.
    case standard
    /// Stored responses are revalidated before they are served, except fresh `immutable` ones (RFC 8246).
    case validating
    /// Nothing stored is served. The new response is stored.
    case reloading
    /// Whole stored responses are served, however old. The network is asked only if nothing is stored.
    case preferringStored
    /// Like `preferringStored`, but the network is never asked.
    case storedOnly
    /// No cache: nothing is read or stored. An unsafe request still removes what it may have changed.
    case off
}
