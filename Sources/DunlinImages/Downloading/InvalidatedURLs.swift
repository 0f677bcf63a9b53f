internal import Dunlin

/// The invalidated URLs, and the identities for which their servers have been asked since.
///
/// Where a URL's redirects lead is not known before it is requested, so the HTTP cache's entries for those places
/// cannot be removed with it. Instead, the next request of each identity bypasses that cache until all servers along
/// its way have answered. Only the latest URLs are remembered, and a limited number of identities for each; beyond it,
/// the others are forgotten and ask once more.
struct InvalidatedURLs<Identity: Hashable> {
    private let identities: Int
    private var urls: RecentValues<String, Set<Identity>>

    init(capacity: Int = 4096, identities: Int = 64) {
        self.identities = identities
        urls = RecentValues(limit: capacity)
    }

    var count: Int { urls.count }

    mutating func insert(_ url: String) {
        urls.keep([], for: url)
    }

    /// Whether stored content may be older than the last invalidation.
    func mustAsk(_ identity: Identity, of url: String) -> Bool { urls[url]?.contains(identity) == false }

    /// Notes that the servers have brought everything requested since.
    mutating func asked(_ identity: Identity, of url: String) {
        urls.change(url) { asked in
            if asked.count >= identities, !asked.contains(identity) { asked = [] }
            asked.insert(identity)
        }
    }
}

extension InvalidatedURLs: Sendable where Identity: Sendable {}
