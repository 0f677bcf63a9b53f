internal import DunlinCache
package import DunlinReactor
package import DunlinTransport

/// One way of a call to its answer: the call itself, what an interceptor sends for it, or a part of a download. It has
/// the request of the current hop, what came before, and what is known of that hop.
///
/// It is passed along with the request, from the call's beginning through the chain to the exchange, and whoever passes
/// it on waits meanwhile. So only one function changes it at a time, without a lock; those that only read have copies.
package struct Sending: Sendable {
    package let call: HTTPSession.Call
    package let delegate: TaskDelegate
    /// Sends bodies that are still under way when the response is read.
    let uploads: UploadScope?
    /// How long the call waited in a queue, in nanoseconds.
    let queued: Int64
    /// What the current hop asks for: the caller's request, or what a redirect made of it.
    package var request: TransportRequest
    /// The earlier hops and redirects.
    package var callHistory: CallHistory?
    /// When the next exchange begins, or when the last one began.
    package var start: HTTP.Instant
    /// The part of the call that it is, which can be cancelled alone; nil if it is the whole call.
    package var part: CallPart?
    /// Whether a retry policy may send it again.
    package var mayRetry = true
    /// How often it was sent.
    package var count = SendingMachine()
    /// What was sent: at all, in this attempt, and in this hop.
    var sentRequests = SentRequests()
    /// How often a retry policy has sent it again.
    var retries = 0

    // MARK: The current hop

    /// The request that was sent last for the hop; nil if that is `request`, or if nothing was sent.
    package var sent: TransportRequest?
    /// The names of the fields that the session's observers have added to it.
    var added: [String] = []
    /// What observers are told of its exchange; nil if nothing.
    var watched: ExchangeObservation?
    /// Who asked when it was sent last; nil unless the answer is kept outside the session's cache.
    var noted: NotedAccess?
    /// The terms of the hop; nil if nobody has asked for them yet.
    var chosen: ChosenTerms?
    /// The request with the jar's cookies; nil without a jar, or if nothing was sent.
    var withCookies: TransportRequest?
    /// Whether an interceptor around the last exchange replaced the body.
    var hasMadeBody = false
    /// The outcome that the stages before it have not judged yet, until one takes it.
    var known: KnownOutcome?

    // MARK: What is stored

    /// The stored response that is delivered, or that begins what is.
    var served: StoredResponse?
    /// Whether an earlier attempt has failed.
    var isRetry = false
    /// The numbers of stored responses that turned out to be useless.
    var useless: Set<UInt64> = []

    package var session: SessionCore { call.session }
    var chain: Chain { call.era.chain }
    package var loop: Reactor { delegate.loop }
    package var callTransport: CallTransport { call.era.chain.callTransport }
    /// The call's observers; nil if there are none.
    package var observers: RequestObservers? { delegate.observers }
    package var control: TransferControl? { observers?.control }
    /// Cancels the current exchange: every wait uses it. Observers are told about `delegate`.
    var cancellation: Cancellation { part?.cancellation ?? delegate.cancellation }
    package var snapshot: HTTPSession.TaskSnapshot { delegate.snapshot(at: loop.now()) }

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

extension Sending {
    /// Creates the call's own sending; `queued` is how long the call waited in a queue, nil if nobody observes it.
    // Delegating, so that the value is made at once: one that is made field by field is copied when it is whole.
    init(_ call: HTTPSession.Call, _ delegate: TaskDelegate, _ uploads: UploadScope?, queued: Int64?) throws {
        let start = queued == nil ? delegate.created : delegate.loop.now()
        var body = call.body
        if queued != nil, let control = delegate.observers?.control, call.era.chain.callTransport.sockets == nil {
            body = body.counted(by: control)
        }
        let request = try call.request(body, since: start)
        delegate.observers?.noteDeadline(request.deadline)
        self.init(
            call: call, delegate: delegate, uploads: uploads, queued: queued ?? 0, request: request,
            callHistory: delegate.settings?.callHistory, start: start)
    }

    /// The value of a waiter, within the call's limits. `isUnsent`: nothing of what it waits for has been sent.
    func value<Value>(of waiter: ValueWaiter<Value>, isUnsent: Bool, late reason: String) async throws -> Value {
        switch await waiter.wait(until: request.deadline, cancellation: cancellation) {
        case .value(let value): return value
        case .timedOut:
            throw NetworkError(
                .timedOut, reason, requestMayHaveBeenSent: !isUnsent, isSafeToRetry: isUnsent, exceeding: .total,
                limit: request.timeouts.total)
        case .cancelled: throw cancellation.failure(isUnsent: isUnsent, limit: request.timeouts.total)
        }
    }
}

/// One of several exchanges of a call. It is cancelled with the call or alone, and has its own position in queues; its
/// observers see it as the call.
package struct CallPart: Sendable {
    package let cancellation: Cancellation
    /// The options of this exchange; everything else is the call's.
    let exchangeOptions: ExchangeOptions?
    /// Creates a part for what an interceptor sends: it is seen as the call, or as the call's current part.
    init(of sending: Sending) {
        cancellation = Cancellation(partOf: sending.cancellation, isFirst: true)
        exchangeOptions = sending.part?.exchangeOptions ?? sending.delegate.settings?.exchangeOptions
    }

    /// Creates a part. The phase of the first part is the phase of the call.
    package init(of delegate: TaskDelegate, isFirst: Bool = false) {
        cancellation = Cancellation(partOf: delegate.cancellation, isFirst: isFirst)
        let control = delegate.observers.map { TransferControl(partOf: $0.control) }
        let whole = delegate.settings?.exchangeOptions
        exchangeOptions = ExchangeOptions(
            tlsPolicySource: whole?.tlsPolicySource, control: control, connectionRules: whole?.connectionRules)
    }
}
