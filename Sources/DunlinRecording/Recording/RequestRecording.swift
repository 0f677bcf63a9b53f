internal import Dunlin
internal import FoundationEssentials
internal import Synchronization

/// Records the exchanges of one request, and the answers that it got without one.
final class RequestRecording: HTTPSession.RequestObserver {
    private struct State {
        var source = "shared"
        /// What is written when it is known what follows: an answer without an exchange, whose body is that of the
        /// request; a cancelled exchange, whose reason is that of the request; and one that may not be the last.
        var held: Draft?
        var end: HTTPSession.Completion?
    }

    private let task: HTTPSession.TaskSnapshot
    private let recorder: HARRecorder
    private let state = Mutex(State())

    init(_ task: HTTPSession.TaskSnapshot, _ recorder: HARRecorder) {
        (self.task, self.recorder) = (task, recorder)
    }

    func exchangeBegan(
        _ exchange: HTTPSession.Exchange, adding fields: inout Fields
    ) -> (any HTTPSession.ExchangeObserver)? {
        if recorder.settings.onlyLast { state.withLock { $0.held = nil } } else { flush() }
        return ExchangeRecording(exchange, self, recorder)
    }

    fileprivate func ended(_ exchange: Draft) {
        guard recorder.settings.onlyLast || exchange.error is CancellationError else {
            return recorder.record(exchange)
        }
        let end = state.withLock { state in
            if state.end == nil { state.held = exchange }
            return state.end
        }
        if let end { recorder.record(exchange.completed(by: end)) }
    }

    func noted(_ step: HTTPSession.RequestStep) {
        switch step {
        case .servedFromCache(let use): state.withLock { $0.source = use.source.rawValue }
        case .joined: state.withLock { $0.source = "shared" }
        default: break
        }
    }

    func answered(_ unsent: RequestHead, by response: ResponseHead) {
        flush()
        var draft = Draft(Date(), task, unsent, bodies: recorder.settings.bodyLimit)
        draft.response = response
        state.withLock { state in
            draft.fromCache = state.source
            state.held = draft
        }
    }

    func ended(_ completion: HTTPSession.Completion) {
        state.withLock { $0.end = completion }
        flush(completion)
    }

    private func flush(_ end: HTTPSession.Completion? = nil) {
        guard let draft = state.withLock({ $0.held.take() }) else { return }
        recorder.record(end.map(draft.completed) ?? draft)
    }
}

extension Draft {
    /// The draft with what the end of the request says of it.
    fileprivate func completed(by end: HTTPSession.Completion) -> Draft {
        var draft = self
        if fromCache != nil, let body = end.body { draft.received.append(body) }
        if error is CancellationError, let error = end.error { draft.error = error }
        return draft
    }
}

/// Records one exchange.
final class ExchangeRecording: HTTPSession.ExchangeObserver {
    private let draft: Mutex<Draft>
    private let request: RequestRecording
    let wantsBodies: Bool

    init(_ exchange: HTTPSession.Exchange, _ request: RequestRecording, _ recorder: HARRecorder) {
        var draft = Draft(Date(), exchange.task, exchange.head, bodies: recorder.settings.bodyLimit)
        (draft.exchange, draft.attempt) = (exchange.number, exchange.attempt)
        self.draft = Mutex(draft)
        self.request = request
        wantsBodies = recorder.settings.bodyLimit != nil
    }

    func sends(_ request: TransportRequest) {
        draft.withLock { $0.note(request) }
    }

    func sends(_ piece: Bytes) { draft.withLock { $0.sent.append(piece) } }

    func received(_ piece: Bytes) { draft.withLock { $0.received.append(piece) } }

    func ended(_ end: HTTPSession.ExchangeEnd) {
        let whole = draft.withLock { draft in
            (draft.response, draft.interim) = (end.head, end.interim)
            (draft.hop, draft.error) = (end.hop, end.error)
            return draft
        }
        request.ended(whole)
    }
}
