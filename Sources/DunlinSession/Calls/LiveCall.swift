package import DunlinReactor
package import DunlinTransport

/// The current state of one of a call's sendings: the request, what came before, and what is known of its current hop.
/// The call's delegate owns it; others get copies to read.
package struct LiveCall: Sendable {
    package let asked: HTTPSession.Call
    package let delegate: TaskDelegate
    /// Sends bodies that are still under way when the response is read.
    let uploads: UploadScope?
    /// The next request to send; once it is answered, the one that was sent.
    package var request: TransportRequest
    /// The request that a stage sent last; nil if that is `request`.
    package var sent: TransportRequest?
    /// The names of the fields that the session's observers have added to the current hop's request.
    var added: [String] = []
    /// When the next exchange begins, or when the last one began.
    package var start: HTTP.Instant
    /// The earlier hops and redirects.
    package var callHistory: CallHistory?
    /// The part that the next exchange is, which can be cancelled alone; nil if it is the whole call.
    package var part: CallPart?
    /// The terms of the current hop; nil if nobody has asked for them yet.
    var chosen: ChosenTerms?
    /// Whether a retry policy may send it again.
    package var mayRetry = true
    /// Whether an interceptor around the last exchange replaced the body.
    var hasMadeBody = false
    /// What has been sent so far.
    var sentRequests = SentRequests()
    /// How long the call waited in a queue, in nanoseconds.
    let queued: Int64

    /// Creates the state; `queued` is how long the call waited in a queue, nil if nobody observes it.
    init(_ call: HTTPSession.Call, _ delegate: TaskDelegate, _ uploads: UploadScope?, queued: Int64?) throws {
        let start = queued == nil ? delegate.created : delegate.loop.now()
        var body = call.body
        if queued != nil, let control = delegate.observers?.control, call.era.chain.callTransport.sockets == nil {
            body = body.counted(by: control)
        }
        (asked, self.delegate, self.uploads, self.start) = (call, delegate, uploads, start)
        request = try call.request(body, since: start)
        delegate.observers?.noteDeadline(request.deadline)
        callHistory = delegate.settings?.callHistory
        self.queued = queued ?? 0
    }

    package var session: SessionCore { asked.session }
    var chain: Chain { asked.era.chain }
    package var loop: Reactor { delegate.loop }
    package var callTransport: CallTransport { asked.era.chain.callTransport }
    /// The call's observers; nil if there are none.
    package var observers: RequestObservers? { delegate.observers }
    package var control: TransferControl? { observers?.control }
    /// Cancels the current exchange: every wait uses it. Observers are told about `delegate`.
    var cancellation: Cancellation { part?.cancellation ?? delegate.cancellation }
    package var snapshot: HTTPSession.TaskSnapshot { delegate.snapshot(at: loop.now()) }
    /// Whether everything that was sent was a GET without a body, whatever was requested.
    package var hasSentOnlyGETs: Bool { !sentRequests.call.contains(.notGET) }

    /// Whether code of the user's may have something else sent than what is asked for.
    package var mayBecomeAnother: Bool {
        !chain.callInterceptors.isEmpty || !chain.exchangeInterceptors.isEmpty || hasHook(\.redirect)
    }

    package func hasHook<Hook>(_ hook: KeyPath<HTTPSession.Hooks, Hook?>) -> Bool { observers?.hasHook(hook) ?? false }

    /// Waits while the call is suspended; throws if it may not continue. `isUnsent`: nothing of it has been sent.
    package func pass(isUnsent: Bool = false) async throws {
        if let control { try await delegate.pass(control, until: request.deadline, isUnsent: isUnsent) }
    }

    /// Runs work that supports only task cancellation, and stops it when the call is cancelled or its deadline comes.
    package func withinLimits<Value: Sendable>(
        in phase: HTTP.Phase? = nil, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await callTransport.withinLimits(
            until: request.deadline, request.timeouts.total, cancellation, on: loop, in: phase, work)
    }
}

// MARK: - Responses

extension LiveCall {
    /// A response whose body has not been taken yet.
    package struct Arrival: Sendable {
        package let response: TransportResponse
        /// The response as received, from which this one was made.
        let raw: TransportResponse
        let traits: ResponseTraits

        /// Whether the body is not what the server sent: content codings are being removed, or an interceptor replaced
        /// it.
        package var isChanged: Bool { traits.isChanged }
        /// Where a hook wants the body to go.
        var destination: HTTPSession.Destination? { traits.destination }
        /// The body's length, if the server declared it and the body is the server's.
        var declaredLength: Int? { isChanged ? nil : raw.declaredLength }

        /// What is known of a response apart from itself.
        struct ResponseTraits: Sendable {
            var isChanged: Bool
            var destination: HTTPSession.Destination?
        }

        init(
            _ response: TransportResponse, of raw: TransportResponse, isChanged: Bool,
            _ destination: HTTPSession.Destination?
        ) {
            (self.response, self.raw) = (response, raw)
            traits = ResponseTraits(isChanged: isChanged, destination: destination)
        }

        /// Creates an arrival for a response that an interceptor returned unchanged.
        init(_ response: TransportResponse, as traits: ResponseTraits) {
            (self.response, raw, self.traits) = (response, response, traits)
        }

        /// Creates an arrival for a response by which an interceptor replaced another.
        init(made response: TransportResponse, insteadOf former: ResponseTraits?) {
            self.init(response, of: response, isChanged: true, former?.destination)
        }
    }

    /// Asks the hooks about a response and removes its content codings. With `outside`, the body is read outside the
    /// call, but within its limits.
    func admit(
        _ arrived: TransportResponse, appendingTo base: Int = 0, of total: Int? = nil, outside: Bool = false
    ) async throws -> Arrival {
        do {
            return try await admitted(arrived, appendingTo: base, of: total, outside: outside)
        } catch {
            throw failing(error, on: arrived)
        }
    }

    private func admitted(
        _ arrived: TransportResponse, appendingTo base: Int, of total: Int?, outside: Bool
    ) async throws -> Arrival {
        var (response, destination) = (arrived, HTTPSession.Destination?.none)
        if let observers {
            if callTransport.sockets == nil { asked.body.noteSent(by: observers.control) }
            (response, destination) = try await observers.admitted(arrived, self, appendingTo: base, of: total)
        }
        if outside, callTransport.sockets == nil, case .stream(let stream) = response.body {
            let body = CancellableBody(
                stream, callTransport, delegate.cancellation, on: loop,
                until: response.head.status == .switchingProtocols ? .never : request.deadline,
                limit: request.timeouts.total)
            response = response.with(.stream(body), response.hop)
        }
        var isChanged = hasMadeBody
        if asked.reading.decodes, let plain = try session.decoding.apply(to: response, observedBy: control) {
            response = plain
            isChanged = true
        } else if asked.reading.decodes, session.decoding.isCodedPart(response) {
            guard chain.settings.builder.asksForCodings((sent ?? request).head.fields) else {
                throw Decoding.codedPart(response.head)
            }
        }
        if let observers { response = try await observers.told(response, self) }
        return Arrival(response, of: arrived, isChanged: isChanged, destination)
    }
}
