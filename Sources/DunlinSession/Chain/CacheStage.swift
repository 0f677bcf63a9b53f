internal import DunlinCache
internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport
internal import Synchronization

/// Answers requests from the session's cache, and stores what the network answers, by the rules of `CacheMachine`.
///
/// Its place is where each hop is seen separately and nothing has been added yet that changes from one sending to the
/// next, so what authentication adds selects no variant.
struct CacheStage: Stage {
    let cache: HTTPSession.Cache
    let mode: HTTPSession.CacheMode

    /// A look at what is stored for a request, and what came of it.
    struct Look {
        /// What was asked for.
        let request: TransportRequest
        let access: Access
        var machine: CacheMachine
        /// The stored responses for the request, as the machine knows them.
        let candidates: [StoredResponse]
        var sentAt: Int64 = 0
        /// The count of removals when the request was sent: anything removed later is newer than its answer.
        var removals: UInt64?
    }

    /// What comes of an answer.
    private enum Step {
        case pass(TransportResponse)
        /// Ask the server otherwise.
        case ask(CacheSending)
        /// Look for stored responses again; `bypassesCache`: as if there were no cache, because the answer was for
        /// another user than the one who asked.
        case look(bypassesCache: Bool)
    }

    func interest(in sending: Sending) -> StageInterest { .everything }

    func send(
        _ request: TransportRequest, _ sending: inout Sending, _ next: Next
    ) async throws -> TransportResponse {
        var bypassesCache = false
        while true {
            var look = try await look(for: request, bypassesCache, &sending)
            var (step, hasAsked) = (try await begin(&look, &sending), false)
            while case .ask(let question) = step {
                if hasAsked { try sending.again(.cache) }
                hasAsked = true
                step = try await ask(question, &look, &sending, next)
            }
            if case .pass(let response) = step { return response }
            if case .look(bypassesCache: true) = step { bypassesCache = true }
            if hasAsked { try sending.again(.cache) }
        }
    }

    // MARK: - Before anything is sent

    private func look(
        for request: TransportRequest, _ bypassesCache: Bool, _ sending: inout Sending
    ) async throws -> Look {
        let access = try sending.access(to: request)
        // A stored answer dials nothing, so everything that can be judged is judged before one is looked for.
        if let refusal = access.refusal { throw NetworkError(refusal, request.head.origin) }
        let options = sending.delegate.settings?.options
        let bypassesCache = bypassesCache || !access.isKept || (request.head.method == .get && !request.body.isNone)
        var question = CacheRequest(
            access.head, by: access.asker, mode: ((options?.cacheMode ?? .session).resolved(mode) ?? .off).rules,
            bypassesCache: bypassesCache, isRetry: sending.isRetry)
        if let oldest = options?.oldestStored { question = question.answeredOnly(since: oldest) }
        let candidates = await found(question, sending)
        return Look(
            request: request, access: access,
            machine: CacheMachine(
                question, candidates: candidates.map(\.entry), rules: sending.chain.settings.cacheRules),
            candidates: candidates)
    }

    private func found(_ question: CacheRequest, _ sending: Sending) async -> [StoredResponse] {
        guard question.head.method == .get || question.head.method == .head, question.mode != .off,
            !question.bypassesCache
        else {
            return []
        }
        var found = cache.store.responsesAtHand(for: question.key)
        if found == nil { found = await cache.store.responses(for: question.key, within: sending.storeWait) }
        let useless = sending.useless
        return useless.isEmpty ? found ?? [] : (found ?? []).filter { !useless.contains($0.id) }
    }

    private func begin(_ look: inout Look, _ sending: inout Sending) async throws -> Step {
        switch look.machine.begin(at: cache.now) {
        case .send(let question): return .ask(question)
        case .serve(let serving):
            if let revalidation = serving.revalidation, !sending.mayAskInBackground { return .ask(revalidation) }
            let (hop, stored) = (sending.hopOfStored, look.candidates[serving.index])
            guard let body = try await body(of: stored, as: serving.form, hop, &sending) else {
                return .look(bypassesCache: false)
            }
            if serving.revalidation != nil {
                sending.session.revalidate(look.request, look.machine.request, insteadOf: sending.call)
            }
            try sending.checkCancellation()
            return .pass(answer(serving, stored, body, nil, hop, &sending))
        case .unavailable:
            throw NetworkError(
                .notCached,
                "the cache has no usable response for "
                    + "\(look.machine.request.key.described(hiding: look.access.secretFields)), "
                    + "and the request may not use the network",
                phase: .pool, isSafeToRetry: true, peer: look.request.head.origin.description)
        }
    }

    // MARK: - The server's answer

    private func ask(
        _ question: CacheSending, _ look: inout Look, _ sending: inout Sending, _ next: Next
    ) async throws -> Step {
        look.sentAt = cache.now
        look.removals = cache.store.removals(of: look.machine.request.key)
        let response: TransportResponse
        do {
            response = try await next(look.request.asking(question, look.machine.request.head.fields), &sending)
        } catch {
            guard let replacement = try await replacement(for: error, &look, &sending) else { throw error }
            return .pass(replacement)
        }
        return try await sending.judging(response) { try await answered(response, &look, &$0) }
    }

    private func answered(
        _ response: TransportResponse, _ look: inout Look, _ sending: inout Sending
    ) async throws -> Step {
        let (receivedAt, head) = (cache.now, response.head)
        let asker = look.access.asker(after: head, sending.asking)
        let update = look.machine.answered(
            by: head, to: look.sentFields(sending), for: asker, sentAt: look.sentAt, receivedAt: receivedAt)
        let isForSameUser = look.isForSameUser(response.hop, sending)
        if !isForSameUser, !update.delivery.isOfNetwork {
            // The stored response is another user's, and what came is not part of it.
            try await sending.discard(response)
            return .look(bypassesCache: true)
        }
        if case .joined(let index, _) = update.delivery, !isRest(response, of: look.candidates[index], sending) {
            return try await forget(look.candidates[index], response, &sending)
        }
        var changes =
            isForSameUser
            ? try await decided(update, head, receivedAt, asker, &look, sending)
            : update.changes.filter(\.isInvalidation)
        let removesServed = update.delivery.stored.map { changes.remove($0) } ?? false
        let (passed, storing) = await apply(changes, to: response, &look, &sending)
        var status = update.status
        // Whether it is stored is known when its body has ended.
        status.isStored = false
        switch update.delivery {
        case .network: return pass(passed, status, storing, &sending)
        case .stored(let serving):
            let (stored, hop) = (look.candidates[serving.index], try await sending.hop(discarding: passed))
            guard let body = try await body(of: stored, as: serving.form, hop, &sending) else {
                sending.callHistory.append(hop)
                return .look(bypassesCache: false)
            }
            // The body is open by now.
            if removesServed { await cache.store.remove([stored], within: sending.storeWait) }
            return .pass(answer(serving, stored, body, status, hop, answered: head, &sending))
        case .joined(let index, let head):
            let stored = look.candidates[index]
            guard let joined = try await joined(stored, head, passed, response, &sending) else {
                return try await forget(stored, passed, &sending)
            }
            return pass(joined, status, storing, &sending)
        case .again(let question):
            try await sending.discard(passed)
            return .ask(question)
        }
    }

    private func pass(
        _ response: TransportResponse, _ status: CacheStatus, _ storing: StoringOutcome?, _ sending: inout Sending
    ) -> Step {
        cache.misses.add(1, ordering: .relaxed)
        let use = HTTPSession.CacheUse(.network, status)
        sending.callHistory = sending.callHistory.noting(use, storing)
        return .pass(response)
    }

    /// Ignores a stored response to which the answer was to belong.
    private func forget(
        _ stored: StoredResponse, _ response: TransportResponse, _ sending: inout Sending
    ) async throws -> Step {
        await sending.reject(stored)
        try await sending.discard(response)
        return .look(bypassesCache: false)
    }

    /// A stored response in place of an error, if it may be served so.
    private func replacement(
        for error: any Error, _ look: inout Look, _ sending: inout Sending
    ) async throws -> TransportResponse? {
        guard sending.cancellation.cause == nil, let failure = error as? NetworkError,
            // A failed connection proves nothing, so the user must be the same.
            failure.isOfOrigin, look.isForSameUser(HTTP.Hop(), sending),
            let update = look.machine.failed(at: cache.now), case .stored(let serving) = update.delivery
        else { return nil }
        let (hop, stored) = (failure.hop ?? sending.hopOfStored, look.candidates[serving.index])
        guard let body = try await body(of: stored, as: serving.form, hop, &sending) else { return nil }
        return answer(serving, stored, body, update.status, hop, &sending)
    }

    // MARK: - What is served

    private func answer(
        _ serving: CacheServing, _ stored: StoredResponse, _ body: TransportResponse.Body, _ status: CacheStatus?,
        _ hop: HTTP.Hop, answered: ResponseHead? = nil, _ sending: inout Sending
    ) -> TransportResponse {
        sending.served = stored
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
        sending.note(.servedFromCache(use))
        sending.delegate.observation?.answered(sending.request.head, by: serving.head)
        sending.callHistory = sending.callHistory.noting(use, nil, stored: stored.entry.whose)
        sending.hasMadeBody = false
        var hop = hop
        if case .bytes(let bytes) = body { (hop.bodyBytes, hop.decodedBytes) = (bytes.count, bytes.count) }
        return TransportResponse(
            head: serving.head, interim: [], body: body, hop: hop, answering: sending.sent ?? sending.request,
            hiding: sending.session.configuration.secretFields)
    }
}

extension CacheStage.Look {
    /// The fields that were sent.
    func sentFields(_ sending: Sending) -> Fields { (sending.sent ?? request).head.fields }

    /// Whether what came is for the user who asked, and of what was asked for.
    fileprivate func isForSameUser(_ hop: HTTP.Hop, _ sending: Sending) -> Bool {
        sending.confirmation(of: access, over: hop) == .confirmed
            && (sending.sent ?? request).body.isNone == request.body.isNone
    }
}

extension TransportRequest {
    /// The request with the fields that a cache asks with; `looked` are those with which it was looked for.
    fileprivate func asking(_ question: CacheSending, _ looked: Fields) -> TransportRequest {
        guard let fields = question.changing(head.fields, since: looked), fields != head.fields else { return self }
        return with { $0.head.fields = fields }
    }
}

extension NetworkError {
    /// Whether the origin itself cannot be reached, or broke off.
    fileprivate var isOfOrigin: Bool {
        switch code {
        case .connectionFailed, .connectionClosed, .nameNotResolved, .proxyFailed, .circuitOpen, .rateLimited: true
        case .timedOut: exceeded != .total
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
