internal import DunlinCache
internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport

/// Sends one of several identical hops that are under way at the same time, and shares its result with the others.
///
/// It is for calls that want their whole response. What is shared is complete before anybody gets it, so nobody waits
/// for another's reading.
struct CoalescingStage: Stage {
    let largestBody: Int
    let exchanges = SharedExchanges()

    init(largestBody: Int) {
        self.largestBody = largestBody
    }

    func seesAll(of call: LiveCall) -> Bool { true }

    func driver(for call: LiveCall) -> (any StageDriver)? {
        if !call.request.head.method.isSafe { return ForgettingDriver(exchanges) }
        guard call.asked.kind == .data, call.request.head.method == .get,
            call.delegate.settings.map({ $0.options.connecting == RareOptions.ConnectingOptions() }) ?? true,
            call.session.owner.mayBeAwaited(by: call.delegate.id)
        else { return nil }
        return CoalescingDriver(exchanges, largestBody: largestBody)
    }
}

/// The driver of a request that may change what is at its URL.
private final class ForgettingDriver: StageDriver {
    private let exchanges: SharedExchanges

    init(_ exchanges: SharedExchanges) {
        self.exchanges = exchanges
    }

    private func forget(_ head: RequestHead) {
        exchanges.forget(CacheKey(head))
    }

    func received(_ response: TransportResponse, _ call: LiveCall) async throws -> StageAction {
        forget(call.request.head)
        return .pass(response)
    }

    func failed(_ error: any Error, _ call: LiveCall) async throws -> StageAction {
        forget(call.request.head)
        return .fail(error)
    }
}

/// The work of `CoalescingStage` for one call.
private final class CoalescingDriver: StageDriver {
    private let exchanges: SharedExchanges
    private let largestBody: Int
    /// The turn of a hop that is sent and whose answer others may get.
    private var turn: SharedExchanges.Turn?
    /// The access of the hop that was sent.
    private var access: Access?
    /// Whether the hop was sent with other cookies: the jar's may have become another user's before it was sent, and
    /// the former user's again since.
    private var hasOtherCookies = false
    /// Whether the hop is sent separately.
    private var isAlone = false

    init(_ exchanges: SharedExchanges, largestBody: Int) {
        self.exchanges = exchanges
        self.largestBody = largestBody
    }

    deinit {
        turn?.end(.again)
    }

    func movedOn() {
        turn?.end(.again)
        (turn, isAlone) = (nil, false)
    }

    func startOver() { movedOn() }

    private func end(_ outcome: SharedExchanges.Outcome) {
        turn?.end(outcome)
        turn = nil
    }

    // MARK: - Before anything is sent

    func judgesWay(of request: TransportRequest) -> Bool { turn == nil && !isAlone && Self.isShareable(request) }

    func answer(_ request: TransportRequest, _ call: LiveCall) async throws -> StageAnswer? {
        guard turn == nil else { return nil }
        // After waiting, the user may be another one, as after passwords were forgotten.
        while !isAlone, let (key, access) = try Self.key(of: request, call) {
            let outcome: Settlement<SharedExchanges.Outcome>
            switch exchanges.enter(key) {
            case .first(let turn):
                self.turn = turn
                self.access = access
                return nil
            case .later(let later):
                outcome = later
                call.note(.joined)
            }
            defer { exchanges.leave(key, outcome) }
            switch try await Self.wait(for: outcome, call) {
            case .answer(let answer):
                var notes = StageNotes(hasMadeBody: answer.hasMadeBody)
                if let use = answer.cacheUse { notes.callHistory = call.callHistory.noting(use.collapsed, nil) }
                return StageAnswer(response: Self.answer(answer.response, call), notes: notes)
            case .failure(let error): throw Self.shared(error, call)
            case .alone: isAlone = true
            case .again: continue
            }
        }
        return nil
    }

    private static func wait(
        for outcome: Settlement<SharedExchanges.Outcome>, _ call: LiveCall
    ) async throws -> SharedExchanges.Outcome {
        let waiter = ValueWaiter<SharedExchanges.Outcome>(on: call.loop)
        let number = outcome.whenSettled { _ = waiter.deliver($0) }
        // A request that is cancelled or late leaves nothing behind, however long the other takes.
        defer { if let number { outcome.giveUp(number) } }
        return try await call.value(
            of: waiter, isUnsent: true,
            late: "timed out waiting for an identical request, whose response it was to share")
    }

    private static func isShareable(_ request: TransportRequest) -> Bool {
        request.head.method == .get && request.body.isNone
    }

    /// The key that identical hops share; nil for hops that are never shared.
    private static func key(
        of request: TransportRequest, _ call: LiveCall
    ) throws -> (SharedExchanges.Key, Access)? {
        guard isShareable(request) else { return nil }
        let access = try call.access(to: request)
        guard access.isKept else { return nil }
        var fields = ""
        for field in access.head.fields { fields += "\n\(field.name.lowercased()): \(field.value)" }
        let (asker, url) = (access.asker, CacheKey(access.head))
        let key = SharedExchanges.Key(
            url: url, user: ExactText(asker.user), terms: ExactText(asker.terms),
            options: call.delegate.settings?.options.common ?? RareOptions.Common(),
            timeouts: call.asked.options.timeouts, fields: ExactText(fields), jar: access.jar,
            removals: call.session.configuration.cache?.store.removals(of: url))
        return (key, access)
    }

    private static func answer(_ response: TransportResponse, _ call: LiveCall) -> TransportResponse {
        TransportResponse(
            head: response.head, interim: [], body: response.body, trailers: response.trailers, hop: wait(of: call),
            answering: nil, hiding: response.secretFields)
    }

    /// An error of another call, where its bytes are counted.
    private static func shared(_ error: NetworkError, _ call: LiveCall) -> NetworkError {
        var error = error
        error.hop = wait(of: call)
        return error
    }

    /// The hop of a call for which nothing was sent: how long it waited.
    private static func wait(of call: LiveCall) -> HTTP.Hop {
        var hop = HTTP.Hop()
        (hop.started, hop.ended) = (call.start, call.loop.now())
        return hop
    }

    // MARK: - Afterwards

    func goes(_ request: TransportRequest) {
        guard turn != nil, let access else { return }
        hasOtherCookies =
            request.head.fields.rawValues(of: "cookie") != access.head.fields.rawValues(of: "cookie")
    }

    func received(_ response: TransportResponse, _ call: LiveCall) async throws -> StageAction {
        if turn == nil { return .pass(response) }
        switch access.map({ call.confirmation(of: $0, over: response.hop) }) {
        case .elsewhere:
            // An interceptor may send each of them elsewhere.
            end(.alone)
            return .pass(response)
        case .confirmed where !hasOtherCookies, nil: break
        case .confirmed, .otherUser:
            // The answer is for another user than the one whom the others asked for.
            end(.again)
            return .pass(response)
        }
        let response = try await collected(response, call)
        guard case .bytes = response.body else {
            end(.alone)
            return .pass(response)
        }
        end(
            .answer(
                SharedExchanges.Answer(
                    response: response, cacheUse: call.callHistory?.steps.cacheUse, hasMadeBody: call.hasMadeBody)))
        return .pass(response)
    }

    /// The response with its whole body; or as it came, if the body is too long, endless, or that of a redirect or
    /// error, which may be discarded early.
    private func collected(_ response: TransportResponse, _ call: LiveCall) async throws -> TransportResponse {
        guard case .stream(let stream) = response.body, response.head.status.isSuccess,
            stream.expectedLength ?? 0 <= largestBody,
            response.head.fields["content-type"]?.lowercased().hasPrefix("text/event-stream") != true
        else { return response }
        do {
            let body = try await BegunBody.collected(stream, upTo: largestBody) { try await next(stream, call) }
            guard case .bytes = body else { return response.with(body, response.hop) }
            return response.with(body, stream.hop, trailers: stream.trailers)
        } catch {
            // If the stored response is damaged, the hop may be sent again, and the others wait for the result. If it
            // is not sent again, the turn ends with the attempt.
            if !error.isDamageOfStore { end(Self.outcome(of: error, call)) }
            throw error
        }
    }

    private func next(_ stream: any TransportResponse.BodyStream, _ call: LiveCall) async throws -> Bytes? {
        if call.callTransport.sockets != nil { return try await stream.next() }
        return try await call.withinLimits(in: .receive) { try await stream.next() }
    }

    func failed(_ error: any Error, _ call: LiveCall) async throws -> StageAction {
        end(Self.outcome(of: error, call))
        return .fail(error)
    }

    /// The outcome for the others. Network failures affect them too; the reason why this request was given up does not,
    /// nor does damage of the stored response that it was served: the others look for themselves.
    private static func outcome(of error: any Error, _ call: LiveCall) -> SharedExchanges.Outcome {
        if error is CancellationError || error.isDamageOfStore { return .again }
        guard let error = error as? NetworkError else { return .alone }
        switch error.code {
        // The session's handler may cancel too, and then speaks for all of them.
        case .cancelled where call.cancellation.cause != nil: return .again
        case .sessionShutDown, .sentTooOften: return .again
        case .timedOut where error.exceeded == .total: return .again
        default: return .failure(error)
        }
    }
}
