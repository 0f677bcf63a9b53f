internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport

/// What observers want to be told of one exchange, until it ends. What is known of it is in its call's observation.
final class ExchangeObservation: Sendable {
    struct Known {
        let exchange: ExchangeObservation
        var head: ResponseHead?
        var interim: [ResponseHead] = []
        var hop: HTTP.Hop?
        var body: WeakBody?
        /// Whether the whole response is here, and only what becomes of it is not known.
        var isComplete = false
    }

    final class WeakBody: Sendable {
        weak let body: ReportingBody?

        init(_ body: ReportingBody) { self.body = body }
    }

    private let call: CallObservation
    /// Its number among those of the call.
    let number: Int
    private let observers: [any HTTPSession.ExchangeObserver]
    /// Those who are told of the bytes of bodies.
    private let readers: [any HTTPSession.ExchangeObserver]
    private let droppedFields: Int
    private let secretFields: HTTP.SecretFields
    private let loop: Reactor

    init(
        _ call: CallObservation, _ observers: [any HTTPSession.ExchangeObserver], _ number: Int, droppedFields: Int,
        hiding secretFields: HTTP.SecretFields, on loop: Reactor
    ) {
        self.call = call
        self.loop = loop
        self.number = number
        self.observers = observers
        readers = observers.filter(\.wantsBodies)
        self.droppedFields = droppedFields
        self.secretFields = secretFields
    }

    /// Notes that a request is sent. Returns it with a body that reports its pieces, if they are not at hand.
    func sends(_ request: TransportRequest) -> TransportRequest {
        for observer in observers { observer.sends(request) }
        guard !readers.isEmpty, case .stream(let length, let isReplayable, let make) = request.body.content else {
            return request
        }
        return request.with { [readers] changes in
            let body = RequestBody.Content.stream(length: length, isReplayable: isReplayable) {
                ReportedChunks(chunks: make(), readers: readers)
            }
            changes.body = request.body.with(body)
        }
    }

    fileprivate func received(_ piece: Bytes) {
        for reader in readers { reader.received(piece) }
    }

    /// Notes the response. Returns it with a body that reports its end, if it has not ended.
    func answered(_ response: TransportResponse) -> TransportResponse {
        var head = response.head
        head.mark(secretFields)
        let hop = response.latestHop
        let isOpen = call.note(number) {
            ($0.head, $0.interim, $0.hop) = (head, response.interim, hop == HTTP.Hop() ? nil : hop)
        }
        // Its call has left: whoever is told of its end is told of nothing after that.
        if !isOpen { return response }
        for observer in observers { observer.answered(head) }
        switch response.body {
        case .bytes(let bytes):
            if !bytes.isEmpty { received(bytes) }
            // Where a redirect leads may be refused, which is its exchange's failure.
            if RedirectRules.isRedirect(head.status) {
                _ = call.note(number) { $0.isComplete = true }
            } else {
                end(.complete)
            }
            return response
        case .stream(let stream):
            let body = ReportingBody(stream, self)
            _ = call.note(number) { $0.body = WeakBody(body) }
            return response.with(.stream(body), response.hop)
        }
    }

    /// Notes that no response came, or that the interceptors around the exchange threw.
    func failed(_ error: any Error, over hop: HTTP.Hop?) {
        if let hop { _ = call.note(number) { $0.hop = hop } }
        end(nil, error)
    }

    /// Notes a hop of a body that is being released.
    fileprivate func released(_ hop: HTTP.Hop) {
        if hop != HTTP.Hop() { _ = call.note(number) { $0.hop = hop } }
    }

    /// Ends an exchange that has not ended yet: nobody reads its response any more, perhaps because of an error.
    func end(because error: (any Error)? = nil) {
        end(error == nil ? .left : .failed, error)
    }

    /// Ends the exchange, once.
    fileprivate func end(_ body: HTTPSession.ExchangeEnd.Body?, _ error: (any Error)? = nil) {
        guard let last = call.take(number) else { return }
        var (body, error) = (body, error)
        if last.isComplete { (body, error) = (.complete, error?.refusesRedirect == true ? error : nil) }
        var hop = last.body?.body?.hop
        if hop == nil || hop == HTTP.Hop() { hop = last.hop }
        if let known = hop, known.ended < known.started { hop?.ended = loop.now() }
        let end = HTTPSession.ExchangeEnd(
            head: last.head, interim: last.interim, hop: hop, error: error, body: last.head == nil ? nil : body,
            droppedFields: droppedFields)
        for observer in observers { observer.ended(end) }
    }
}

extension Error {
    /// Whether a redirect was refused, and not what came after it.
    fileprivate var refusesRedirect: Bool {
        switch (self as? NetworkError)?.code {
        case .tooManyRedirects, .redirectLoop, .invalidRedirect, .insecureRedirect, .clearTextRefused,
            .guardRefused:
            true
        default: false
        }
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
            if let piece { exchange.received(piece) }
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

/// The pieces of a request's body, which are reported as they are sent.
private struct ReportedChunks: AsyncSequence, Sendable {
    typealias Element = Bytes
    typealias Failure = any Error

    let chunks: any RequestBody.Chunks
    let readers: [any HTTPSession.ExchangeObserver]

    func makeAsyncIterator() -> Iterator {
        Iterator(chunks: RequestBody.iterator(of: chunks), readers: readers)
    }

    struct Iterator: AsyncIteratorProtocol {
        var chunks: any AsyncIteratorProtocol<Bytes, any Error>
        let readers: [any HTTPSession.ExchangeObserver]

        mutating func next() async throws -> Bytes? {
            let piece = try await chunks.next(isolation: nil)
            if let piece { for reader in readers { reader.sends(piece) } }
            return piece
        }
    }
}
