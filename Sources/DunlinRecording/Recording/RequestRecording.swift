internal import Dunlin
internal import FoundationEssentials
internal import Synchronization

/// Records the exchanges of one request, and the answers that it got without one.
final class RequestRecording: HTTPSession.RequestObserver {
    private struct State {
        var source = "shared"
        /// An answer without an exchange, which is written when it is known what follows.
        var unsent: Draft?
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
        flush()
        return ExchangeRecording(exchange, recorder)
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
            state.unsent = draft
        }
    }

    func ended(_ completion: HTTPSession.Completion) { flush(completion.body) }

    private func flush(_ body: Bytes? = nil) {
        guard var draft = state.withLock({ $0.unsent.take() }) else { return }
        if let body { draft.received.append(body) }
        recorder.record(draft)
    }
}

/// Records one exchange.
final class ExchangeRecording: HTTPSession.ExchangeObserver {
    private let draft: Mutex<Draft>
    private let recorder: HARRecorder
    let wantsBodies: Bool

    init(_ exchange: HTTPSession.Exchange, _ recorder: HARRecorder) {
        var draft = Draft(Date(), exchange.task, exchange.head, bodies: recorder.settings.bodyLimit)
        (draft.exchange, draft.attempt) = (exchange.number, exchange.attempt)
        self.draft = Mutex(draft)
        self.recorder = recorder
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
        recorder.record(whole)
    }
}
