internal import DunlinCache
internal import DunlinSemantics

/// Where what the network answers is written.
extension CacheDriver {
    /// Stores a new response; nil if it would answer nobody. What it replaces is removed first: it is outdated,
    /// whatever happens to the new body.
    func storing(_ draft: CacheDraft, replacing indices: [Int], _ call: LiveCall) async -> Storing? {
        if !indices.isEmpty {
            await cache.store.remove(indices.map { candidates[$0] }, within: call.storeWait)
        }
        if call.isAlone(draft) { return nil }
        let writer = await cache.store.writer(
            for: draft.entry.key, length: draft.expectedCount, since: removals, within: call.bodyStoreWait)
        return writer.map { Storing(writer: $0, draft: draft, replaced: [], told: call.toldOfStoring) }
    }

    /// Appends bytes that begin within or at the end of a stored part; nil for others.
    func extending(_ index: Int, _ draft: CacheDraft, _ call: LiveCall) async -> Storing? {
        let (stored, range) = (candidates[index], candidates[index].entry.body.range)
        guard range.contains(draft.start) || draft.start == range.upperBound, !call.isAlone(draft),
            let writer = await writer(for: draft, behind: stored, call)
        else { return nil }
        return Storing(
            writer: writer, draft: draft, replaced: [stored], known: range.upperBound - draft.start,
            told: call.toldOfStoring)
    }

    private func writer(
        for draft: CacheDraft, behind stored: StoredResponse, _ call: LiveCall
    ) async -> (any ResponseWriter)? {
        do throws(CacheDamage) {
            return try await cache.store.writer(
                for: draft.entry.key, length: draft.expectedCount, behind: stored, since: removals,
                within: call.bodyStoreWait)
        } catch {
            useless.insert(stored.id)
            return nil
        }
    }
}

extension LiveCall {
    /// Whether a response varies by a field that the session's observers have added, such as `traceparent`. They add it
    /// after the cache was asked, and mostly another value each time, so the response would only take the place of
    /// others (RFC 9111 §4.1).
    fileprivate func isAlone(_ draft: CacheDraft) -> Bool {
        !added.isEmpty && draft.entry.selecting.members.contains { added.contains($0.name) }
    }
}
