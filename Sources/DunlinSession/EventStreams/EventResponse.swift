internal import DunlinReactor

/// One response of a stream of events, while it is read. Releasing it ends its exchange.
final class EventResponse {
    private let response: HTTPSession.StreamedResponse
    private let loop: Reactor
    private let start: HTTP.Instant
    private let silence: (timer: SilenceTimer, token: UInt64, limit: Duration)?
    /// Whether a redirect or an interceptor led to another origin than the one that was asked.
    private let isElsewhere: Bool
    private var events: BodySequence.Events.Iterator
    /// The last ID that can be sent; nil if there was none.
    private var lastUsableID: String?

    init(
        _ response: HTTPSession.StreamedResponse, of call: HTTPSession.Call, by delegate: TaskDelegate,
        _ settings: HTTPSession.EventSettings, after lastEventID: String
    ) {
        self.response = response
        loop = delegate.loop
        start = loop.now()
        isElsewhere = !response.origin.isSame(as: call.head.origin)
        silence = settings.silence.map { limit in
            let timer = SilenceTimer(limit, on: delegate.loop, delegate.observers?.control) {
                delegate.end(.handle)
            }
            return (timer, timer.begin(), limit)
        }
        events = response.resumedEvents(settings.eventLimit, after: lastEventID).makeAsyncIterator()
    }

    deinit {
        if let silence { silence.timer.end(silence.token) }
    }

    /// What the response has said of resuming.
    var notes: ReconnectionMachine.Notes {
        ReconnectionMachine.Notes(
            lastEventID: isElsewhere ? nil : lastUsableID, retry: events.retry,
            time: loop.now().nanoseconds - start.nanoseconds)
    }

    /// Whether it was a 204, which ends a stream.
    var isEmpty: Bool { response.status == .noContent }

    /// The error with the name of the request.
    func named(_ error: NetworkError) -> NetworkError { response.body.named(error) }

    /// The error with the name of the request, and the data of the event as its body.
    func named(_ error: NetworkError, with data: String) -> NetworkError {
        var error = error
        error.response = response.head
        error.body = Bytes(data).beginning(upTo: response.keptBody)
        return named(error)
    }

    func next() async throws -> ServerSentEvent? {
        // An event says the last ID; only at the end one may have come without an event.
        var last: String?
        defer { note(last ?? events.lastEventID) }
        let event = try await nextInTime()
        last = event?.id
        return event
    }

    private func note(_ id: String) {
        if ReconnectionMachine.isUsable(id) { lastUsableID = id }
    }

    private func nextInTime() async throws -> ServerSentEvent? {
        guard let silence else { return try await events.next() }
        silence.timer.waitBegan()
        defer { silence.timer.waitEnded() }
        do {
            return try await events.next()
        } catch {
            guard silence.timer.hasRung, !Task.isCancelled else { throw error }
            throw named(
                NetworkError(
                    .timedOut, "no event arrived for \(silence.limit.readable), as long as `silence` allows",
                    phase: .receive,
                    requestMayHaveBeenSent: true, limit: silence.limit, elapsed: silence.limit,
                    response: response.head))
        }
    }
}
