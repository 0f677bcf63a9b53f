internal import DunlinReactor
internal import DunlinSecure
internal import DunlinSemantics
internal import DunlinTypes
internal import DunlinWire

/// What every step of one exchange needs: limits, the cancellation, and what errors have to say.
///
/// It is an object, so that the steps share one reference instead of copying a dozen.
final class ExchangeContext: Sendable {
    let clock: ExchangeClock
    let cancellation: Cancellation
    let terms: Terms
    let started: HTTP.Instant
    /// The number of the call's request; 0 without a call.
    let number: UInt64
    let exchangeOptions: ExchangeOptions?
    /// The observer of what is sent and received; usually nil.
    let observer: (any WireObserver)?
    /// The terms of the connection; nil for the usual ones.
    let connectionTerms: ConnectionTerms?
    /// The key of the pool's connections: the origin, and whatever else they must have in common.
    let poolKey: HTTP.Origin
    /// The credentials for a proxy that reads the request.
    let proxyAuthorization: String?

    /// What all exchanges of a transport have in common.
    final class Terms: Sendable {
        let limits: WireLimits
        /// The source of TLS policies; nil without https.
        let tlsPolicySource: (any TLSPolicySource)?
        /// The connection rules; nil for the usual ones.
        let connectionRules: ConnectionRules?
        /// Whether a request, by its number, may wait for a connection; nil if all may.
        fileprivate let mayWait: (@Sendable (_ request: UInt64) -> Bool)?

        init(
            _ limits: WireLimits, _ tlsPolicySource: (any TLSPolicySource)? = nil,
            _ connectionRules: ConnectionRules? = nil,
            mayWait: (@Sendable (_ request: UInt64) -> Bool)? = nil
        ) {
            self.mayWait = mayWait
            self.limits = limits
            self.tlsPolicySource = tlsPolicySource
            self.connectionRules = connectionRules
        }

        /// The terms for a request.
        func connectionTerms(
            for request: TransportRequest, _ exchangeOptions: ExchangeOptions?
        ) throws -> ConnectionTerms? {
            try (exchangeOptions?.connectionRules ?? connectionRules)?.terms(
                for: request.head, inTunnel: exchangeOptions?.upgrade != nil)
        }
    }

    init(
        _ request: TransportRequest, _ cancellation: Cancellation, _ terms: Terms,
        _ exchangeOptions: ExchangeOptions? = nil, _ observer: (any WireObserver)? = nil,
        under connectionTerms: ConnectionTerms? = nil, proxyAuthorization: String? = nil, number: UInt64 = 0,
        since start: HTTP.Instant, on reactor: Reactor
    ) {
        self.number = number
        self.connectionTerms = connectionTerms
        self.proxyAuthorization = proxyAuthorization
        // The session's direct terms are not part of keys, since the pool is that session's.
        let isUsual = connectionTerms == terms.connectionRules?.direct
        poolKey = isUsual ? request.head.origin : request.head.origin.under(connectionTerms ?? .none)
        self.terms = terms
        self.exchangeOptions = exchangeOptions
        self.observer = observer
        clock = ExchangeClock(request, exchangeOptions?.control, on: reactor)
        self.cancellation = cancellation
        started = start
    }

    /// What it does where all connections are in use, at `start`.
    func standing(since start: HTTP.Instant) -> PoolStanding {
        if terms.mayWait?(number) ?? true { return .waits }
        return clock.deadline(for: .pool, from: start) < .never ? .exceedsOrWaits : .exceeds
    }

    var request: TransportRequest { clock.request }
    var method: HTTP.Method { request.head.method }
    var origin: HTTP.Origin { request.head.origin }
    /// The source of TLS policies: the request's own, or the session's; nil without https.
    var tlsPolicySource: (any TLSPolicySource)? { exchangeOptions?.tlsPolicySource ?? terms.tlsPolicySource }
    /// The control that observes and suspends the transfer; usually nil.
    var control: TransferControl? { exchangeOptions?.control }
    /// How to use the connection after a 101; nil if the request may not offer another protocol.
    var upgrade: UpgradeOptions? { exchangeOptions?.upgrade }
    /// Whether the request has its own connection: over TLS, with its own TLS policy. It resumes no TLS session that
    /// was made without its policy, and others do not use its own.
    var isAlone: Bool { exchangeOptions?.tlsPolicySource != nil && origin.scheme == .https }

    /// Whether requests like this one may use a proxy, whatever was chosen: fields for the proxy must never reach an
    /// origin.
    var mayHaveProxy: Bool {
        connectionTerms?.proxy != nil || (exchangeOptions?.connectionRules ?? terms.connectionRules)?.chooseProxy != nil
    }

    /// Whether a proxy reads and forwards the request, which then has absolute form.
    var isForwarded: Bool { connectionTerms?.isForwarding == true }

    /// The same exchange, with credentials for the proxy.
    ///
    /// A proxy may close a connection after its challenge without announcing it. A request that may be repeated is
    /// still sent on it; any other uses another connection, since it could not be known whether it was processed.
    func authorized(_ authorization: String?, isFirst: Bool) -> ExchangeContext {
        let mayFail = isFirst || (request.head.isRepeatable && request.body.isReplayable)
        let request = mayFail ? self.request : self.request.with { $0.needsFreshConnection = true }
        return ExchangeContext(
            request, cancellation, terms, exchangeOptions, observer, under: connectionTerms,
            proxyAuthorization: authorization, number: number, since: isFirst ? started : clock.now(),
            on: clock.reactor)
    }

    /// The hop of the exchange at its beginning.
    var hop: HTTP.Hop {
        var hop = HTTP.Hop()
        hop.started = started
        return hop
    }

    /// Waits until a suspended exchange is resumed.
    func resumed(_ control: TransferControl, in phase: HTTP.Phase, _ hop: HTTP.Hop) async throws {
        let start = clock.now()
        switch await control.pass(until: clock.whole) {
        case .open: break
        case .timedOut: throw timedOut(phase, exceeding: .total, since: start, hop)
        case .cancelled: throw cancelled(phase, hop)
        }
        if cancellation.cause != nil { throw cancelled(phase, hop) }
    }

    /// Cancels the exchange, whatever it waits for.
    func cancel(_ cause: Cancellation.Cause) {
        cancellation.cancel(cause)
        control?.stop()
    }
}

// MARK: - What went wrong

extension ExchangeContext {
    /// The error for a wait that failed.
    func failure(_ wake: Wake, in phase: HTTP.Phase, since start: HTTP.Instant, _ hop: HTTP.Hop) -> any Error {
        switch wake {
        case .timedOut: timedOut(phase, since: start, hop)
        case .cancelled: cancelled(phase, hop)
        case .ready, .closed, .busy, .woken: closed("the connection was closed while in use", phase, hop)
        }
    }

    /// The timeout error; `limit` is given if no other limit applies meanwhile.
    func timedOut(
        _ phase: HTTP.Phase, exceeding limit: Timeouts.Limit? = nil, since start: HTTP.Instant, _ hop: HTTP.Hop
    ) -> any Error {
        let now = clock.now()
        let (exceeded, begun) = limit.map { ($0, nil) } ?? clock.exceeded(phase, at: now)
        let since = exceeded == .total ? started : begun ?? start
        var error = error(.timedOut, Self.slowness(of: limit ?? Timeouts.Limit(phase)), in: phase, hop)
        error.exceeded = exceeded
        error.limit = clock.duration(of: exceeded)
        error.elapsed = now.duration(since: since)
        return error
    }

    /// The error of a cancelled call; `CancellationError`, which cannot carry a hop, if its Swift task was cancelled.
    func cancelled(_ phase: HTTP.Phase, _ hop: HTTP.Hop) -> any Error {
        let cause = cancellation.cause
        if cause == .deadline { return timedOut(phase, exceeding: .total, since: started, hop) }
        let error = error(.cancelled, "the request was cancelled", in: phase, hop)
        guard cause == .task else { return error }
        control?.untoldHop = error.hop
        return CancellationError()
    }

    /// The error of opening a connection, with its final hop: the failed phase has its time already. A phase in which
    /// nothing is opened gets the rest of the time, as in any other error.
    func explained(_ error: any Error, _ hop: HTTP.Hop) -> any Error {
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

    /// The error for a broken stream of bytes.
    func broken(_ cause: StreamError, _ phase: HTTP.Phase, _ hop: HTTP.Hop) -> NetworkError {
        switch cause {
        case .system(let errno): closed("the connection failed", phase, hop, errno)
        // While a body was being sent, the reader learned that the server sends no more.
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

    /// The error for what the guard forbids.
    func refused(_ cause: GuardRefusal, _ hop: HTTP.Hop) -> NetworkError {
        error(.guardRefused, "\(cause)", in: .connect, hop, cause: cause)
    }

    /// The peer: the origin, the proxy to it, and the address.
    private func peer(in phase: HTTP.Phase, _ hop: HTTP.Hop) -> String {
        let address = hop.peer.map { " at \($0)" } ?? ""
        guard let proxy = connectionTerms?.proxy else { return "\(origin)\(address)" }
        if phase == .proxyTLS || phase == .tunnel { return "the proxy \(proxy)\(address)" }
        return "\(origin) through the proxy \(proxy)\(address)"
    }

    func invalid(_ cause: WireError, _ phase: HTTP.Phase, _ hop: HTTP.Hop) -> NetworkError {
        if cause == .receivedNothing { return closed("no response came", phase, hop, cause) }
        if cause.isTruncation { return closed("the response ended too soon", phase, hop, cause) }
        if cause.isLimit {
            let limit = cause.setting.map { "`configuration.limits.\($0)`" } ?? "a fixed limit"
            return error(.limitExceeded, "the response exceeds \(limit)", in: phase, hop, cause: cause)
        }
        return error(.invalidResponse, "the response is not valid HTTP/1.1", in: phase, hop, cause: cause)
    }

    /// Makes an error. All errors of an exchange are made here.
    func error(
        _ code: NetworkError.Code, _ reason: String, in phase: HTTP.Phase, _ hop: HTTP.Hop,
        cause underlying: (any Error)? = nil
    ) -> NetworkError {
        let (sent, now) = (hop.bytesSent > 0, clock.now())
        var error = NetworkError(
            code, reason, phase: phase, requestMayHaveBeenSent: sent, isSafeToRetry: !sent || isRepeatable,
            elapsed: now.duration(since: started), peer: peer(in: phase, hop), underlying: underlying)
        error.connectionWasReused = hop.isConnectionReused && hop.bytesReceived == 0
        var hop = hop
        hop.ended = now
        hop.fill(phase)
        error.hop = hop
        return error
    }

    /// Whether the request may be sent again. Nobody knows what another protocol begins with, so a request that offers
    /// one must be known to do nothing.
    private var isRepeatable: Bool {
        upgrade == nil ? request.head.isRepeatable : method == .get && request.body.isNone
    }

    private static func slowness(of limit: Timeouts.Limit) -> String {
        switch limit {
        case .pool:
            "timed out waiting for a free connection; `connections.perOrigin` and `connections.total` limit how many"
        case .resolve: "timed out resolving the name"
        case .connect: "timed out connecting"
        case .proxyTLS: "timed out in the TLS handshake with the proxy"
        case .tunnel: "timed out waiting for a tunnel through the proxy"
        case .tls: "timed out in the TLS handshake"
        case .send:
            "timed out sending the request: the connection took no more bytes (the peer does not read, or packets are "
                + "lost)"
        case .firstByte: "timed out waiting for the response"
        case .readIdle: "timed out waiting for the rest of the response"
        case .queue: "timed out waiting in the request queue"
        case .attempt: "the attempt timed out"
        case .total: "the request timed out"
        }
    }
}
