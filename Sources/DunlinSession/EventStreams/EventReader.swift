/// Reads one stream of events, over as many requests as `Reconnections` makes.
final class EventReader {
    private enum State {
        case connecting
        case reading(EventResponse)
        case over
    }

    private let session: HTTPSession
    private let source: HTTPSession.EventStream.Source
    private var request: EventRequest
    private let attempts: Reconnections
    private var state = State.connecting

    init(_ session: HTTPSession, _ source: HTTPSession.EventStream.Source, _ request: EventRequest) {
        (self.session, self.source, self.request) = (session, source, request)
        attempts = Reconnections(
            "the stream of events", of: session, request.policy, tags: request.options.tags,
            within: request.options.timeouts.total.own
        ) { call in
            ReconnectionMachine(
                request.settings, request.policy, until: request.sentinel, after: request.firstID,
                isIdempotent: call.head.method.isIdempotent, hasKey: call.head.isRepeatable)
        }
    }

    func next() async throws -> ServerSentEvent? {
        if case .over = state { return nil }
        do {
            if let event = try await nextEvent() { return event }
        } catch {
            end()
            throw error
        }
        end()
        return nil
    }

    private func nextEvent() async throws -> ServerSentEvent? {
        while true {
            // Events that have come already are not delivered after a cancel either, and nothing is sent again.
            try await attempts.check()
            switch state {
            case .over: return nil
            case .connecting: try await connect()
            case .reading(let response): if let event = try await read(response) { return event }
            }
        }
    }

    /// Ends the stream and its exchange.
    func end() {
        attempts.end()
        state = .over
    }

    /// Ends the stream and its exchange because of an error in an event's data. Returns the error with the name of the
    /// request, and with the data.
    func end(because error: NetworkError, with data: String) -> NetworkError {
        defer { end() }
        if case .reading(let response) = state { return response.named(error, with: data) }
        return error
    }
}

extension EventReader {
    private func connect() async throws {
        // Whatever is not decided below ends the stream.
        state = .over
        if attempts.hasOthersJar { request.options.handlesCookies = .value(false) }
        let after = attempts.machine?.lastEventID
        let response = try await attempts.attempt {
            try request.call(of: session.core, after: after ?? request.firstID)
        } _: { call, delegate, reconnection in
            let response = try await session.open(call, by: delegate, after: reconnection)
            return EventResponse(response, of: call, by: delegate, request.settings, after: after ?? request.firstID)
        }
        guard let response else { return goOn() }
        if response.isEmpty { return try follow(.noContent, response) }
        state = .reading(response)
    }

    private func read(_ response: EventResponse) async throws -> ServerSentEvent? {
        state = .over
        let event: ServerSentEvent?
        do {
            event = try await response.next()
        } catch {
            _ = try attempts.failed(error, response.notes)
            goOn()
            return nil
        }
        guard let event else {
            try follow(.complete, response)
            return nil
        }
        if request.settings.errorNames.contains(where: { $0.hasSameBytes(as: event.name) }) {
            let error = NetworkError(
                .errorEvent, "the server has sent the event \"\(event.name)\"", phase: .receive,
                requestMayHaveBeenSent: true)
            throw response.named(error, with: event.data)
        }
        guard attempts.machine?.received(event.data) == true else { return nil }
        state = .reading(response)
        return event
    }

    private func follow(_ end: ReconnectionMachine.End, _ response: EventResponse) throws {
        switch try attempts.ended(end, response.notes, response.named(Self.empty)) {
        case .attempt: goOn()
        case .nothing: break
        case .tooLittle(let canSendBody): throw response.named(cutShort(canSendBody: canSendBody))
        }
    }

    private func goOn() {
        source.attempt = attempts.next?.attempt ?? 1
        state = .connecting
    }

    private static var empty: NetworkError {
        NetworkError(
            .connectionClosed, "the stream ended without an event", phase: .receive, requestMayHaveBeenSent: true)
    }

    /// The error for a response that ended before its sentinel, with the reason why it is the last one.
    private func cutShort(canSendBody: Bool) -> NetworkError {
        let refusal =
            if !request.settings.reconnects {
                "`settings.reconnects` is false"
            } else if !canSendBody {
                "its body can be sent only once"
            } else if attempts.machine?.refusesBeginning == true {
                NetworkError.RetryRefusal.notResumable.explanation
            } else {
                "the server may have carried it out; `settings.repeatsNonIdempotent` or an `Idempotency-Key` allows it"
            }
        return NetworkError(
            .connectionClosed,
            "the response ended before the event that `until:` names, and the request was not sent again: \(refusal)",
            phase: .receive, requestMayHaveBeenSent: true)
    }
}
