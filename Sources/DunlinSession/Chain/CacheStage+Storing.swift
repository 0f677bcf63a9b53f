internal import DunlinCache
internal import DunlinSemantics
internal import DunlinTransport

/// Where what the network answers is written.
extension CacheStage {
    /// Changes what is stored. Returns the response, with a body that is stored as it is read if it is to be stored,
    /// and the outcome of that.
    func apply(
        _ changes: [CacheUpdate.Change], to response: TransportResponse, _ look: inout Look,
        _ sending: inout Sending
    ) async -> (response: TransportResponse, storing: StoringOutcome?) {
        var storing: Storing?
        for change in changes { storing = await apply(change, &look, &sending) ?? storing }
        guard let storing else { return (response, nil) }
        switch response.body {
        case .bytes(let bytes):
            await storing.write(bytes, at: 0)
            await storing.end(after: bytes.count, isComplete: true)
            return (response, storing.outcome)
        case .stream(let stream):
            return (response.with(.stream(StoringBody(stream, into: storing)), response.hop), storing.outcome)
        }
    }

    /// Returns what begins to be stored.
    private func apply(_ change: CacheUpdate.Change, _ look: inout Look, _ sending: inout Sending) async -> Storing? {
        let wait = sending.storeWait
        switch change {
        case .store(let draft, let replaced): return await storing(draft, replacing: replaced, look, sending)
        case .extend(let index, let draft): return await extending(index, draft, look, &sending)
        case .update(let index, let entry):
            await cache.store.update(look.candidates[index], to: entry, within: wait)
        case .remove(let indices): await cache.store.remove(indices.map { look.candidates[$0] }, within: wait)
        case .invalidate(let keys):
            await cache.store.remove(keys, within: wait)
            // What the answer itself removes is older than it.
            look.removals? += cache.store.removals(of: look.machine.request.key, by: keys)
        }
        return nil
    }

    /// Stores a new response; nil if it would answer nobody. What it replaces is removed first: it is outdated,
    /// whatever happens to the new body.
    private func storing(
        _ draft: CacheDraft, replacing indices: [Int], _ look: Look, _ sending: Sending
    ) async -> Storing? {
        if !indices.isEmpty {
            await cache.store.remove(indices.map { look.candidates[$0] }, within: sending.storeWait)
        }
        if sending.isAlone(draft) { return nil }
        let writer = await cache.store.writer(
            for: draft.entry.key, length: draft.expectedCount, since: look.removals, within: sending.bodyStoreWait)
        return writer.map { Storing(writer: $0, draft: draft, replaced: [], whenStored: sending.whenStored) }
    }

    /// Appends bytes that begin within or at the end of a stored part; nil for others.
    private func extending(
        _ index: Int, _ draft: CacheDraft, _ look: Look, _ sending: inout Sending
    ) async -> Storing? {
        let (stored, range) = (look.candidates[index], look.candidates[index].entry.body.range)
        guard range.contains(draft.start) || draft.start == range.upperBound, !sending.isAlone(draft),
            let writer = await writer(for: draft, behind: stored, look, &sending)
        else { return nil }
        return Storing(
            writer: writer, draft: draft, replaced: [stored], known: range.upperBound - draft.start,
            whenStored: sending.whenStored)
    }

    private func writer(
        for draft: CacheDraft, behind stored: StoredResponse, _ look: Look, _ sending: inout Sending
    ) async -> (any ResponseWriter)? {
        do throws(CacheDamage) {
            return try await cache.store.writer(
                for: draft.entry.key, length: draft.expectedCount, behind: stored, since: look.removals,
                within: sending.bodyStoreWait)
        } catch {
            sending.useless.insert(stored.id)
            return nil
        }
    }
}

extension Sending {
    /// Whether a response varies by a field that the session's observers have added, such as `traceparent`. They add it
    /// after the cache was asked, and mostly another value each time, so the response would only take the place of
    /// others (RFC 9111 §4.1).
    fileprivate func isAlone(_ draft: CacheDraft) -> Bool {
        !added.isEmpty && draft.entry.selecting.members.contains { added.contains($0.name) }
    }
}
