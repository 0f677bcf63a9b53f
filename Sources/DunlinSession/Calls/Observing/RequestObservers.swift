internal import DunlinReactor
internal import DunlinTransport
internal import Synchronization

/// The observers of one call, other than its caller: hooks, observers of events, and holders of a handle. A call
/// without observers costs one check.
///
/// The request's hooks come first. For a decision, the first opinion counts. Hooks are the user's code and run off the
/// loop; those that decide are cancelled when the call is cancelled or its deadline has come.
package final class RequestObservers: Sendable {
    /// The request's own hooks, then the session's.
    let hooks: [HTTPSession.Hooks]
    let events: EventHub
    let control: TransferControl
    /// Interim responses on their way to hooks; nil if no hook wants them.
    let interim: (stream: AsyncStream<ResponseHead>, continuation: AsyncStream<ResponseHead>.Continuation)?
    private let lastMoment = Atomic(HTTP.Instant.never.nanoseconds)
    /// How the request is written as a command.
    let curlSettings: CurlSettings
    private let state: Mutex<State>

    private struct State {
        /// The request as far as it is known: as it was made, then as it was sent last.
        var request: RequestRecord.Source
        var batchQueue = BatchQueue.none
    }

    init(
        _ hooks: [HTTPSession.Hooks], _ events: EventHub, _ control: TransferControl, _ request: RequestRecord.Source,
        _ curlSettings: CurlSettings
    ) {
        state = Mutex(State(request: request))
        self.curlSettings = curlSettings
        // Their number is limited by `limits`.
        interim = hooks.contains { $0.interimResponse != nil } ? AsyncStream.makeStream() : nil
        self.hooks = hooks.filter(\.isSet)
        self.events = events
        self.control = control
    }

    /// Calls each hook that is set, one after another.
    func tell<Hook: Sendable>(
        _ hook: KeyPath<HTTPSession.Hooks, Hook?>, _ call: @Sendable (Hook) async -> Void
    ) async {
        for hooks in hooks {
            guard let hook = hooks[keyPath: hook] else { continue }
            await Self.offLoop { await call(hook) }
        }
    }

    /// Makes a change and reports it, so that nothing that results from the change is reported before it. `change` must
    /// call its argument at the moment of the change, under the lock that guards it, and returns whether there was a
    /// change. The session's observers are told by `tell`, before the readers of events.
    func reporting(
        _ event: @autoclosure () -> HTTPSession.Event, tell: () -> Void, _ change: (() -> Void) -> Bool
    ) -> Bool {
        let event = events.hasObservers ? event() : nil
        var mustTell = false
        let isNew = change { if let event { mustTell = events.note(event) } }
        if isNew { tell() }
        if mustTell { events.tellAll() }
        return isNew
    }

    func hasHook<Hook>(_ hook: KeyPath<HTTPSession.Hooks, Hook?>) -> Bool {
        hooks.contains { $0[keyPath: hook] != nil }
    }

    private static func offLoop(_ work: @Sendable () async -> Void) async {
        await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in
            leaveLoop()
            await work()
        }
    }
}

extension RequestObservers {
    /// The response to deliver, whose bytes are counted from here on, and where a hook wants the body to go; throws if
    /// a hook refuses it. The response to a range continues after `base` bytes, and with a `total` others may bring the
    /// rest.
    func admitted(
        _ arrived: TransportResponse, _ sending: Sending, appendingTo base: Int = 0, of total: Int? = nil
    ) async throws -> (response: TransportResponse, destination: HTTPSession.Destination?) {
        var response = arrived
        let isCoded = response.head.fields.contains("content-encoding")
        let isPart = response.head.status == .partialContent
        let base = isPart ? base : 0
        let missing = isPart ? total.map { $0 - base } : nil
        switch response.body {
        case .bytes(let bytes):
            control.beginReceiving(missing ?? bytes.count, isCoded: isCoded, after: base)
            control.received(upTo: bytes.count)
        case .stream(let stream):
            control.beginReceiving(missing ?? stream.expectedLength, isCoded: isCoded, after: base)
            let isUpgrade = response.head.status == .switchingProtocols
            if isUpgrade {
                control.switchedProtocols()
                // The limits of a request end with its 101.
                noteDeadline(.never)
            }
            if sending.callTransport.sockets == nil {
                let counted = CountedBody(stream, control, until: isUpgrade ? .never : sending.request.deadline)
                response = response.with(.stream(counted), response.hop)
            }
        }
        guard hasHook(\.response) else { return (response, nil) }
        return (response, try await decide(on: response.head, sending))
    }

    private func decide(on head: ResponseHead, _ sending: Sending) async throws -> HTTPSession.Destination? {
        let snapshot = sending.snapshot
        switch try await sending.ask(\.response, { await $0(snapshot, head) }) {
        case nil, .accept: return nil
        case .download(let destination): return destination
        case .cancel: break
        }
        throw NetworkError(
            .cancelled, "the `response` hook cancelled the request", phase: .receive, requestMayHaveBeenSent: true,
            response: head
        )
    }

    /// The response, with its chunks reported to hooks if any want them. The call waits for these hooks, so its limits
    /// and its cancellation apply to them.
    package func reportingData(of response: TransportResponse, _ sending: Sending) async throws -> TransportResponse {
        guard hasHook(\.data) else { return response }
        var sending = sending
        // The limits of a request end with its 101.
        if response.head.status == .switchingProtocols {
            sending.request = sending.request.with { $0.deadline = .never }
        }
        let tell: @Sendable (Bytes) async throws -> Void = { [sending] piece in
            let snapshot = sending.snapshot
            // The body may be read outside the call, but its hooks are part of the call.
            try await Enclosure.enter(request: sending.delegate.id, of: sending.session) {
                // Another hook may have suspended the call, whose data need not come from a connection.
                try await sending.pass()
                try await sending.tell(\.data) { await $0(snapshot, piece) }
            }
        }
        switch response.body {
        case .bytes(let bytes):
            if !bytes.isEmpty { try await tell(bytes) }
            return response
        case .stream(let stream):
            return response.with(.stream(ObservedBody(stream, tell)), response.hop)
        }
    }

    /// Tells the hooks how the call ended.
    func tell(_ completion: HTTPSession.Completion) async {
        await tell(\.metrics) { await $0(completion.task, completion.metrics) }
        await tell(\.completed) { await $0(completion) }
    }

    /// Notes that the request is being sent in this form.
    func note(_ sent: TransportRequest) {
        let source = RequestRecord.Source(sent)
        state.withLock { $0.request = source }
    }

    /// The request as far as it is known.
    var record: RequestRecord { RequestRecord(state.withLock { $0.request }, curlSettings) }

    /// Whether hooks are told what happens while the call runs.
    var wantsNews: Bool { hasHook(\.uploadProgress) || hasHook(\.downloadProgress) || interim != nil }

    /// The call's deadline, as far as it is known.
    var deadline: HTTP.Instant { HTTP.Instant(nanoseconds: lastMoment.load(ordering: .relaxed)) }

    /// Notes the deadline of the call, which hooks have too.
    func noteDeadline(_ deadline: HTTP.Instant) { lastMoment.store(deadline.nanoseconds, ordering: .relaxed) }

    /// Notes that the transfer is over.
    func end() {
        control.end()
        interim?.continuation.finish()
    }
}

// MARK: - Batches

extension RequestObservers {
    /// The queue of the call's batch.
    private enum BatchQueue {
        case none
        case joined(RequestQueue, RequestQueue.Entry?)
        case passed
    }

    /// Joins a batch's queue, unless the call is in another queue or under way. It gets its position at once, so that a
    /// batch's calls are queued in order; a call that comes after others enters later.
    func join(_ queue: RequestQueue, comesLater: Bool) {
        state.withLock { state in
            guard case .none = state.batchQueue else { return }
            state.batchQueue = .joined(queue, comesLater ? nil : queue.enter("", control))
        }
    }

    /// Takes the queue for the call that is to pass it now. Whoever takes an entry must wait for it.
    func takeBatchQueue() -> (queue: RequestQueue, entry: RequestQueue.Entry?)? {
        state.withLock { state in
            defer { state.batchQueue = .passed }
            guard case .joined(let queue, let entry) = state.batchQueue else { return nil }
            return (queue, entry)
        }
    }
}
