internal import Dunlin

/// Which URLs were invalidated, and for which identities their servers have been asked since.
///
/// Where redirects lead from a URL nobody knows before it is asked, so what an HTTP cache has of these places cannot be
/// forgotten with it. The next request of each identity passes that cache over instead, until all servers along its way
/// have answered. It keeps the URLs invalidated last. For each it keeps a limited number of identities; when one more
/// has asked, it forgets the others, and each of them asks once more.
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

    /// Whether what is stored may be older than the last invalidation.
    func mustAsk(_ identity: Identity, of url: String) -> Bool { urls[url]?.contains(identity) == false }

    /// The servers have brought all of what was asked for after that.
    mutating func asked(_ identity: Identity, of url: String) {
        urls.change(url) { asked in
            if asked.count >= identities, !asked.contains(identity) { asked = [] }
            asked.insert(identity)
        }
    }
}

extension InvalidatedURLs: Sendable where Identity: Sendable {}
