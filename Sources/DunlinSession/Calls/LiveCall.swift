package import DunlinReactor
package import DunlinTransport

/// How one of a call's sendings stands at a moment: what it asks for, what came before, and what is known of its
/// present hop. The call's delegate has it; others get copies, which they may read and ask.
package struct LiveCall: Sendable {
    package let asked: HTTPSession.Call
    package let delegate: TaskDelegate
    /// Sends bodies that are still on their way when the response is read.
    let uploads: UploadScope?
    /// The next request to send; once it is answered, the one that was sent.
    package var request: TransportRequest
    /// The request as a stage had it sent last; nil where that is `request`.
    package var sent: TransportRequest?
    /// When the next exchange begins, or the last one did.
    package var start: HTTP.Instant
    /// The earlier hops and redirects.
    package var callHistory: CallHistory?
    /// The part that the next exchange is, which may be cancelled alone; nil if it is the whole call.
    package var part: CallPart?
    /// Under which terms the present hop goes; nil if nobody has asked yet.
    var chosen: ChosenTerms?
    /// What was known of who asks before the present exchange; nil if nobody will want to know.
    var asking: Asking?
    /// Whether a retry policy may have it sent again.
    package var mayRetry = true
    /// Whether an interceptor around the last exchange put another body in the place of the one that came.
    var hasMadeBody = false
    /// What has been sent so far.
    var sentRequests = SentRequests()
    /// Nanoseconds the call waited in a queue.
    let queued: Int64

    /// `queued` is how long it waited in a queue; nil if nobody observes it.
    init(_ call: HTTPSession.Call, _ delegate: TaskDelegate, _ uploads: UploadScope?, queued: Int64?) throws {
        let start = queued == nil ? delegate.created : delegate.loop.now()
        var body = call.body
        if queued != nil, let control = delegate.observers?.control, call.era.chain.callTransport.sockets == nil {
            body = body.counted(by: control)
        }
        (asked, self.delegate, self.uploads, self.start) = (call, delegate, uploads, start)
        request = try call.request(body, since: start)
        callHistory = delegate.settings?.callHistory
        self.queued = queued ?? 0
    }

    package var session: SessionCore { asked.session }
    var chain: Chain { asked.era.chain }
    package var loop: Reactor { delegate.loop }
    package var callTransport: CallTransport { asked.era.chain.callTransport }
    /// Nil for a call without observers.
    package var observers: RequestObservers? { delegate.observers }
    package var control: TransferControl? { observers?.control }
    /// What cancels the present exchange: every wait on the way uses it. Observers are told of `delegate`.
    var cancellation: Cancellation { part?.cancellation ?? delegate.cancellation }
    package var snapshot: HTTPSession.TaskSnapshot { delegate.snapshot(at: loop.now()) }
    /// Whether all that was sent were GETs without a body, whatever was asked for.
    package var hasSentOnlyGETs: Bool { !sentRequests.call.contains(.notGET) }

    /// Whether code of the user's may have something else sent than what is asked for.
    package var mayBecomeAnother: Bool {
        !chain.callInterceptors.isEmpty || !chain.exchangeInterceptors.isEmpty || hasHook(\.redirect)
    }

    package func hasHook<Hook>(_ hook: KeyPath<HTTPSession.Hooks, Hook?>) -> Bool { observers?.hasHook(hook) ?? false }

    /// Waits while the call is suspended; throws if it may not go on. `isUnsent`: nothing of it was sent.
    package func pass(isUnsent: Bool = false) async throws {
        if let control { try await delegate.pass(control, until: request.deadline, isUnsent: isUnsent) }
    }

    /// Runs work that knows only task cancellation, and stops it when the call is cancelled or its deadline has come.
    package func foreign<Value: Sendable>(
        in phase: HTTP.Phase? = nil, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await callTransport.foreign(
            until: request.deadline, request.timeouts.total, cancellation, on: loop, in: phase, work)
    }
}

// MARK: - Responses

extension LiveCall {
    /// A response whose body is still to be taken.
    package struct Arrival: Sendable {
        package let response: TransportResponse
        /// The response as it came, of which this one is made.
        let raw: TransportResponse
        let nature: Nature

        /// Whether its body is not what the server sent: its content codings are being taken off, or an interceptor put
        /// another in its place.
        package var isChanged: Bool { nature.isChanged }
        /// Where a hook wants the body to go.
        var destination: HTTPSession.Destination? { nature.destination }
        /// The body's length, if the server declared it and the body is the server's.
        var declaredLength: Int? { isChanged ? nil : raw.declaredLength }

        /// What is known of a response beside itself.
        struct Nature: Sendable {
            var isChanged: Bool
            var destination: HTTPSession.Destination?
        }

        init(
            _ response: TransportResponse, of raw: TransportResponse, isChanged: Bool,
            _ destination: HTTPSession.Destination?
        ) {
            (self.response, self.raw) = (response, raw)
            nature = Nature(isChanged: isChanged, destination: destination)
        }

        /// The response that an interceptor returned as it got it.
        init(_ response: TransportResponse, as nature: Nature) {
            (self.response, raw, self.nature) = (response, response, nature)
        }

        /// A response that an interceptor put in the place of another.
        init(made response: TransportResponse, insteadOf former: Nature?) {
            self.init(response, of: response, isChanged: true, former?.destination)
        }
    }

    /// Asks the hooks about a response and takes its content codings off. With `outside`, the body is read outside of
    /// the call, yet within its limits.
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
            let body = ForeignBody(
                stream, callTransport, delegate.cancellation, on: loop, until: request.deadline,
                limit: request.timeouts.total)
            response = response.with(.stream(body), response.hop)
        }
        var isChanged = hasMadeBody
        if asked.reading.decodes, let plain = try session.decoding.apply(to: response, telling: control) {
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
