package import DunlinTypes

/// What an answer of the network means for what is stored (RFC 9111 §3, §4.3.3 to §4.4).
extension CacheMachine {
    func update(after exchange: Storability.Exchange) -> CacheUpdate {
        let method = request.head.method
        if method == .head { return afterHead(exchange) }
        guard method == .get else { return afterOther(exchange) }
        if isBypassed { return network(exchange) }
        switch exchange.head.status {
        case .rangeNotSatisfiable where isRest, .notModified where isRest: return again(exchange)
        case .notModified: return afterNotModified(exchange)
        case .partialContent: return afterPart(exchange)
        default: return replacement(exchange) ?? afterWhole(exchange)
        }
    }

    /// Notes that the network failed before a head came. Returns nil if nothing stored may replace the response.
    package func failed(at now: Int64) -> CacheUpdate? {
        guard let chosen, let form = conditions.form(of: candidates[chosen], for: request.head.method),
            mayReplaceFailure(candidates[chosen], isDisconnected: true, at: now)
        else { return nil }
        var status = CacheStatus(.forwarded(sent?.reason ?? .stale))
        status.detail = "stale-if-error"
        let serving = serving(chosen, as: form, at: now)
        status.remaining = serving.remaining
        return CacheUpdate(delivery: .stored(serving), changes: [], status: status)
    }

    /// Returns a stored response to serve instead of an origin's failure.
    private func replacement(_ exchange: Storability.Exchange) -> CacheUpdate? {
        guard exchange.head.status.isOriginFailure, let chosen,
            let form = conditions.form(of: candidates[chosen], for: request.head.method),
            mayReplaceFailure(candidates[chosen], isDisconnected: false, at: exchange.receivedAt)
        else { return nil }
        return stored(serving(chosen, as: form, at: exchange.receivedAt), [], exchange, detail: "stale-if-error")
    }

    private func afterWhole(_ exchange: Storability.Exchange) -> CacheUpdate {
        if let draft = Storability.draft(of: exchange, rules) {
            return network(exchange, [.store(draft, replacing: selected)])
        }
        // There is something newer that must not be stored, or nothing any more.
        let status = exchange.head.status
        let isOutdated = status.isSuccess || status == .notFound || status == .gone
        return network(exchange, isOutdated && !selected.isEmpty ? [.remove(selected)] : [])
    }

    private func afterOther(_ exchange: Storability.Exchange) -> CacheUpdate {
        let keys = Invalidation.keys(after: request.head, exchange.head)
        guard !keys.isEmpty else { return network(exchange) }
        var changes: [CacheUpdate.Change] = [.invalidate(keys)]
        if request.mode != .off, !request.bypassesCache, let draft = Storability.draft(of: exchange, rules) {
            changes.append(.store(draft, replacing: []))
        }
        return network(exchange, changes)
    }
}

// MARK: - Confirmed by the origin

extension CacheMachine {
    /// Handles a 304. If the condition was the cache's, it is about that entry; if the caller's, it is delivered, and
    /// confirms the entry that it names.
    private func afterNotModified(_ exchange: Storability.Exchange) -> CacheUpdate {
        guard case .validation(let index) = sent?.purpose else {
            let confirmed = selected.filter {
                let entry = candidates[$0]
                return Confirmation.names(entry, in: exchange.head.fields) ?? conditions.areMet(by: entry)
            }
            return network(exchange, conditions.areOwn ? confirmed.map { updating($0, exchange).change } : [])
        }
        let entry = candidates[index]
        guard Confirmation.names(entry, in: exchange.head.fields) ?? true,
            let form = conditions.form(of: entry, for: request.head.method)
        else { return again(exchange) }
        let (updated, change) = updating(index, exchange)
        return stored(serving(index, as: form, of: updated, at: exchange.receivedAt), [change], exchange)
    }

    /// Returns the entry to serve, and the change to the stored one.
    private func updating(
        _ index: Int, _ exchange: Storability.Exchange
    ) -> (entry: CacheEntry, change: CacheUpdate.Change) {
        let updated = candidates[index].updated(by: exchange, rules: rules)
        return updated.map { ($0, .update(index, $0)) } ?? (candidates[index], .remove([index]))
    }

    /// Returns an entry that the origin has confirmed with these fields instead; nil if it must not be kept with them.
    /// `sent` are the fields that were sent.
    package func changed(_ entry: CacheEntry, to fields: Fields, sentWith sent: Fields) -> CacheEntry? {
        let directives = ResponseDirectives(fields)
        if directives.isNoStore { return nil }
        // The body stays as it is, and so do the fields about it.
        let body = entry.fields.filtered { StoredFields.ofBody.contains($0) }
        let fields = StoredFields.stored(of: fields, directives, receivedAt: entry.receivedAt)
            .filtered { !StoredFields.ofBody.contains($0) }.overlaid(with: body)
        let head = ResponseHead(status: entry.status, fields: fields)
        let asked = request.sent(with: sent, answeredBy: head)
        return entry.with(fields: fields, for: asked, sentAt: entry.sentAt, receivedAt: entry.receivedAt, rules)
    }

    /// Handles a HEAD's answer, which is what a GET's would be (§4.3.5): it confirms entries that agree, and casts
    /// doubt on others.
    private func afterHead(_ exchange: Storability.Exchange) -> CacheUpdate {
        if isBypassed { return network(exchange) }
        switch exchange.head.status {
        case .notModified: return afterNotModified(exchange)
        case .ok:
            return network(
                exchange,
                selected.map { index in
                    Confirmation.agrees(candidates[index], with: exchange.head.fields)
                        ? updating(index, exchange).change : .update(index, candidates[index].doubted())
                })
        case .notFound, .gone:
            return network(exchange, selected.map { .update($0, candidates[$0].doubted()) })
        default: return replacement(exchange) ?? network(exchange)
        }
    }
}

// MARK: - Parts

extension CacheMachine {
    private var isRest: Bool {
        if case .rest = sent?.purpose { true } else { false }
    }

    /// Handles a part: joins it to a touching part of the same state (§3.4), or stores it alone.
    private func afterPart(_ exchange: Storability.Exchange) -> CacheUpdate {
        let draft = Storability.draft(of: exchange, rules)
        if case .rest(let index) = sent?.purpose { return afterRest(of: index, exchange, draft) }
        guard conditions.isForPart, let draft else { return network(exchange) }
        guard let chosen, candidates[chosen].validator?.agreement(with: exchange.head.fields) == .same else {
            return network(exchange, [.store(draft, replacing: selected)])
        }
        let stored = candidates[chosen].body
        if stored.isWhole { return network(exchange, [updating(chosen, exchange).change]) }
        let isSame = isOfAsker(candidates[chosen]) && candidates[chosen].wasNamed == exchange.isNamed
        guard draft.touches(stored), isSame else {
            return network(exchange, [.store(draft, replacing: selected)])
        }
        return network(exchange, [.extend(chosen, draft.joining(stored, as: updating(chosen, exchange).entry))])
    }

    private func afterRest(of index: Int, _ exchange: Storability.Exchange, _ draft: CacheDraft?) -> CacheUpdate {
        let entry = candidates[index]
        guard case .part(let range, let complete)? = ContentRange(exchange.head.fields),
            range.lowerBound == entry.body.range.upperBound, let complete, range.upperBound == complete,
            entry.body.complete.map({ $0 == complete }) ?? true,
            entry.validator?.agreement(with: exchange.head.fields) == .same, entry.wasNamed == exchange.isNamed
        else { return again(exchange) }
        let updated = updating(index, exchange).entry
        let head = updated.joinedHead(length: complete, at: exchange.receivedAt)
        let change: CacheUpdate.Change =
            draft.map { .extend(index, $0.joining(entry.body, as: updated)) } ?? .remove([index])
        return CacheUpdate(
            delivery: .joined(index: index, head: head), changes: [change], status: status(exchange, isStored: true))
    }
}

// MARK: - Updates

extension CacheMachine {
    private func network(_ exchange: Storability.Exchange, _ changes: [CacheUpdate.Change] = []) -> CacheUpdate {
        let isStored = changes.contains { change in
            switch change {
            case .store, .extend: true
            case .update, .remove, .invalidate: false
            }
        }
        return CacheUpdate(delivery: .network, changes: changes, status: status(exchange, isStored: isStored))
    }

    private func stored(
        _ serving: CacheServing, _ changes: [CacheUpdate.Change], _ exchange: Storability.Exchange,
        detail: String? = nil
    ) -> CacheUpdate {
        var status = status(exchange, isStored: false)
        (status.remaining, status.detail) = (serving.remaining, detail)
        return CacheUpdate(delivery: .stored(serving), changes: changes, status: status)
    }

    /// Sends the request again without conditions, as the answer fits none of them. The new response replaces the
    /// entry.
    private func again(_ exchange: Storability.Exchange) -> CacheUpdate {
        CacheUpdate(
            delivery: .again(plain(sent?.reason ?? .stale)), changes: [], status: status(exchange, isStored: false))
    }

    private func status(_ exchange: Storability.Exchange, isStored: Bool) -> CacheStatus {
        var status = CacheStatus(.forwarded(sent?.reason ?? .bypass))
        status.forwardStatus = exchange.head.status
        status.isStored = isStored
        return status
    }
}
