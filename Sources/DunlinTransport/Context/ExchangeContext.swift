internal import DunlinReactor
internal import DunlinSecure
internal import DunlinSemantics
internal import DunlinTypes
internal import DunlinWire

/// What every step of one exchange needs: limits, the cancellation, and enough to explain an error.
///
/// An object, so that the steps share it by one reference instead of copying a dozen.
final class ExchangeContext: Sendable {
    let clock: ExchangeClock
    let cancellation: Cancellation
    let terms: Terms
    let started: HTTP.Instant
    private let exchangeOptions: ExchangeOptions?
    /// Who is told what goes over the wire; usually nobody.
    let observer: (any WireObserver)?
    /// The terms that the connection is made under; nil if it is made as usual.
    let connectionTerms: ConnectionTerms?
    /// What the pool keeps connections by: the origin, and whatever else they must have in common.
    let place: HTTP.Origin
    /// What a proxy that reads the request is told of who sends it.
    let proxyAuthorization: String?

    /// What all exchanges of a transport have in common.
    final class Terms: Sendable {
        let limits: WireLimits
        /// The source of TLS policies; nil where there is no https.
        let tlsPolicySource: (any TLSPolicySource)?
        /// Nil if connections are made as usual.
        let connectionRules: ConnectionRules?

        init(
            _ limits: WireLimits, _ tlsPolicySource: (any TLSPolicySource)? = nil,
            _ connectionRules: ConnectionRules? = nil
        ) {
            self.limits = limits
            self.tlsPolicySource = tlsPolicySource
            self.connectionRules = connectionRules
        }

        /// The terms for one request.
        func connectionTerms(
            for request: TransportRequest, _ exchangeOptions: ExchangeOptions?
        ) throws -> ConnectionTerms? {
            try (exchangeOptions?.connectionRules ?? connectionRules)?.terms(for: request.head)
        }
    }

    init(
        _ request: TransportRequest, _ cancellation: Cancellation, _ terms: Terms,
        _ exchangeOptions: ExchangeOptions? = nil, _ observer: (any WireObserver)? = nil,
        under connectionTerms: ConnectionTerms? = nil, proxyAuthorization: String? = nil, since start: HTTP.Instant,
        on reactor: Reactor
    ) {
        self.connectionTerms = connectionTerms
        self.proxyAuthorization = proxyAuthorization
        // The terms of the session's direct way are in no key: the pool is that session's.
        let isUsual = connectionTerms == terms.connectionRules?.direct
        place = isUsual ? request.head.origin : request.head.origin.under(connectionTerms ?? .none)
        self.terms = terms
        self.exchangeOptions = exchangeOptions
        self.observer = observer
        clock = ExchangeClock(request, on: reactor)
        self.cancellation = cancellation
        started = start
    }

    var request: TransportRequest { clock.request }
    var method: HTTP.Method { request.head.method }
    var origin: HTTP.Origin { request.head.origin }
    /// The source of TLS policies: the request's own, or the session's; nil where there is no https.
    var tlsPolicySource: (any TLSPolicySource)? { exchangeOptions?.tlsPolicySource ?? terms.tlsPolicySource }
    /// The control by which the transfer is observed and suspended; usually nil.
    var control: TransferControl? { exchangeOptions?.control }
    /// Whether the request has a connection to itself: over TLS, with a TLS policy of its own. It resumes no TLS
    /// session that was made without its policy, and others do not use what it agreed on.
    var isAlone: Bool { exchangeOptions?.tlsPolicySource != nil && origin.scheme == .https }

    /// Whether a proxy may be asked for requests like this one, whatever was chosen: what is meant for it goes to no
    /// origin.
    var mayHaveProxy: Bool {
        connectionTerms?.proxy != nil || (exchangeOptions?.connectionRules ?? terms.connectionRules)?.chooseProxy != nil
    }

    /// Whether a proxy reads the request and forwards it: it goes in absolute form.
    var isForwarded: Bool { connectionTerms?.isForwarding == true }

    /// The same exchange, with what the proxy is told of who sends it.
    ///
    /// A proxy may close a connection behind its challenge without having said so. What may be sent again is sent over
    /// it all the same; anything else goes over another, for nobody could tell whether it was taken up.
    func authorized(_ authorization: String?, isFirst: Bool) -> ExchangeContext {
        let mayFail = isFirst || (request.head.isRepeatable && request.body.isReplayable)
        let request = mayFail ? self.request : self.request.with { $0.needsFreshConnection = true }
        return ExchangeContext(
            request, cancellation, terms, exchangeOptions, observer, under: connectionTerms,
            proxyAuthorization: authorization, since: isFirst ? started : clock.now(), on: clock.reactor)
    }

    /// The hop of the exchange as it begins.
    var hop: HTTP.Hop {
        var hop = HTTP.Hop()
        hop.started = started
        return hop
    }

    /// Cancels the exchange, whatever it waits for.
    func cancel(_ cause: Cancellation.Cause) {
        cancellation.cancel(cause)
        control?.stop()
    }
}

// MARK: - What went wrong

extension ExchangeContext {
    /// The error for a wait that did not succeed.
    func failure(_ wake: Wake, in phase: HTTP.Phase, since start: HTTP.Instant, _ hop: HTTP.Hop) -> any Error {
        switch wake {
        case .timedOut: timedOut(phase, since: start, hop)
        case .cancelled: cancelled(phase, hop)
        case .ready, .closed, .busy, .woken: closed("the connection was closed while in use", phase, hop)
        }
    }

    /// `limit` is given where no other counts meanwhile.
    func timedOut(
        _ phase: HTTP.Phase, exceeding limit: Timeouts.Limit? = nil, since start: HTTP.Instant, _ hop: HTTP.Hop
    ) -> any Error {
        let now = clock.now()
        let exceeded = limit ?? clock.exceeded(phase, at: now)
        let since = exceeded == .total ? started : start
        var error = error(.timedOut, Self.slowness(of: limit ?? Timeouts.Limit(phase)), in: phase, hop)
        error.exceeded = exceeded
        error.limit = clock.duration(of: exceeded)
        error.elapsed = now.duration(since: since)
        return error
    }

    /// The error of a cancelled call: if its Swift task was cancelled, `CancellationError`, which can carry no hop.
    func cancelled(_ phase: HTTP.Phase, _ hop: HTTP.Hop) -> any Error {
        let cause = cancellation.cause
        if cause == .deadline { return timedOut(phase, exceeding: .total, since: started, hop) }
        let error = error(.cancelled, "the request was cancelled", in: phase, hop)
        guard cause == .task else { return error }
        control?.untoldHop = error.hop
        return CancellationError()
    }

    /// The error of opening a connection, with the hop as that left it: the phase that failed has its time by then. A
    /// phase in which nothing is opened has the rest of the time, as in any other error.
    func telling(_ error: any Error, _ hop: HTTP.Hop) -> any Error {
        var hop = hop
        hop.ended = clock.now()
        if error is CancellationError, control?.untoldHop != nil { control?.untoldHop = hop }
        guard var failure = error as? NetworkError, failure.hop != nil else { return error }
        if let phase = failure.phase { hop.fill(phase) }
        failure.hop = hop
        return failure
    }

    func saidTooEarly(_ hop: HTTP.Hop) -> NetworkError {
        closed("the server sent bytes before the request was sent", .send, hop)
    }

    func closed(_ reason: String, _ phase: HTTP.Phase, _ hop: HTTP.Hop, _ cause: (any Error)? = nil) -> NetworkError {
        error(.connectionClosed, reason, in: phase, hop, cause: cause)
    }

    /// The error for a stream of bytes that broke.
    func broken(_ cause: StreamError, _ phase: HTTP.Phase, _ hop: HTTP.Hop) -> NetworkError {
        switch cause {
        case .system(let errno): closed("the connection failed", phase, hop, errno)
        // While a body was on its way, the reader learned that the server sends no more.
        case .tls(.closed): closed("the server closed the connection", phase, hop, TLSError.closed)
        case .tls(.truncated): closed("the response ended too soon", phase, hop, TLSError.truncated)
        case .tls(let error): insecure(error, phase, hop)
        }
    }

    /// The error for bytes that came on a new connection before anything was sent.
    func unasked(_ hop: HTTP.Hop) -> NetworkError {
        let who = connectionTerms?.proxy == nil ? "the server sent bytes" : "bytes came through the proxy"
        return error(.invalidResponse, "\(who) before the request was sent", in: .send, hop)
    }

    func insecure(_ cause: TLSError, _ phase: HTTP.Phase, _ hop: HTTP.Hop) -> NetworkError {
        guard case .untrusted(let refusal) = cause else {
            return error(.secureConnectionFailed, "\(cause)", in: phase, hop, cause: cause)
        }
        return error(.serverTrustFailed, "\(refusal)", in: phase, hop, cause: refusal)
    }

    /// The error for what the guard does not allow.
    func refused(_ cause: GuardRefusal, _ hop: HTTP.Hop) -> NetworkError {
        error(.guardRefused, "\(cause)", in: .connect, hop, cause: cause)
    }

    /// Who it happened with: the origin, by which proxy, at which address.
    private func peer(in phase: HTTP.Phase, _ hop: HTTP.Hop) -> String {
        let address = hop.peer.map { " at \($0)" } ?? ""
        guard let proxy = connectionTerms?.proxy else { return "\(origin)\(address)" }
        if phase == .proxyTLS || phase == .tunnel { return "the proxy \(proxy)\(address)" }
        return "\(origin) through the proxy \(proxy)\(address)"
    }

    func invalid(_ cause: WireError, _ phase: HTTP.Phase, _ hop: HTTP.Hop) -> NetworkError {
        if cause.isTruncation { return closed("the response ended too soon", phase, hop, cause) }
        if cause.isLimit {
            return error(.limitExceeded, "the response exceeds a limit", in: phase, hop, cause: cause)
        }
        return error(.invalidResponse, "the response is not valid HTTP/1.1", in: phase, hop, cause: cause)
    }

    /// All errors of an exchange are made here.
    func error(
        _ code: NetworkError.Code, _ reason: String, in phase: HTTP.Phase, _ hop: HTTP.Hop,
        cause underlying: (any Error)? = nil
    ) -> NetworkError {
        let (sent, now) = (hop.bytesSent > 0, clock.now())
        var error = NetworkError(
            code, reason, phase: phase, requestMayHaveBeenSent: sent, isSafeToRetry: !sent || request.head.isRepeatable,
            elapsed: now.duration(since: started), peer: peer(in: phase, hop), underlying: underlying)
        error.connectionWasReused = hop.isConnectionReused && hop.bytesReceived == 0
        var hop = hop
        hop.ended = now
        hop.fill(phase)
        error.hop = hop
        return error
    }

    private static func slowness(of limit: Timeouts.Limit) -> String {
        switch limit {
        case .pool: "timed out waiting for a free connection"
        case .resolve: "timed out resolving the name"
        case .connect: "timed out connecting"
        case .proxyTLS: "timed out in the TLS handshake with the proxy"
        case .tunnel: "timed out waiting for a tunnel through the proxy"
        case .tls: "timed out in the TLS handshake"
        case .send: "timed out sending the request: the peer stopped reading"
        case .firstByte: "timed out waiting for the response"
        case .readIdle: "timed out waiting for the rest of the response"
        case .queue: "timed out waiting in the request queue"
        case .total: "the request timed out"
        }
    }
}
