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
        var exchanges: [Int: ExchangeObservation] = [:]
        var last = 0
        /// How often each sending was retried.
        var retries: [SendingID: Int] = [:]
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

    /// An exchange that was begun.
    struct Begun {
        /// Nil if nobody wants to be told of it.
        var exchange: ExchangeObservation?
        /// What is sent.
        let request: TransportRequest
        /// The names of the fields in it that observers have added, in lower case.
        var added: [String] = []
    }

    /// Begins an exchange that is to send `request`; nobody is told of it after the call's end.
    func begin(_ request: TransportRequest, _ id: SendingID, of call: LiveCall) -> Begun {
        leave(id)
        let begun = state.withLock { state -> (number: Int, attempt: Int)? in
            if state.hasEnded { return nil }
            state.last += 1
            return (state.last, 1 + (state.retries[id] ?? 0))
        }
        guard let (number, attempt) = begun else { return Begun(request: request) }
        let exchange = HTTPSession.Exchange(
            task: call.snapshot, head: request.head, number: number, attempt: attempt,
            isElsewhere: !request.head.origin.isSame(as: origin))
        var adding = AddedFields(to: request.head.fields, secretFields)
        let told = observers.compactMap { observer in
            adding.collect { observer.exchangeBegan(exchange, adding: &$0) }
        }
        let sent = adding.fields.map { fields in request.with { $0.head.fields = fields } } ?? request
        var result = Begun(request: sent, added: adding.names)
        if told.isEmpty { return result }
        let observation = ExchangeObservation(
            told, id, droppedFields: adding.dropped, hiding: secretFields, on: call.loop)
        let isLate = state.withLock { state in
            if !state.hasEnded { state.exchanges[number] = observation }
            return state.hasEnded
        }
        if isLate {
            observation.end()
            return result
        }
        result.exchange = observation
        return result
    }

    /// Ends the exchanges of a sending whose responses nobody reads any more.
    func leave(_ id: SendingID) {
        let left = state.withLock { state in
            let left = state.exchanges.filter { $1.id == id }
            for number in left.keys { state.exchanges[number] = nil }
            return left.values
        }
        for exchange in left { exchange.end() }
    }

    func note(_ step: @autoclosure () -> HTTPSession.RequestStep) {
        if state.withLock({ $0.hasEnded }) { return }
        let step = step()
        for observer in observers { observer.noted(step) }
    }

    /// Ends the call, after its exchanges.
    func end(_ completion: HTTPSession.Completion) {
        let left = state.withLock { state -> [ExchangeObservation]? in
            if state.hasEnded { return nil }
            defer { (state.exchanges, state.hasEnded) = ([:], true) }
            return state.exchanges.sorted { $0.key < $1.key }.map(\.value)
        }
        guard let left else { return }
        for exchange in left { exchange.end(because: completion.error) }
        for observer in observers { observer.ended(completion) }
    }
}

// MARK: - Steps

extension CallObservation {
    /// Notes that a sending's request is sent again, which ends its last exchange. `call` is its state.
    func again(_ why: SendingReason?, _ id: SendingID, of call: LiveCall) {
        leave(id)
        if why == .retry { state.withLock { $0.retries[id, default: 0] += 1 } }
        if let step = why?.step(call) { note(step) }
    }
}

extension SendingReason {
    /// The step for observers.
    fileprivate func step(_ call: LiveCall) -> HTTPSession.RequestStep? {
        let head = call.request.head
        switch self {
        case .retry: return call.callHistory?.retryHistory?.retried.last.map { .retrying($0) }
        case .redirect:
            let url = head.origin.description + head.target
            return call.callHistory?.redirects.last.map { .redirected($0, to: url) }
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

extension LiveCall {
    /// Tells the session's observers a step of the call.
    package func note(_ step: @autoclosure () -> HTTPSession.RequestStep) {
        delegate.observation?.note(step())
    }
}
