internal import DunlinTypes

/// Whether a stored response may be served without asking (RFC 9111 §4.2.4 and §5.2).
extension CacheMachine {
    enum Usability: Sendable, Hashable {
        case servable
        /// It is stale, but may be served while it is revalidated.
        case whileRevalidating
        case unusable(CacheStatus.Forward)
    }

    func usability(of entry: CacheEntry, at now: Int64) -> Usability {
        if request.isRetry, !isOffline, entry.status.code >= 400 { return .unusable(.request) }
        if request.mode == .preferringStored || request.mode == .storedOnly { return .servable }
        if entry.isDoubtful || entry.directives.isNoCache { return .unusable(.stale) }
        if directives.isNoCache { return .unusable(.request) }
        let isFresh = entry.freshness.isFresh(at: now)
        if request.mode == .validating, !(isFresh && entry.directives.isImmutable) {
            return .unusable(isFresh ? .request : .stale)
        }
        // An age of zero asks for the origin, even within the same second.
        if let limit = directives.maxAge, limit == 0 || entry.freshness.age(at: now) > limit {
            return .unusable(isFresh ? .request : .stale)
        }
        if isFresh {
            let isLongEnough = directives.minFresh.map { entry.freshness.remaining(at: now) >= $0 } ?? true
            return isLongEnough ? .servable : .unusable(.request)
        }
        return stale(entry, at: now)
    }

    private func stale(_ entry: CacheEntry, at now: Int64) -> Usability {
        guard !entry.directives.mustRevalidate, directives.minFresh == nil else { return .unusable(.stale) }
        let staleness = entry.freshness.staleness(at: now)
        if let limit = directives.maxStale, staleness <= limit { return .servable }
        if let limit = entry.directives.staleWhileRevalidate, staleness < limit { return .whileRevalidating }
        return .unusable(.stale)
    }

    /// Whether it may replace the response of an origin that fails (RFC 5861 §4) or cannot be reached.
    func mayReplaceFailure(_ entry: CacheEntry, isDisconnected: Bool, at now: Int64) -> Bool {
        guard request.mode == .standard || request.mode == .preferringStored, !isBypassed, !entry.isDoubtful,
            !entry.directives.mustRevalidate, !entry.directives.isNoCache, !directives.isNoCache,
            directives.minFresh == nil, directives.maxAge.map({ entry.freshness.age(at: now) <= $0 }) ?? true
        else { return false }
        let windows = [
            entry.directives.staleIfError, directives.staleIfError, isDisconnected ? rules.staleWhenDisconnected : nil,
        ]
        return entry.freshness.staleness(at: now) < windows.compactMap { $0 }.max() ?? 0
    }
}
