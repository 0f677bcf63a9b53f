internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport

/// Sends one of several hops that are alike and under way at the same time, and gives the others what it brings.
struct CoalescingStage: Stage {
    let largestBody: Int
    let exchanges = SharedExchanges()

    init(largestBody: Int) {
        self.largestBody = largestBody
    }

    func seesAll(of call: LiveCall) -> Bool { call.request.head.method == .get }

    func driver(for call: LiveCall) -> (any StageDriver)? {
        let options = call.delegate.settings?.options
        guard call.request.head.method == .get, options.map({ $0.coalesces && $0.isOnSessionsWay }) ?? true else {
            return nil
        }
        return CoalescingDriver(exchanges, largestBody: largestBody)
    }
}

/// What `CoalescingStage` does for one call.
private final class CoalescingDriver: StageDriver {
    private let exchanges: SharedExchanges
    private let largestBody: Int
    /// Of a hop that is sent, and whose answer others may get.
    private var turn: SharedExchanges.Turn?
    /// Whether the hop is sent by itself.
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

    // MARK: - Before anything is sent

    func answer(_ request: TransportRequest, _ call: inout LiveCall) async throws -> TransportResponse? {
        guard turn == nil, !isAlone, let key = Self.key(of: request, call) else { return nil }
        while true {
            let outcome: Settlement<SharedExchanges.Outcome>
            switch exchanges.enter(key) {
            case .first(let turn):
                self.turn = turn
                return nil
            case .later(let later): outcome = later
            }
            defer { exchanges.leave(key, outcome) }
            switch try await Self.wait(for: outcome, call) {
            case .answer(let answer):
                if let use = answer.cacheUse { call.note(use.collapsed) }
                call.hasMadeBody = answer.hasMadeBody
                return Self.answer(answer.response, call)
            case .failure(let error): throw error
            case .alone:
                isAlone = true
                return nil
            case .again: continue
            }
        }
    }

    private static func wait(
        for outcome: Settlement<SharedExchanges.Outcome>, _ call: LiveCall
    ) async throws -> SharedExchanges.Outcome {
        let waiter = ValueWaiter<SharedExchanges.Outcome>(on: call.loop)
        outcome.whenSettled { _ = waiter.deliver($0) }
        switch await waiter.wait(until: call.request.deadline, cancellation: call.cancellation) {
        case .value(let outcome): return outcome
        case .timedOut:
            throw NetworkError(
                .timedOut, "the request like this one that is under way brought nothing in time", isSafeToRetry: true,
                exceeding: .total, limit: call.request.timeouts.total)
        case .cancelled:
            if call.cancellation.cause == .task { throw CancellationError() }
            throw NetworkError(.cancelled, "the request was cancelled", isSafeToRetry: true)
        }
    }

    /// Nil for what is never shared.
    private static func key(of request: TransportRequest, _ call: LiveCall) -> String? {
        guard request.head.method == .get, request.body.isNone, let head = call.headWithUser(of: request) else {
            return nil
        }
        var key = CacheKey(origin: head.origin, target: head.target).text
        key += "\n\(call.delegate.settings?.options.cache?.rawValue ?? "")"
        for field in head.fields { key += "\n\(field.name.lowercased()): \(field.value)" }
        return key
    }

    private static func answer(_ response: TransportResponse, _ call: LiveCall) -> TransportResponse {
        var hop = HTTP.Hop()
        (hop.started, hop.ended) = (call.start, call.loop.now())
        return TransportResponse(
            head: response.head, interim: [], body: response.body, trailers: response.trailers, hop: hop,
            answering: nil, hiding: response.secretFields)
    }

    // MARK: - Afterwards

    func received(_ response: TransportResponse, _ call: inout LiveCall) async throws -> StageAction {
        guard let turn else { return .pass(response) }
        self.turn = nil
        let (use, hasMadeBody) = (call.callHistory?.steps.cacheUse, call.hasMadeBody)
        guard case .stream(let stream) = response.body else {
            turn.end(.answer(.init(response: response, cacheUse: use, hasMadeBody: hasMadeBody)))
            return .pass(response)
        }
        guard mayShare(response.head, stream) else {
            turn.end(.alone)
            return .pass(response)
        }
        let body = SharedBody(stream, upTo: largestBody, on: call.loop, isAwaited: { turn.isAwaited }) { bytes in
            guard let bytes else { return turn.end(.alone) }
            let whole = response.with(.bytes(bytes), stream.hop, trailers: stream.trailers)
            turn.end(.answer(.init(response: whole, cacheUse: use, hasMadeBody: hasMadeBody)))
        }
        return .pass(response.with(.stream(body), response.hop))
    }

    /// The body of a redirect or an error may be given up before its end; events have none.
    private func mayShare(_ head: ResponseHead, _ stream: any TransportResponse.BodyStream) -> Bool {
        head.status.isSuccess && stream.expectedLength ?? 0 <= largestBody
            && head.fields["content-type"]?.lowercased().hasPrefix("text/event-stream") != true
    }

    func failed(_ error: any Error, _ call: inout LiveCall) async throws -> StageAction.Again {
        turn?.end(Self.isOrigins(error) ?? .again)
        turn = nil
        throw error
    }

    /// An error that others would meet as well; what this request was given up for is its own.
    private static func isOrigins(_ error: any Error) -> SharedExchanges.Outcome? {
        guard let error = error as? NetworkError else { return nil }
        switch error.code {
        case .connectionFailed, .connectionClosed, .nameNotResolved, .proxyFailed: return .failure(error)
        default: return nil
        }
    }
}
