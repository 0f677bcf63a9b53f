internal import DunlinReactor
internal import DunlinTransport
internal import Synchronization

/// What observers want to be told of one exchange, until it ends.
final class ExchangeObservation: Sendable {
    private struct State {
        var head: ResponseHead?
        var hop: HTTP.Hop?
        weak var body: ReportingBody?
        var hasEnded = false
    }

    /// Its number among those of the call.
    let number: Int
    private let observers: [any HTTPSession.ExchangeObserver]
    private let droppedFields: Int
    private let secretFields: HTTP.SecretFields
    private let loop: Reactor
    private let state = Mutex(State())

    init(
        _ observers: [any HTTPSession.ExchangeObserver], _ number: Int, droppedFields: Int,
        hiding secretFields: HTTP.SecretFields, on loop: Reactor
    ) {
        self.loop = loop
        self.number = number
        self.observers = observers
        self.droppedFields = droppedFields
        self.secretFields = secretFields
    }

    /// Notes the response. Returns it with a body that reports its end, if it has not ended.
    func answered(_ response: TransportResponse) -> TransportResponse {
        var head = response.head
        head.mark(secretFields)
        let hop = response.latestHop
        let isOver = state.withLock { state in
            if !state.hasEnded { (state.head, state.hop) = (head, hop == HTTP.Hop() ? nil : hop) }
            return state.hasEnded
        }
        // Its call has left: whoever is told of its end is told of nothing after that.
        if isOver { return response }
        for observer in observers { observer.answered(head) }
        switch response.body {
        case .bytes:
            end(.complete)
            return response
        case .stream(let stream):
            let body = ReportingBody(stream, self)
            state.withLock { $0.body = body }
            return response.with(.stream(body), response.hop)
        }
    }

    /// Notes that no response came, or that the interceptors around the exchange threw.
    func failed(_ error: any Error, over hop: HTTP.Hop?) {
        if let hop { state.withLock { $0.hop = hop } }
        end(nil, error)
    }

    /// Notes a hop of a body that is being released.
    fileprivate func released(_ hop: HTTP.Hop) {
        if hop != HTTP.Hop() { state.withLock { $0.hop = hop } }
    }

    /// Ends an exchange that has not ended yet: nobody reads its response any more, perhaps because of an error.
    func end(because error: (any Error)? = nil) {
        let hasHead = state.withLock { $0.head != nil }
        end(hasHead ? error == nil ? .left : .failed : nil, error)
    }

    /// Ends the exchange, once.
    fileprivate func end(_ body: HTTPSession.ExchangeEnd.Body?, _ error: (any Error)? = nil) {
        let last = state.withLock { state -> (head: ResponseHead?, hop: HTTP.Hop?, body: ReportingBody?)? in
            if state.hasEnded { return nil }
            state.hasEnded = true
            return (state.head, state.hop, state.body)
        }
        guard let last else { return }
        var hop = last.body?.hop
        if hop == nil || hop == HTTP.Hop() { hop = last.hop }
        if let known = hop, known.ended < known.started { hop?.ended = loop.now() }
        let end = HTTPSession.ExchangeEnd(
            head: last.head, hop: hop, error: error, body: body, droppedFields: droppedFields)
        for observer in observers { observer.ended(end) }
    }
}

/// A body that reports its end to the observers of its exchange.
final class ReportingBody: PassedBody {
    let stream: any TransportResponse.BodyStream
    private let exchange: ExchangeObservation

    init(_ stream: any TransportResponse.BodyStream, _ exchange: ExchangeObservation) {
        self.stream = stream
        self.exchange = exchange
    }

    // A body may be released anywhere, even under a lock, so observers are told later.
    deinit { exchange.released(stream.hop) }

    func next() async throws -> Bytes? {
        do {
            let piece = try await stream.next()
            // The other direction of a connection may go on.
            if piece == nil, duplexStream == nil { exchange.end(.complete) }
            return piece
        } catch let error as NetworkError where error.code == .bodyConsumed {
            // A second reader, who harms nothing.
            throw error
        } catch {
            exchange.end(.failed, error)
            throw error
        }
    }

    private func leave(because error: (any Error)?) {
        if duplexStream != nil, error == nil { exchange.end(.complete) } else { exchange.end(because: error) }
    }

    /// Tells the observers of a body, which others may have wrapped, that nobody reads it any more, perhaps because of
    /// an error.
    static func leave(_ body: any TransportResponse.BodyStream, because error: (any Error)? = nil) {
        var body: (any TransportResponse.BodyStream)? = body
        while let wrapped = body as? any WrappedBody {
            if let reporting = wrapped as? ReportingBody { reporting.leave(because: error) }
            body = wrapped.source
        }
    }
}
