internal import DunlinReactor
internal import DunlinSemantics

/// Reads one stream of events, over as many requests as `EventStreamMachine` decides. Each is a call of its own, with
/// all stages, hooks and limits, and waits in the session's list before it is sent.
final class EventReader {
    private enum State {
        case connecting(HTTPSession.Reconnection?)
        case reading(EventResponse)
        case over
    }

    private let session: HTTPSession
    private let source: HTTPSession.EventStream.Source
    private var request: EventRequest
    private let policy: HTTPSession.RetryPolicy
    private var state = State.connecting(nil)
    /// The stream in the registry, from the first request to the end.
    private var listed: ListedStream?
    /// The rules; nil before the first request is made.
    private var machine: EventStreamMachine?
    /// The last call.
    private var call: HTTPSession.Call?
    /// Whether all that was sent for it, whoever changed it, may be sent again.
    private var isRepeatable = true
    /// The end of the whole stream; nil without a limit of its own.
    private var deadline: InheritedDeadline?
    /// The failed attempts in a row; the newest of very many.
    private var failures: [NetworkError.RetriedAttempt] = []

    init(_ session: HTTPSession, _ source: HTTPSession.EventStream.Source, _ request: EventRequest) {
        (self.session, self.source, self.request) = (session, source, request)
        policy = request.policy
    }

    deinit { listed?.end() }

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
        if listed == nil {
            let stream = ListedStream(tags: request.options.tags)
            await session.tasks.list(stream)
            listed = stream
        }
        while true {
            // Events that have come already are not delivered after a cancel either, and nothing is sent again.
            if Task.isCancelled { throw CancellationError() }
            if listed?.cancellation.cause != nil { throw cancelled }
            switch state {
            case .over: return nil
            case .connecting(let reconnection): try await connect(reconnection)
            case .reading(let response): if let event = try await read(response) { return event }
            }
        }
    }

    private var cancelled: any Error {
        let error = NetworkError(.cancelled, "the stream of events was cancelled", requestMayHaveBeenSent: true)
        return call?.named(error) ?? error
    }

    /// Ends the stream and its exchange.
    func end() {
        listed?.end()
        (state, listed) = (.over, nil)
    }

    /// Ends the stream and its exchange because of an error in an event's data. Returns the error with the name of the
    /// request, and with the data.
    func end(because error: NetworkError, with data: String) -> NetworkError {
        defer { end() }
        if case .reading(let response) = state { return response.named(error, with: data) }
        return error
    }
}

// MARK: - Reading

extension EventReader {
    private func connect(_ reconnection: HTTPSession.Reconnection?) async throws {
        // Whatever is not decided below ends the stream.
        state = .over
        let call = try makeCall()
        if reconnection?.cause == nil {
            retries(of: call).requested(call.head.origin.description, policy, at: call.loop.now())
        }
        let delegate = TaskDelegate(call, of: listed)
        listed?.begin(delegate)
        do {
            let response = try await withinDeadline {
                try await session.open(call, by: delegate, after: reconnection)
            }
            noteSent(delegate.isRepeatable)
            if response.status == .noContent { return try decide(.noContent, nil) }
            state = .reading(
                EventResponse(
                    response, of: call, by: delegate, request.settings, after: machine?.lastEventID ?? ""))
        } catch {
            noteSent(delegate.isRepeatable)
            try failed(error, nil)
        }
    }

    private func noteSent(_ isRepeatable: Bool) {
        self.isRepeatable = isRepeatable && call?.head.isRepeatable == true
        if !isRepeatable { machine?.sentUnrepeatable() }
    }

    private func makeCall() throws -> HTTPSession.Call {
        if let former = self.call, former.jarNumber != session.core.configuration.cookies?.number {
            // The jar has become another user's.
            request.options.handlesCookies = .value(false)
        }
        let call = try request.call(of: session.core, after: machine?.lastEventID ?? request.firstID)
        // It would go on with what may be another user's session by now.
        if let former = self.call, former.era.closings != call.era.closings { throw cancelled }
        if machine == nil {
            machine = EventStreamMachine(
                request.settings, policy, until: request.sentinel, after: request.firstID,
                isIdempotent: call.head.method.isIdempotent, hasKey: call.head.isRepeatable)
            deadline = request.options.timeouts.total.own.map { total in
                InheritedDeadline(
                    time: call.loop.now().advanced(by: max(0, total.clampedNanoseconds)), loop: call.loop,
                    length: total)
            }
        }
        self.call = call
        return call
    }

    /// Has the earlier of the stream's own deadline and an inherited one count for a request.
    private func withinDeadline<Value>(_ work: () async throws -> Value) async throws -> Value {
        guard let deadline, deadline.time < InheritedDeadline.present?.time ?? .never else { return try await work() }
        return try await InheritedDeadline.$present.withValue(deadline) { try await work() }
    }

    private func read(_ response: EventResponse) async throws -> ServerSentEvent? {
        state = .over
        let event: ServerSentEvent?
        do {
            event = try await response.next()
        } catch {
            try failed(error, response)
            return nil
        }
        guard let event else {
            try decide(.complete, response)
            return nil
        }
        if request.settings.errorNames.contains(where: { $0.hasSameBytes(as: event.name) }) {
            let error = NetworkError(
                .errorEvent, "the server has sent the event \"\(event.name)\"", phase: .receive,
                requestMayHaveBeenSent: true)
            throw response.named(error, with: event.data)
        }
        guard machine?.received(event.data) == true else { return nil }
        state = .reading(response)
        return event
    }
}

// MARK: - What follows

extension EventReader {
    private func failed(_ error: any Error, _ response: EventResponse?) throws {
        try decide(.broken(outcome(of: error)), response, error)
    }

    private func decide(
        _ end: EventStreamMachine.End, _ response: EventResponse?, _ error: (any Error)? = nil
    ) throws {
        guard let call else { return }
        let now = call.loop.now()
        let circumstances = RetryMachine.Circumstances(
            canSendBody: call.body.canBeSent, timeLeft: (deadline?.time ?? .never).nanoseconds - now.nanoseconds,
            chance: retries(of: call).chance())
        let action = machine?.ended(end, response?.notes ?? EventStreamMachine.Notes(), circumstances)
        if machine?.hasSucceeded == true { failures = [] }
        switch action {
        case .finish, nil: return
        case .fail(let refusal): throw last(error ?? named(Self.empty, response), refusal)
        case .cutShort: throw named(cutShort(canSendBody: circumstances.canSendBody), response)
        case .reconnect(let wait, let isFree):
            guard isFree || retries(of: call).takeRetry(call.head.origin.description, policy, at: now) else {
                throw last(error ?? named(Self.empty, response), .budgetSpent)
            }
            reconnect(after: .nanoseconds(wait), error, isFree: isFree)
        }
    }

    private func reconnect(after wait: Duration, _ error: (any Error)?, isFree: Bool) {
        guard let machine else { return }
        let cause = error.map(Self.cause)
        if !isFree { failures.append(NetworkError.RetriedAttempt(cause ?? Self.emptyCause, wait: wait)) }
        if failures.count > Self.keptFailures { failures.removeFirst() }
        source.attempt = machine.attempt
        state = .connecting(
            HTTPSession.Reconnection(
                attempt: machine.attempt, wait: wait,
                lastEventID: machine.lastEventID.isEmpty ? nil : machine.lastEventID, cause: cause,
                beginsAnew: machine.beginsAnew))
    }

    private func outcome(of error: any Error) -> RetryMachine.Outcome {
        guard let error = error as? NetworkError, !error.isLastWord else { return .failed(.other, isSafe: false) }
        guard error.code == .unacceptableStatus, let head = error.response else {
            return .failed(RetryMachine.Failure(error), isSafe: error.isSafeToRetry)
        }
        let retryAfter = RetryAfter.wait(head.fields, at: WallClock.seconds)
        return .answered(
            head.status, isIdempotent: isRepeatable, mayHaveWorked: !isRepeatable,
            retryAfter: retryAfter?.clampedNanoseconds)
    }

    /// The error that ends the stream, with the failed attempts before it.
    private func last(_ error: any Error, _ refusal: NetworkError.RetryRefusal?) -> any Error {
        guard var error = error as? NetworkError else { return error }
        error.note(RetryHistory(failures, refusal))
        return error
    }

    private func retries(of call: HTTPSession.Call) -> RetrySettings { call.era.chain.settings.retries }

    private func named(_ error: NetworkError, _ response: EventResponse?) -> NetworkError {
        response?.named(error) ?? error
    }

    private static func cause(_ error: any Error) -> NetworkError.RetriedAttempt.Cause {
        guard let error = error as? NetworkError else { return emptyCause }
        if error.code == .unacceptableStatus, let head = error.response { return .status(head.status) }
        return .failure(error.code, error.phase)
    }

    private static let emptyCause = NetworkError.RetriedAttempt.Cause.failure(.connectionClosed, .receive)
    private static let keptFailures = 100

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
            } else if machine?.refusesBeginning == true {
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
