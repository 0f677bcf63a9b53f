internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport

/// What `CacheStage` does for one call, hop by hop.
final class CacheDriver: StageDriver {
    private let cache: HTTPSession.Cache
    private let mode: HTTPSession.CacheMode
    /// Nil before the cache was asked about the present hop.
    private var machine: CacheMachine?
    /// What is stored for the request, as the machine knows it.
    private var candidates: [StoredResponse] = []
    private var sending: CacheSending?
    private var sentAt: Int64 = 0

    init(_ cache: HTTPSession.Cache, _ mode: HTTPSession.CacheMode) {
        self.cache = cache
        self.mode = mode
    }

    func movedOn() { (machine, sending) = (nil, nil) }

    func startOver() { movedOn() }

    // MARK: - Before anything is sent

    func answer(_ request: TransportRequest, _ call: inout LiveCall) async throws -> TransportResponse? {
        if machine != nil { return nil }
        let head = call.chain.cookies(for: call.delegate)?.completing(request).head ?? request.head
        let asked = CacheRequest(head, mode: mode.rules, hasBody: !request.body.isNone)
        candidates = await found(asked)
        var machine = CacheMachine(asked, candidates: candidates.map(\.entry), rules: cache.rules)
        let action = machine.begin(at: cache.now)
        self.machine = machine
        switch action {
        case .send(let sending):
            self.sending = sending
            return nil
        case .serve(let serving):
            if serving.revalidation != nil { call.session.revalidate(request, asked.key, insteadOf: call.asked) }
            return served(serving, call: &call)
        case .unavailable:
            throw NetworkError(
                .notCached, "nothing is stored for \(asked.key) that may be served", phase: .pool, isSafeToRetry: true,
                peer: request.head.origin.description)
        }
    }

    private func found(_ asked: CacheRequest) async -> [StoredResponse] {
        guard asked.head.method == .get || asked.head.method == .head, asked.mode != .off, !asked.hasBody else {
            return []
        }
        return if let atHand = cache.store.responsesAtHand(for: asked.key) { atHand } else {
            await cache.store.responses(for: asked.key)
        }
    }

    func sending(_ request: TransportRequest, _ call: inout LiveCall) async throws -> TransportRequest {
        guard var fields = sending?.fields else { return request }
        sentAt = cache.now
        // The jar's are added later.
        if !request.head.fields.contains("cookie") { fields.remove("cookie") }
        return fields == request.head.fields ? request : request.with { $0.head.fields = fields }
    }

    // MARK: - Afterwards

    func received(_ response: TransportResponse, _ call: inout LiveCall) async throws -> StageAction {
        guard var machine, sending != nil else { return .pass(response) }
        let before = machine
        let receivedAt = cache.now
        let update = machine.answered(by: response.head, sentAt: sentAt, receivedAt: receivedAt)
        self.machine = machine
        let changes = try await decided(update, before, response.head, receivedAt, call)
        let passed = await apply(changes, to: response)
        switch update.delivery {
        case .network:
            cache.count { $0.misses += 1 }
            call.note(HTTPSession.CacheUse(.network, update.status))
            return .pass(passed)
        case .stored(let serving):
            let hop = try await call.discard(passed)
            return .pass(served(serving, update.status, hop, answered: response.head, call: &call))
        case .joined(let index, let head):
            cache.count { $0.misses += 1 }
            call.note(HTTPSession.CacheUse(.network, update.status))
            return .pass(joined(candidates[index], head, passed))
        case .again(let sending):
            self.sending = sending
            call.callHistory.append(try await call.discard(passed))
            return .again(.send)
        }
    }

    func replacement(for error: any Error, _ call: inout LiveCall) async throws -> TransportResponse? {
        guard let machine, sending != nil, call.cancellation.cause == nil, let failure = error as? NetworkError,
            Self.isOrigins(failure), let update = machine.failed(at: cache.now),
            case .stored(let serving) = update.delivery
        else { return nil }
        return served(serving, update.status, failure.hop, call: &call)
    }

    /// Whether it is the origin that cannot be reached, or breaks off.
    private static func isOrigins(_ failure: NetworkError) -> Bool {
        switch failure.code {
        case .connectionFailed, .connectionClosed, .nameNotResolved, .proxyFailed: true
        case .timedOut: failure.exceeded != .total
        default: false
        }
    }
}

// MARK: - What the hook says

extension CacheDriver {
    /// The changes that are left once the hook was asked about a response that is to be stored.
    private func decided(
        _ update: CacheUpdate, _ before: CacheMachine, _ head: ResponseHead, _ receivedAt: Int64, _ call: LiveCall
    ) async throws -> [CacheUpdate.Change] {
        guard update.changes.contains(where: \.isStoring), call.hasHook(\.willCache) else { return update.changes }
        let snapshot = call.snapshot
        switch try await call.ask(\.willCache, { await $0(head, snapshot) }) {
        case nil, .store: return update.changes
        case .skip: return update.changes.filter { !$0.isStoring }
        case .storeWith(let fields):
            var (machine, changed) = (before, head)
            changed.fields = fields
            return machine.answered(by: changed, sentAt: sentAt, receivedAt: receivedAt).changes
        }
    }
}

extension CacheUpdate.Change {
    fileprivate var isStoring: Bool {
        switch self {
        case .store, .extend: true
        case .update, .remove, .invalidate: false
        }
    }
}

// MARK: - What is served

extension CacheDriver {
    private func served(
        _ serving: CacheServing, _ status: CacheStatus? = nil, _ hop: HTTP.Hop? = nil,
        answered: ResponseHead? = nil, call: inout LiveCall
    ) -> TransportResponse {
        let stored = candidates[serving.index]
        var known = CacheStatus(.hit)
        known.remaining = serving.remaining
        // A 304 confirms what is stored; a failure does not.
        let isRevalidated = answered?.status == .notModified
        cache.count { gauges in
            if isRevalidated { gauges.revalidated += 1 } else { gauges.hits += 1 }
            if serving.isStale { gauges.stale += 1 }
        }
        call.note(
            HTTPSession.CacheUse(
                stored.level == .memory ? .memory : .disk, isRevalidated: isRevalidated, isStale: serving.isStale,
                age: serving.age, status ?? known))
        let hop = hop ?? Self.hop(call)
        return TransportResponse(
            head: serving.head, interim: [], body: Self.body(of: stored, as: serving.form, hop), hop: hop,
            answering: nil, hiding: call.chain.settings.secretFields)
    }

    /// The hop of a response for which nothing was sent.
    private static func hop(_ call: LiveCall) -> HTTP.Hop {
        var hop = HTTP.Hop()
        hop.started = call.start
        hop.ended = call.loop.now()
        return hop
    }

    private static func body(
        of stored: StoredResponse, as form: CachedForm, _ hop: HTTP.Hop
    ) -> TransportResponse.Body {
        let range: Range<Int>
        switch form {
        case .head, .notModified: return .bytes(.empty)
        case .whole: range = 0..<stored.body.count
        case .range(let bytes, _):
            let start = stored.entry.body.range.lowerBound
            range = (bytes.lowerBound - start)..<(bytes.upperBound - start)
        }
        if let bytes = stored.body.bytes { return .bytes(bytes[range]) }
        return .stream(StoredBodyStream(stored.body, range, hop))
    }

    /// A stored beginning, and behind it the network's body, which is being stored.
    private func joined(
        _ stored: StoredResponse, _ head: ResponseHead, _ response: TransportResponse
    ) -> TransportResponse {
        let beginning = StoredBodyStream(stored.body, 0..<stored.body.count, response.hop)
        let rest: any TransportResponse.BodyStream =
            switch response.body {
            case .stream(let stream): stream
            case .bytes(let bytes): WholeBodyStream(bytes, response)
            }
        return response.replacing(head, .stream(JoinedBody(beginning, rest)), Fields())
    }
}

// MARK: - What is stored

extension CacheDriver {
    /// Changes what is stored. Returns the response with a body that is stored as it is read, if it is to be stored.
    private func apply(_ changes: [CacheUpdate.Change], to response: TransportResponse) async -> TransportResponse {
        var storing: Storing?
        for change in changes {
            switch change {
            case .store(let draft, let replaced): storing = await self.storing(draft, replacing: replaced)
            case .extend(let index, let draft): storing = await extending(index, draft)
            case .update(let index, let entry): await cache.store.update(candidates[index], to: entry)
            case .remove(let indices): await cache.store.remove(indices.map { candidates[$0] })
            case .invalidate(let keys): await cache.store.remove(keys)
            }
        }
        guard let storing else { return response }
        switch response.body {
        case .bytes(let bytes):
            await storing.write(bytes, at: 0)
            await storing.end(after: bytes.count, isComplete: true)
            return response
        case .stream(let stream):
            return response.with(.stream(StoringBody(stream, into: storing)), response.hop)
        }
    }

    private func storing(_ draft: CacheDraft, replacing indices: [Int]) async -> Storing? {
        let replaced = indices.map { candidates[$0] }
        guard let writer = await cache.store.writer(for: draft.entry.key, length: draft.expectedCount, behind: nil)
        else {
            // What cannot be stored is newer all the same.
            await cache.store.remove(replaced)
            return nil
        }
        return Storing(writer: writer, draft: draft, replaced: replaced)
    }

    /// Bytes are put behind those that are stored; what would begin before them is not.
    private func extending(_ index: Int, _ draft: CacheDraft) async -> Storing? {
        let (stored, range) = (candidates[index], candidates[index].entry.body.range)
        guard range.contains(draft.start) || draft.start == range.upperBound,
            let writer = await cache.store.writer(
                for: draft.entry.key, length: draft.expectedCount, behind: stored)
        else { return nil }
        return Storing(writer: writer, draft: draft, replaced: [stored], known: range.upperBound - draft.start)
    }
}
