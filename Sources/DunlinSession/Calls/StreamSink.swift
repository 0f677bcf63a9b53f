internal import DunlinReactor
internal import DunlinTransport
internal import Synchronization

/// Delivers a response when its head has come, and ends the call when nobody reads it any more.
final class StreamSink: Sink {
    typealias Taken = Bytes
    typealias Apart = ErasedSink
    typealias Value = Void

    /// Whether the response is read within the call, in a scope whose end ends the call.
    let isScope: Bool
    let reconnection: HTTPSession.Reconnection?
    private let opening = Settlement<Result<HTTPSession.StreamedResponse, any Error>>()
    private let closing: ValueWaiter<(any Error)?>
    private let cancelledByTask = Atomic(false)

    init(isScope: Bool, after reconnection: HTTPSession.Reconnection? = nil, on loop: Reactor) {
        self.isScope = isScope
        self.reconnection = reconnection
        closing = ValueWaiter(on: loop)
    }

    /// The response. Waiting for it ends only with the call, so cancel the call to end it.
    var response: HTTPSession.StreamedResponse {
        get async throws { try await opening.value.get() }
    }

    /// Settles the response with an error: there will be none.
    func fail(_ error: any Error) {
        opening.settle(.failure(error))
    }

    /// Notes that nobody reads any more, perhaps because of an error.
    func close(_ error: (any Error)? = nil) {
        _ = closing.deliver(error)
    }

    /// Whether the request was cancelled with its task, before its response had been read.
    var wasCancelledByTask: Bool { cancelledByTask.load(ordering: .acquiring) }

    var handed: HTTPSession.StreamedResponse? {
        if case .success(let response) = opening.valueIfSettled { response } else { nil }
    }

    func take(from sending: inout Sending) async throws -> HTTPSession.Response<Bytes> {
        let arrival: Sending.Arrival
        if sending.delegate.kind == .upgrade {
            let brought = await Self.broughtByChild(from: sending)
            sending = brought.sending
            arrival = try brought.result.get()
        } else {
            arrival = try await Self.arrival(from: &sending)
        }
        let (streamed, arrived) = (self.streamed(arrival, sending), arrival.raw)
        opening.settle(.success(streamed))
        var isLeft = false
        var failure: (any Error)?
        do {
            switch try await waitForEnd(of: streamed, sending) {
            case .left(let error): (failure, isLeft) = (error, isScope)
            // A scope goes on with what it has.
            case .nothingLeft: break
            }
        } catch {
            // A scope goes on, but what it reads from now on fails.
            failure = error
            if sending.delegate.cancellation.cause == .task { cancelledByTask.store(true, ordering: .releasing) }
        }
        end(streamed, arrived, sending, failure, isLeft: isLeft)
        if let failure { throw failure }
        return HTTPSession.Response(
            head: streamed.head, value: .empty, interim: streamed.interim, metrics: streamed.metrics, url: streamed.url,
            history: streamed.history)
    }

    /// Brings the response of an upgrade, in a task of its own: a task keeps the memory of its deepest calls, which is
    /// some 25 KB for an exchange, and an upgraded connection may stay open for days.
    // Not inlined, or its part of this task's memory would be kept too.
    @inline(never)
    private static func broughtByChild(from sending: Sending) async -> Brought {
        async let brought = sending.delegate.arrival(of: sending)
        return await brought
    }

    /// What a child task has brought, and the call as it is then.
    fileprivate struct Brought {
        let result: Result<Sending.Arrival, any Error>
        let sending: Sending
    }

    fileprivate static func arrival(from sending: inout Sending) async throws -> Sending.Arrival {
        try await sending.intercepted { sending in
            let response = try await sending.answer()
            return try await sending.admit(response, outside: true)
        }
    }

    /// Ends the body: a running read fails as the call does, and later ones get the error; with `isLeft`, the error for
    /// whoever reads after the scope. The connection of an unread body is closed now, because observers are told of the
    /// end next and may need a connection.
    private func end(
        _ streamed: HTTPSession.StreamedResponse, _ arrived: TransportResponse, _ sending: Sending,
        _ error: (any Error)?, isLeft: Bool
    ) {
        let isTotal = (error as? NetworkError).map { $0.code == .timedOut && $0.exceeded == .total } ?? false
        // The error may be that of another request, which the reader made.
        let isTimedOut = isTotal && sending.loop.now() >= sending.request.deadline
        sending.delegate.end(isTimedOut ? .deadline : .handle)
        if isLeft { streamed.body.source.close() }
        guard case .stream(let stream) = arrived.body else { return }
        ReportingBody.leave(stream, because: error)
        let late: any Error =
            isLeft
            ? BodySequence.Source.scopeHasEnded
            : error ?? NetworkError(.bodyConsumed, "the stream has ended", phase: .receive)
        sending.callTransport.discard(stream, late)
    }

    private func streamed(
        _ arrival: Sending.Arrival, _ sending: Sending
    ) -> HTTPSession.StreamedResponse {
        let (callHistory, rules) = (sending.callHistory, sending.call.reading.errors)
        let last = sending.sent ?? sending.request
        let sent = RequestRecord.Source(last)
        var body = BodySequence(
            arrival.response.body, arrival.response.trailers, declaredLength: arrival.declaredLength)
        let before = sending.delegate.sent
        body.naming = { before.explained($0).named(sent, callHistory, rules) }
        return HTTPSession.StreamedResponse(
            head: arrival.response.head, interim: arrival.response.interim, body: body,
            hop: arrival.response.hop,
            content: sending.session.contentSettings, isValidated: sending.call.options.validatesResponse,
            keptBody: sending.call.reading.kept,
            url: sending.request.head.url(after: callHistory),
            history: callHistory?.redirects ?? [],
            retries: callHistory?.retryHistory?.retried ?? [],
            callHistory: callHistory, secretFields: arrival.response.secretFields, origin: last.head.origin,
            queued: sending.queued
        )
    }

    private enum End {
        /// Nobody reads any more, perhaps because of an error.
        case left((any Error)?)
        /// Nothing is left to receive.
        case nothingLeft
    }

    /// Waits until the body has been read; in a scope, until that is left. It also ends when the call is cancelled and,
    /// if something is left to read, at the call's deadline, whether somebody reads or not.
    private func waitForEnd(
        of response: HTTPSession.StreamedResponse, _ sending: Sending
    ) async throws -> End {
        // Its exchange is over.
        if !isScope, case .bytes = response.body.source.body { return .nothingLeft }
        let cancellation = Cancellation(partOf: sending.delegate.cancellation)
        // The limits of a request end with its 101.
        let deadline = response.status == .switchingProtocols ? .never : sending.request.deadline
        switch await closing.wait(until: deadline, cancellation: cancellation) {
        case .value(let error): return .left(error)
        // What a scope does once it has read everything needs the request no longer.
        case .cancelled where isScope && response.body.source.isRead,
            .timedOut where isScope && response.body.source.isRead:
            return .nothingLeft
        case .cancelled: throw cancellation.failure(limit: sending.request.timeouts.total)
        case .timedOut:
            throw NetworkError(
                .timedOut, "timed out before the response was read to its end", phase: .receive,
                requestMayHaveBeenSent: true,
                exceeding: .total, limit: sending.request.timeouts.total)
        }
    }
}

extension TaskDelegate {
    /// Brings a streamed response, on the call's loop.
    fileprivate func arrival(of sending: Sending) async -> StreamSink.Brought {
        var sending = sending
        do {
            let arrival = try await StreamSink.arrival(from: &sending)
            return StreamSink.Brought(result: .success(arrival), sending: sending)
        } catch {
            return StreamSink.Brought(result: .failure(error), sending: sending)
        }
    }
}
