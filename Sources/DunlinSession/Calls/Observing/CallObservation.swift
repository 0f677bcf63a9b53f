internal import DunlinTransport
internal import Synchronization

/// What the session's `observers` want to be told of one call, and its exchanges that have not ended.
///
/// Rules:
/// 1. Observers are told synchronously, and never under a lock.
/// 2. An exchange ends once: with its body, when its sending begins another, when its body is discarded, or with the
///    call, whichever comes first.
/// 3. After the call's end nothing begins.
package final class CallObservation: Sendable {
    private struct State {
        /// The exchanges that have not ended.
        var exchanges: [Int: ExchangeObservation.Known] = [:]
        var last = 0
        var hasEnded = false
    }

    private let origin: HTTP.Origin
    private let secretFields: HTTP.SecretFields
    private let observers: [any HTTPSession.RequestObserver]
    private let state = Mutex(State())

    /// Tells the observers that a call begins; nil if none is interested.
    init?(
        _ observers: [any HTTPSession.Observer], of call: HTTPSession.Call, _ snapshot: HTTPSession.TaskSnapshot
    ) {
        let interested = observers.compactMap { $0.began(snapshot) }
        if interested.isEmpty { return nil }
        self.observers = interested
        origin = call.head.origin
        secretFields = call.session.secretFields
    }

    /// Begins an exchange that is to send `request`; nobody is told of it after the call's end. Returns what is sent:
    /// observers may add fields.
    func begin(_ request: TransportRequest, _ sending: inout Sending) -> TransportRequest {
        sending.watched.take()?.end()
        let begun = state.withLock { state -> Int? in
            if state.hasEnded { return nil }
            state.last += 1
            return state.last
        }
        guard let number = begun else { return request }
        let exchange = HTTPSession.Exchange(
            task: sending.snapshot, head: request.head, number: number, attempt: 1 + sending.retries,
            isElsewhere: !request.head.origin.isSame(as: origin), secretFields: secretFields)
        var adding = AddedFields(to: request.head.fields, secretFields)
        let informed = observers.compactMap { observer in
            adding.collect { observer.exchangeBegan(exchange, adding: &$0) }
        }
        let sent = adding.fields.map { fields in request.with { $0.head.fields = fields } } ?? request
        sending.added = adding.names
        if informed.isEmpty { return sent }
        let observation = ExchangeObservation(
            self, informed, number, droppedFields: adding.dropped, hiding: secretFields, on: sending.loop)
        let isLate = state.withLock { state in
            state.exchanges[number] = ExchangeObservation.Known(exchange: observation)
            return state.hasEnded
        }
        if isLate {
            observation.end()
        } else {
            sending.watched = observation
        }
        return sent
    }

    /// Notes something of an exchange; returns false if it has ended.
    func note(_ number: Int, _ change: (inout ExchangeObservation.Known) -> Void) -> Bool {
        state.withLock { state in
            guard var known = state.exchanges.removeValue(forKey: number) else { return false }
            change(&known)
            state.exchanges[number] = known
            return true
        }
    }

    /// Takes what is known of an exchange, which ends it; nil if it has ended.
    func take(_ number: Int) -> ExchangeObservation.Known? {
        state.withLock { $0.exchanges.removeValue(forKey: number) }
    }

    func note(_ step: @autoclosure () -> HTTPSession.RequestStep) {
        if state.withLock({ $0.hasEnded }) { return }
        let step = step()
        for observer in observers { observer.noted(step) }
    }

    func answered(_ unsent: RequestHead, by response: ResponseHead) {
        if state.withLock({ $0.hasEnded }) { return }
        for observer in observers { observer.answered(unsent, by: response) }
    }

    /// Ends the call, after its exchanges.
    func end(_ completion: HTTPSession.Completion) {
        let left = state.withLock { state -> [ExchangeObservation]? in
            if state.hasEnded { return nil }
            state.hasEnded = true
            return state.exchanges.sorted { $0.key < $1.key }.map(\.value.exchange)
        }
        guard let left else { return }
        for exchange in left { exchange.end(because: completion.error) }
        for observer in observers { observer.ended(completion) }
    }
}

// MARK: - Steps

extension CallObservation {
    /// Notes that a request is sent again, which ends its last exchange.
    func again(_ why: SendingReason, _ sending: inout Sending) {
        sending.watched.take()?.end()
        if let step = why.step(sending) { note(step) }
    }
}

extension SendingReason {
    /// The step for observers.
    fileprivate func step(_ sending: Sending) -> HTTPSession.RequestStep? {
        let head = sending.request.head
        switch self {
        case .retry: return sending.callHistory?.retryHistory?.retried.last.map { .retrying($0) }
        case .redirect:
            let url = head.origin.description + head.target
            return sending.callHistory?.redirects.last.map { .redirected($0, to: url) }
        case .password: return .sendingAgain(.challenged)
        case .credential: return .sendingAgain(.refreshed)
        case .connection: return .sendingAgain(.connectionLost)
        case .network: return .sendingAgain(.network)
        case .expectation: return .sendingAgain(.expectationRefused)
        case .cache: return .sendingAgain(.cacheUnusable)
        // These are parts of one exchange, or of a download.
        case .proxy, .continuation: return nil
        }
    }
}

extension Sending {
    /// Tells the session's observers a step of the call.
    package func note(_ step: @autoclosure () -> HTTPSession.RequestStep) {
        delegate.observation?.note(step())
    }
}
