internal import DunlinReactor
internal import DunlinSecure
internal import DunlinTypes
internal import DunlinWire

/// What every step of one exchange needs: limits, the cancel switch, and enough to say what went wrong.
///
/// An object, so that the steps share it by one reference instead of copying a dozen.
final class ExchangeContext: Sendable {
    let clock: ExchangeClock
    let interrupt: Interrupt
    let terms: Terms
    let started: MonotonicTime
    private let attendants: Attendants?

    /// What all exchanges of a transport have in common.
    final class Terms: Sendable {
        let limits: WireLimits
        /// Whom a handshake asks; nil where there is no https.
        let advisor: (any HandshakeAdvisor)?

        init(_ limits: WireLimits, _ advisor: (any HandshakeAdvisor)? = nil) {
            self.limits = limits
            self.advisor = advisor
        }
    }

    init(
        _ request: TransportRequest, _ interrupt: Interrupt, _ terms: Terms, _ attendants: Attendants? = nil,
        since start: MonotonicTime, on reactor: Reactor
    ) {
        self.terms = terms
        self.attendants = attendants
        clock = ExchangeClock(request, on: reactor)
        self.interrupt = interrupt
        started = start
    }

    var request: TransportRequest { clock.request }
    var method: Method { request.head.method }
    var origin: Origin { request.head.origin }
    /// Whom a handshake asks; nil where nothing is secure.
    var advisor: (any HandshakeAdvisor)? { attendants?.advisor ?? terms.advisor }
    /// Who looks on, and may hold the transfer; usually nobody.
    var watch: TransferWatch? { attendants?.watch }
    /// With an advisor of its own a request has a connection to itself over TLS, of which nothing was agreed on without
    /// its advisor and nothing that was agreed on is used by others.
    var isAlone: Bool { attendants?.advisor != nil && origin.scheme == .https }

    /// The exchange as it begins.
    var attempt: Attempt {
        var attempt = Attempt()
        attempt.started = started
        return attempt
    }

    /// When the wait began that the limit of `pool` is for: with the exchange, or before it in a queue.
    var waitStarted: MonotonicTime {
        started.advanced(by: -(watch?.standing.queuedTime(until: started) ?? 0))
    }

    /// Ends what the exchange waits for.
    func cancel(_ cause: Interrupt.Cause) {
        interrupt.cancel(cause)
        watch?.stop()
    }
}

// MARK: - What went wrong

extension ExchangeContext {
    /// The error for a wait that did not end well.
    func failure(_ wake: Wake, in phase: Phase, since start: MonotonicTime, _ attempt: Attempt) -> any Error {
        switch wake {
        case .timedOut: timedOut(phase, since: start, attempt)
        case .interrupted: interrupted(phase, attempt)
        case .ready, .closed, .busy: closed("the connection was closed while in use", phase, attempt)
        }
    }

    func timedOut(_ phase: Phase, since start: MonotonicTime, _ attempt: Attempt) -> any Error {
        let now = clock.now()
        let exceeded = clock.exceeded(phase, at: now)
        let since = exceeded == .total ? started : start
        var error = error(.timedOut, Self.slowness(of: phase), in: exceeded, attempt)
        error.limit = clock.limit(of: exceeded)
        error.elapsed = now.duration(since: since)
        return error
    }

    /// What a cancelled request throws: the Swift task's own cancellation stays `CancellationError`.
    func interrupted(_ phase: Phase, _ attempt: Attempt) -> any Error {
        if interrupt.cause == .task { return CancellationError() }
        return error(.cancelled, "the request was cancelled", in: phase, attempt)
    }

    func closed(_ reason: String, _ phase: Phase, _ attempt: Attempt, _ cause: (any Error)? = nil) -> NetworkError {
        error(.connectionClosed, reason, in: phase, attempt, cause: cause)
    }

    /// The error for a stream of bytes that broke.
    func broken(_ cause: StreamError, _ phase: Phase, _ attempt: Attempt) -> NetworkError {
        switch cause {
        case .system(let errno): closed("the connection failed", phase, attempt, errno)
        // While a body was on its way the reader learned that the server has said its last.
        case .tls(.closed): closed("the server closed the connection", phase, attempt, TLSError.closed)
        case .tls(.truncated): closed("the response ended too soon", phase, attempt, TLSError.truncated)
        case .tls(let error): insecure(error, phase, attempt)
        }
    }

    func insecure(_ cause: TLSError, _ phase: Phase, _ attempt: Attempt) -> NetworkError {
        guard case .untrusted(let refusal) = cause else {
            return error(.secureConnectionFailed, "\(cause)", in: phase, attempt, cause: cause)
        }
        return error(.serverTrustFailed, "\(refusal)", in: phase, attempt, cause: refusal)
    }

    func invalid(_ cause: WireError, _ phase: Phase, _ attempt: Attempt) -> NetworkError {
        if cause.isTruncation { return closed("the response ended too soon", phase, attempt, cause) }
        if cause.isLimit {
            return error(.limitExceeded, "the response exceeds a limit", in: phase, attempt, cause: cause)
        }
        return error(.invalidResponse, "the peer broke the rules of HTTP/1.1", in: phase, attempt, cause: cause)
    }

    /// All errors of an exchange are made here.
    func error(
        _ code: NetworkError.Code, _ reason: String, in phase: Phase, _ attempt: Attempt,
        cause underlying: (any Error)? = nil
    ) -> NetworkError {
        let sent = attempt.bytesSent > 0
        let peer = attempt.peer.map { "\(origin) at \($0)" } ?? "\(origin)"
        var error = NetworkError(
            code, reason, phase: phase, requestMayHaveBeenSent: sent, isSafeToRetry: !sent || method.isIdempotent,
            elapsed: clock.now().duration(since: started), peer: peer, underlying: underlying)
        error.connectionWasReused = attempt.isConnectionReused && attempt.bytesReceived == 0
        error.attempt = attempt
        error.attempt?.ended = clock.now()
        return error
    }

    private static func slowness(of phase: Phase) -> String {
        switch phase {
        case .pool: "no connection became free in time"
        case .resolve: "the name was not resolved in time"
        case .connect: "the connection was not opened in time"
        case .secure: "the TLS handshake took too long"
        case .send: "the peer stopped taking the request"
        case .firstByte: "no response came in time"
        case .idle: "the response stopped coming"
        case .total: "the request took too long"
        }
    }
}
