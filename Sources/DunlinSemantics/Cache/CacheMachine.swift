package import DunlinTypes

/// One request and a private cache (RFC 9111): what is served, what is sent, and what is stored.
///
/// Knows the request, the stored responses of its URL and the rules. Must not know where responses are stored, nor what
/// time it is. `begin` comes first. If it says to send something, `answered` comes with each final head or `failed`
/// once; while `answered` says to ask again, there is another. What is asked while something stale is served is the
/// same, but that nobody waits for what would be delivered.
///
/// 1. Of the candidates those are chosen from that are for whom the request is made, and that its fields select; the
///    newest is the chosen one (§4.1).
/// 2. A condition of the request's own is judged on it where it may be served, and goes to the origin where not.
/// 3. What may not be served is asked about, and served after all if the origin confirms it (§4.3).
/// 4. What the origin sends instead is stored, if it may be, in place of all that the request selects.
package struct CacheMachine: Sendable {
    package let request: CacheRequest
    package let candidates: [CacheEntry]
    package let rules: CacheRules
    let directives: RequestDirectives
    let conditions: RequestConditions
    /// The hash of who asks; nil for nobody, and if no candidate is one user's.
    private let user: Bytes?
    /// The candidate that is served or revalidated.
    private(set) var chosen: Int?
    /// The question that was sent last.
    private(set) var sent: CacheSending?

    /// Creates the machine; `candidates` are all entries under the request's key, in any order.
    package init(_ request: consuming CacheRequest, candidates: [CacheEntry], rules: CacheRules) {
        self.init(of: request, candidates, rules)
        chosen = best
    }

    private init(of request: consuming CacheRequest, _ candidates: [CacheEntry], _ rules: CacheRules) {
        directives = RequestDirectives(request.head.fields)
        conditions = RequestConditions(request.head.fields)
        // Most are for everybody, and then the user need not be known.
        let isOwned = candidates.contains { $0.owner.user != nil }
        user = isOwned ? CacheOwner.user(of: request.asker, rules) : nil
        self.request = request
        self.candidates = candidates
        self.rules = rules
    }

    /// The candidates that the request selects.
    var selected: [Int] { candidates.indices.filter { isSelected(candidates[$0]) } }

    private func isSelected(_ entry: CacheEntry) -> Bool {
        entry.key == request.key && entry.sentAt >= request.oldest && entry.owner.hasTerms(of: request.asker)
            && (entry.owner.user.map { $0 == user } ?? !request.asker.mayGain(whatIsAbsentIn: entry.selecting))
            && entry.selecting.matches(request.head.fields, rules)
    }

    /// The newest of the selected candidates; those for some requests come before those for all.
    private var best: Int? {
        var best: Int?
        for index in candidates.indices where isSelected(candidates[index]) {
            if let known = best, !candidates[index].isBetter(than: candidates[known]) { continue }
            best = index
        }
        return best
    }

    package mutating func begin(at now: Int64) -> CacheAction {
        let action = action(at: now)
        switch action {
        case .serve(let serving): sent = serving.revalidation
        case .send(let sending): sent = sending
        case .unavailable: sent = nil
        }
        return action
    }

    /// Takes a final head. `sentAt` and `receivedAt` are the times of the request and of the head; `fields` are those
    /// that were sent, if some were added after the cache was asked. `asker` is who would ask again, if the answer's
    /// cookies have changed that: a new response is stored for them. What is confirmed stays whose it was, and those
    /// cookies are not stored with it.
    package mutating func answered(
        by head: ResponseHead, to fields: Fields? = nil, for asker: CacheAsker? = nil, sentAt: Int64, receivedAt: Int64
    ) -> CacheUpdate {
        var (head, asked) = (head, request)
        if let asker {
            if head.status == .notModified || asked.head.method == .head {
                head.fields.remove("set-cookie")
            } else {
                asked = asked.asked(by: asker)
            }
        }
        let exchange = Storability.Exchange(
            request: fields.map { asked.sent(with: $0, answeredBy: head) } ?? asked, head: head,
            sent: fields ?? request.head.fields, secretFields: rules.secretFields, sentAt: sentAt,
            receivedAt: receivedAt)
        let update = update(after: exchange)
        if case .again(let sending) = update.delivery { sent = sending }
        return update
    }
}

// MARK: - Before anything is sent

extension CacheMachine {
    private func action(at now: Int64) -> CacheAction {
        guard isReading else { return send(.method) }
        if isBypassed { return send(.bypass) }
        if request.mode == .reloading || conditions.areForOrigin { return send(.request) }
        guard let chosen else { return send(candidates.isEmpty ? .uriMiss : .varyMiss) }
        let entry = candidates[chosen]
        guard let form = conditions.form(of: entry, for: request.head.method) else { return complete(chosen) }
        switch usability(of: entry, at: now) {
        case .servable: return .serve(serving(chosen, as: form, at: now))
        case .whileRevalidating:
            let revalidation = isOffline ? nil : question(about: chosen, .stale)
            return .serve(serving(chosen, as: form, at: now, revalidation: revalidation))
        case .unusable(let reason):
            return isOffline ? .unavailable : .send(question(about: chosen, reason))
        }
    }

    /// Whether the cache is neither read nor written for this request.
    var isBypassed: Bool { request.mode == .off || directives.isNoStore || request.bypassesCache }

    private var isReading: Bool { request.head.method == .get || request.head.method == .head }

    var isOffline: Bool {
        request.mode == .storedOnly || (directives.isOnlyIfCached && request.mode != .off)
    }

    func serving(
        _ index: Int, as form: CachedForm, of entry: CacheEntry? = nil, at now: Int64, revalidation: CacheSending? = nil
    ) -> CacheServing {
        let entry = entry ?? candidates[index]
        return CacheServing(
            index: index, form: form, head: entry.head(as: form, at: now), age: entry.freshness.age(at: now),
            remaining: entry.freshness.remaining(at: now), revalidation: revalidation)
    }
}

// MARK: - What is sent

extension CacheMachine {
    private func send(_ reason: CacheStatus.Forward) -> CacheAction {
        isOffline ? .unavailable : .send(plain(reason))
    }

    func plain(_ reason: CacheStatus.Forward) -> CacheSending {
        CacheSending(purpose: .whole, reason: reason, fields: fieldsForCaches)
    }

    /// The fields for caches on the way, which repeat the mode unless the request has its own.
    private var fieldsForCaches: Fields {
        var fields = request.head.fields
        guard isReading, !fields.contains("cache-control") else { return fields }
        switch request.mode {
        case .reloading, .off:
            fields.append(name: "Cache-Control", value: "no-cache")
            if !fields.contains("pragma") { fields.append(name: "Pragma", value: "no-cache") }
        case .validating: fields.append(name: "Cache-Control", value: "max-age=0")
        case .standard, .preferringStored, .storedOnly: break
        }
        return fields
    }

    /// Returns the request with the candidate's validators; unchanged if there are none, or if it has conditions of its
    /// own.
    private func question(about index: Int, _ reason: CacheStatus.Forward) -> CacheSending {
        let entry = candidates[index]
        guard entry.isAskable, !conditions.areOwn else { return plain(reason) }
        var fields = fieldsForCaches
        fields.remove("if-none-match")
        fields.remove("if-modified-since")
        if let tag = entry.entityTag { fields.append(name: "If-None-Match", rawValue: tag.bytes) }
        // A date beside a tag helps servers without tags; for a part it is not enough (§4.3.1).
        if let date = entry.fields["last-modified"], entry.lastModified != nil,
            entry.entityTag == nil || !conditions.isForPart
        {
            fields.append(name: "If-Modified-Since", value: date)
        }
        return CacheSending(purpose: .validation(index), reason: reason, fields: fields)
    }

    /// Whether the bytes of an entry may be joined with what comes now: servers may give two users' pages one tag, and
    /// what is for everybody, because nobody asked for it or it says so, may be made for who asks now.
    func isOfAsker(_ entry: CacheEntry) -> Bool {
        let isSomebodys = entry.owner.user == nil && entry.wasNamed
        return !isSomebodys && !entry.hasEverybodysBody && CacheOwner.user(of: request.asker, rules) == entry.owner.user
    }

    /// The fields that ask about the chosen candidate, and nothing else of the request.
    var validation: Fields {
        guard let chosen, !conditions.areOwn else { return Fields() }
        return question(about: chosen, .stale).fields.filtered { Self.ofValidation.contains($0) }
    }

    private static let ofValidation: Set<String> = ["if-none-match", "if-modified-since"]

    /// Asks for the missing end of an entry, if it can be joined (§3.4).
    private func complete(_ index: Int) -> CacheAction {
        let entry = candidates[index]
        guard !isOffline, request.head.method == .get, !conditions.isForPart, !conditions.areOwn,
            case .part(let range, _) = entry.body, range.lowerBound == 0, let validator = entry.validator,
            isOfAsker(entry)
        else { return send(.partial) }
        var fields = fieldsForCaches
        fields.remove("if-range")
        fields.append(name: "Range", value: "bytes=\(range.upperBound)-")
        fields.append(name: "If-Range", value: validator.description)
        return .send(CacheSending(purpose: .rest(index), reason: .partial, fields: fields))
    }
}
