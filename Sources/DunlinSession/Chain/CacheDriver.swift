internal import DunlinCache
internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport
internal import Synchronization

/// The work of `CacheStage` for one call, hop by hop.
final class CacheDriver: StageDriver {
    let cache: HTTPSession.Cache
    private let mode: HTTPSession.CacheMode
    /// The time before which nothing was stored that may be served; nil for any.
    private let oldest: Int64?
    /// The machine; nil before the cache was asked about the current hop.
    private(set) var machine: CacheMachine?
    /// The stored responses for the request, as the machine knows them.
    var candidates: [StoredResponse] = []
    private var sending: CacheSending?
    /// The access of the current hop.
    private(set) var access: Access?
    /// Whether the hop's answer was for another user than the one who asked; it is then sent as if there were no cache.
    private var passesBy = false
    private(set) var sentAt: Int64 = 0
    /// The count of removals when the request was sent: anything removed later is newer than its answer.
    private(set) var removals: UInt64?
    /// Whether an answer has been refused already.
    private var isRetry = false
    /// The stored response that was served, or joined with what came.
    var served: StoredResponse?
    /// Stored responses that turned out to be useless.
    var useless: Set<UInt64> = []

    init(_ cache: HTTPSession.Cache, _ mode: HTTPSession.CacheMode, oldest: Int64?) {
        (self.cache, self.mode, self.oldest) = (cache, mode, oldest)
    }

    func movedOn() {
        forget()
        (useless, passesBy) = ([], false)
    }

    func startOver() {
        movedOn()
        isRetry = true
    }

    // MARK: - Before anything is sent

    func judgesWay(of request: TransportRequest) -> Bool { machine == nil }

    func answer(_ request: TransportRequest, _ call: LiveCall) async throws -> StageAnswer? {
        if machine != nil { return nil }
        let access = try call.access(to: request)
        // A stored answer dials nothing, so everything that can be judged is judged before one is looked for.
        if let refusal = access.refusal { throw NetworkError(refusal, request.head.origin) }
        self.access = access
        let asked = asked(access, request)
        while true {
            candidates = await found(asked, call)
            var machine = CacheMachine(
                asked, candidates: candidates.map(\.entry), rules: call.chain.settings.cacheRules)
            let action = machine.begin(at: cache.now)
            self.machine = consume machine
            switch action {
            case .send(let sending):
                self.sending = sending
                return nil
            case .serve(let serving):
                if let revalidation = serving.revalidation, !call.mayAskInBackground {
                    sending = revalidation
                    return nil
                }
                let hop = Self.hop(call)
                guard let body = try await body(of: candidates[serving.index], as: serving.form, hop, call) else {
                    continue
                }
                if serving.revalidation != nil { call.session.revalidate(request, asked, insteadOf: call.asked) }
                return answer(serving, body, nil, hop, call)
            case .unavailable:
                throw NetworkError(
                    .notCached,
                    "the cache has no usable response for \(asked.key.described(hiding: access.secretFields)), "
                        + "and the request may not use the network",
                    phase: .pool, isSafeToRetry: true, peer: request.head.origin.description)
            }
        }
    }

    private func asked(_ access: Access, _ request: TransportRequest) -> CacheRequest {
        let passesBy = passesBy || !access.isKept || (request.head.method == .get && !request.body.isNone)
        let asked = CacheRequest(
            access.head, by: access.asker, mode: mode.rules, passesBy: passesBy, isRetry: isRetry)
        return oldest.map { asked.answeredOnly(since: $0) } ?? asked
    }

    private func found(_ asked: CacheRequest, _ call: LiveCall) async -> [StoredResponse] {
        guard asked.head.method == .get || asked.head.method == .head, asked.mode != .off, !asked.passesBy else {
            return []
        }
        var found = cache.store.responsesAtHand(for: asked.key)
        if found == nil { found = await cache.store.responses(for: asked.key, within: call.storeWait) }
        return useless.isEmpty ? found ?? [] : (found ?? []).filter { !useless.contains($0.id) }
    }

    func sending(_ request: TransportRequest, _ call: LiveCall) async throws -> TransportRequest {
        guard let sending, let machine else { return request }
        sentAt = cache.now
        removals = cache.store.removals(of: machine.request.key)
        guard let fields = sending.changing(request.head.fields, since: machine.request.head.fields),
            fields != request.head.fields
        else { return request }
        return request.with { $0.head.fields = fields }
    }

    // MARK: - Afterwards

    func received(_ response: TransportResponse, _ call: LiveCall) async throws -> StageAction {
        guard sending != nil else { return .pass(response) }
        let receivedAt = cache.now
        let fields = (call.sent ?? call.request).head.fields
        let asker = access.flatMap { $0.asker(after: response.head, call.asking) }
        // In place: a copy of the machine would be one of the request and its fields.
        guard
            let update = machine?.answered(
                by: response.head, to: fields, for: asker, sentAt: sentAt, receivedAt: receivedAt)
        else { return .pass(response) }
        let isTheirs = isTheirs(response.hop, call)
        if !isTheirs, !update.delivery.isOfNetwork {
            // The stored response is another user's, and what came is not part of it.
            passesBy = true
            return again(after: try await call.discard(response), call)
        }
        if case .joined(let index, _) = update.delivery, !isRest(response, of: candidates[index], call) {
            return try await again(without: candidates[index], response, call)
        }
        var changes =
            isTheirs
            ? try await decided(update, response.head, receivedAt, asker, call)
            : update.changes.filter(\.isInvalidation)
        let removesServed = update.delivery.stored.map { changes.remove($0) } ?? false
        let (passed, storing) = await apply(changes, to: response, call)
        var status = update.status
        // Whether it is stored is known when its body has ended.
        status.isStored = false
        switch update.delivery {
        case .network: return pass(passed, status, storing, call)
        case .stored(let serving):
            let hop = try await call.discard(passed)
            guard let body = try await body(of: candidates[serving.index], as: serving.form, hop, call) else {
                return again(after: hop, call)
            }
            // The body is open by now.
            if removesServed { await cache.store.remove([candidates[serving.index]], within: call.storeWait) }
            let answer = answer(serving, body, status, hop, answered: response.head, call)
            return .pass(answer.response, answer.notes)
        case .joined(let index, let head):
            guard let joined = try await joined(candidates[index], head, passed, response, call) else {
                return try await again(without: candidates[index], passed, call)
            }
            return pass(joined, status, storing, call)
        case .again(let sending):
            self.sending = sending
            let hop = try await call.discard(passed)
            return .again(.send(.cache), StageNotes(callHistory: call.callHistory.adding(hop)))
        }
    }

    private func pass(
        _ response: TransportResponse, _ status: CacheStatus, _ storing: StoringOutcome?, _ call: LiveCall
    ) -> StageAction {
        // Nothing more is decided, and undelivered responses need not be kept.
        (sending, candidates) = (nil, [])
        cache.misses.add(1, ordering: .relaxed)
        let use = HTTPSession.CacheUse(.network, status)
        return .pass(response, StageNotes(callHistory: call.callHistory.noting(use, storing)))
    }

    /// Sends the request again, ignoring a stored response.
    private func again(
        without stored: StoredResponse, _ response: TransportResponse, _ call: LiveCall
    ) async throws -> StageAction {
        await reject(stored, call)
        return again(after: try await call.discard(response), call)
    }

    /// Looks for stored responses again.
    private func again(after hop: HTTP.Hop, _ call: LiveCall) -> StageAction {
        forget()
        return .again(.send(.cache), StageNotes(callHistory: call.callHistory.adding(hop)))
    }

    private func forget() {
        (machine, sending, served, candidates) = (nil, nil, nil, [])
    }

    /// Whether what came is for the user who asked, and of what was asked for.
    private func isTheirs(_ hop: HTTP.Hop, _ call: LiveCall) -> Bool {
        let confirmation = access.map { call.confirmation(of: $0, over: hop) } ?? .confirmed
        return confirmation == .confirmed && (call.sent ?? call.request).body.isNone == call.request.body.isNone
    }

    func undelivered(_ error: any Error, _ call: LiveCall) async throws -> StageAction {
        guard let failure = error as? NetworkError, call.cancellation.cause == nil else { return .fail(error) }
        if failure.code == .invalidContent { await call.forgetStored() }
        guard let served, failure.underlying is CacheDamage || failure.code == .invalidContent else {
            return .fail(error)
        }
        await reject(served, call)
        // Nothing was sent for a response that was served without asking.
        guard let hop = failure.hop, hop.bytesSent > 0 else {
            forget()
            return .again(.send(.cache))
        }
        return again(after: hop, call)
    }

    /// May serve a stored response in place of an error.
    func failed(_ error: any Error, _ call: LiveCall) async throws -> StageAction {
        guard let answer = try await replacement(for: error, call) else { return .fail(error) }
        return .pass(answer.response, answer.notes)
    }

    private func replacement(for error: any Error, _ call: LiveCall) async throws -> StageAnswer? {
        guard let machine, sending != nil, call.cancellation.cause == nil, let failure = error as? NetworkError,
            // A failed connection proves nothing, so the user must be the same.
            Self.isOrigins(failure), isTheirs(HTTP.Hop(), call),
            let update = machine.failed(at: cache.now), case .stored(let serving) = update.delivery
        else { return nil }
        let hop = failure.hop ?? Self.hop(call)
        guard let body = try await body(of: candidates[serving.index], as: serving.form, hop, call) else { return nil }
        return answer(serving, body, update.status, hop, call)
    }

    /// Whether the origin itself cannot be reached, or broke off.
    private static func isOrigins(_ failure: NetworkError) -> Bool {
        switch failure.code {
        case .connectionFailed, .connectionClosed, .nameNotResolved, .proxyFailed: true
        case .timedOut: failure.exceeded != .total
        default: false
        }
    }
}

extension [CacheUpdate.Change] {
    /// Takes the removal of this one stored response out. Returns whether it was there.
    fileprivate mutating func remove(_ candidate: Int) -> Bool {
        let count = count
        removeAll { if case .remove([candidate]) = $0 { true } else { false } }
        return self.count < count
    }
}

extension CacheUpdate.Delivery {
    /// The stored response that is served.
    fileprivate var stored: Int? {
        if case .stored(let serving) = self { serving.index } else { nil }
    }

    fileprivate var isOfNetwork: Bool {
        if case .network = self { true } else { false }
    }
}

extension CacheUpdate.Change {
    /// Whether the change removes entries that a request made outdated, whoever sent it.
    fileprivate var isInvalidation: Bool {
        if case .invalidate = self { true } else { false }
    }
}

// MARK: - What is served

extension CacheDriver {
    private func answer(
        _ serving: CacheServing, _ body: TransportResponse.Body, _ status: CacheStatus?, _ hop: HTTP.Hop,
        answered: ResponseHead? = nil, _ call: LiveCall
    ) -> StageAnswer {
        let stored = candidates[serving.index]
        (served, candidates, sending) = (stored, [], nil)
        var known = CacheStatus(.hit)
        known.remaining = serving.remaining
        // A 304 confirms the stored response; a failure does not. A response that was just confirmed is not stale,
        // though it may not be served again without asking (RFC 9111 §4.2.4).
        let isRevalidated = answered?.status == .notModified
        let isStale = serving.isStale && !isRevalidated
        if isRevalidated { cache.revalidated.add(1, ordering: .relaxed) } else { cache.hits.add(1, ordering: .relaxed) }
        if isStale { cache.stale.add(1, ordering: .relaxed) }
        let use = HTTPSession.CacheUse(
            stored.level == .memory ? .memory : .disk, isRevalidated: isRevalidated, isStale: isStale,
            age: serving.age, status ?? known)
        call.note(.servedFromCache(use))
        var hop = hop
        if case .bytes(let bytes) = body { (hop.bodyBytes, hop.decodedBytes) = (bytes.count, bytes.count) }
        let response = TransportResponse(
            head: serving.head, interim: [], body: body, hop: hop, answering: nil,
            hiding: call.session.configuration.secretFields)
        return StageAnswer(
            response: response,
            notes: StageNotes(
                callHistory: call.callHistory.noting(use, nil, stored: stored.entry.whose), hasMadeBody: false))
    }

    /// The hop of a response for which nothing was sent.
    private static func hop(_ call: LiveCall) -> HTTP.Hop {
        var hop = HTTP.Hop()
        hop.started = call.start
        hop.ended = call.loop.now()
        return hop
    }
}

// MARK: - What is stored

extension CacheDriver {
    /// Changes what is stored. Returns the response, with a body that is stored as it is read if it is to be stored,
    /// and the outcome of that.
    private func apply(
        _ changes: [CacheUpdate.Change], to response: TransportResponse, _ call: LiveCall
    ) async -> (response: TransportResponse, storing: StoringOutcome?) {
        var storing: Storing?
        let wait = call.storeWait
        for change in changes {
            switch change {
            case .store(let draft, let replaced): storing = await self.storing(draft, replacing: replaced, call)
            case .extend(let index, let draft): storing = await extending(index, draft, call)
            case .update(let index, let entry):
                await cache.store.update(candidates[index], to: entry, within: wait)
            case .remove(let indices): await cache.store.remove(indices.map { candidates[$0] }, within: wait)
            case .invalidate(let keys):
                await cache.store.remove(keys, within: wait)
                // What the answer itself removes is older than it.
                if let machine { removals? += cache.store.removals(of: machine.request.key, by: keys) }
            }
        }
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
}
