public import DunlinReactor
public import DunlinTypes
internal import DunlinWire

/// The transport over Dunlin's own sockets: it encodes, leases or opens a connection, and runs the exchange.
public final class SocketTransport: Sendable {
    let pool: Pool
    private let names: NameCache
    let connector: Connector
    private let terms: ExchangeContext.Terms

    /// Creates a transport. Without a `tlsPolicySource` there is no https, and without a `proxyTLSPolicySource` no TLS
    /// with a proxy. `ended` is told of each connection that is closed.
    public init(
        _ options: Options, on reactor: Reactor, tlsPolicySource: (any TLSPolicySource)? = nil,
        proxyTLSPolicySource: (any TLSPolicySource)? = nil,
        ended: (@Sendable (HTTP.EndedConnection) -> Void)? = nil
    ) {
        terms = ExchangeContext.Terms(
            options.limits, tlsPolicySource, options.connectionRules, mayWait: options.mayWait)
        var poolLimits = Pool.Machine.Limits()
        poolLimits.connectionsPerOrigin = max(1, options.connectionsPerOrigin)
        poolLimits.connections = max(1, options.connections)
        poolLimits.waiters = max(0, options.waiters)
        poolLimits.age = options.age?.clampedNanoseconds ?? .max
        poolLimits.uses = options.uses ?? .max
        poolLimits.idleTime = options.idleTime.clampedNanoseconds
        pool = Pool(limits: poolLimits, reactor: reactor, ended: ended)
        names = NameCache(options, on: reactor)
        connector = Connector(
            names: names, sockets: options.sockets, interfaces: options.interfaces,
            connectionAttemptDelay: options.connectionAttemptDelay.clampedNanoseconds,
            takesTurns: options.rotatesAddresses, stages: options.stages, proxyTLSPolicySource: proxyTLSPolicySource)
    }

    /// The totals for all origins.
    public var gauges: HTTP.ConnectionGauges { pool.gauges }
    /// The numbers by origin.
    public var counts: PoolCounts { pool.counts }

    /// Gives no more leases: idle connections are closed at once, the others as their exchanges end.
    public func close() async {
        await pool.close()
        await names.close()
    }

    /// Leases no more connections of earlier TLS generations: idle ones are closed at once, the others as their
    /// exchanges end.
    public func retire(before tlsGeneration: UInt64) {
        pool.retire(before: tlsGeneration)
    }

    /// Reads and discards the rest of one of Dunlin's own bodies, if it is at most `limit` bytes and comes in time, so
    /// that its connection can be reused. Otherwise closes the connection, and ends what is still being sent of its
    /// request.
    public func drain(_ body: any TransportResponse.BodyStream, upTo limit: Int, until deadline: HTTP.Instant)
        async throws
    {
        guard let body = body as? ConnectionBody else { return }
        try await body.drain(upTo: limit, until: deadline)
    }

    /// Closes the connection of one of Dunlin's own bodies that nobody reads any more, unless it has been read
    /// completely; later reads get `error`.
    public func discard(_ body: any TransportResponse.BodyStream, _ error: any Error) {
        (body as? ConnectionBody)?.discard(error)
        (body as? UpgradedStream)?.discard(error)
    }

    /// Makes reading the rest of one of Dunlin's own bodies fail at `deadline`, if no limit ends it before.
    public func hurry(_ body: any TransportResponse.BodyStream, until deadline: HTTP.Instant) throws {
        try (body as? ConnectionBody)?.hurry(until: deadline)
    }

    /// Forgets the addresses of all names.
    public func removeCachedAddresses() {
        names.flush()
    }

    /// Makes an exchange that began at `start`. Everything about the request is checked before a connection is used.
    ///
    /// A body for which `UploadScope.isNeeded` is sent in `uploads`. A request with its own TLS policy uses that
    /// instead of the session's, and has its own connection. `chosen` terms apply if they are for this URL. A proxy may
    /// require several sendings: `noting` is called with all hops but the last. `number` is the call's.
    public func exchange(
        _ request: TransportRequest, cancellation: Cancellation, uploads: UploadScope? = nil,
        exchangeOptions: ExchangeOptions? = nil, chosen: ChosenTerms? = nil, observer: (any WireObserver)? = nil,
        number: UInt64 = 0, since start: HTTP.Instant, on reactor: Reactor, noting: (HTTP.Hop) -> Void = { _ in }
    ) async throws -> TransportResponse {
        let connectionTerms: ConnectionTerms?
        if let chosen, chosen.areFor(request.head) {
            connectionTerms = chosen.terms
        } else {
            connectionTerms = try terms.connectionTerms(for: request, exchangeOptions)
        }
        let context = ExchangeContext(
            request, cancellation, terms, exchangeOptions, observer, under: connectionTerms, number: number,
            since: start, on: reactor)
        if let observer { return try await observed(context, observer, uploads, noting) }
        return try await run(context, uploads, noting)
    }

    @inline(__always)
    private func run(
        _ context: ExchangeContext, _ uploads: UploadScope?, _ noting: (HTTP.Hop) -> Void
    ) async throws -> TransportResponse {
        if context.isForwarded { return try await forwardedExchange(context, uploads, noting: noting) }
        return try await Exchange.run(context, through: self, uploads)
    }

    private func observed(
        _ context: ExchangeContext, _ observer: any WireObserver, _ uploads: UploadScope?,
        _ noting: (HTTP.Hop) -> Void
    ) async throws -> TransportResponse {
        do {
            return try await run(context, uploads, noting)
        } catch {
            observer.saw(.failed(error))
            throw error
        }
    }
}

// MARK: - Opening ahead of need

extension SocketTransport {
    /// The number of connections that `request` could use, including those being opened.
    public func openCount(
        for request: TransportRequest, _ connectionRules: ConnectionRules?, on reactor: Reactor
    ) throws -> Int {
        let exchangeOptions = ExchangeOptions(tlsPolicySource: nil, control: nil, connectionRules: connectionRules)
        return pool.openCount(to: try openingContext(request, exchangeOptions, Cancellation(), reactor).poolKey)
    }

    private func openingContext(
        _ request: TransportRequest, _ exchangeOptions: ExchangeOptions?, _ cancellation: Cancellation,
        _ reactor: Reactor
    ) throws -> ExchangeContext {
        let connectionTerms = try terms.connectionTerms(for: request, exchangeOptions)
        return ExchangeContext(
            request, cancellation, terms, exchangeOptions, under: connectionTerms, since: reactor.now(), on: reactor)
    }

    /// Opens a connection ahead of need that `request` could use, unless `count` are open or the caps leave no room. Of
    /// the options, only the connection rules apply.
    public func openAhead(
        of request: TransportRequest, upTo count: Int, _ connectionRules: ConnectionRules?,
        cancellation: Cancellation, on reactor: Reactor
    ) async throws {
        let exchangeOptions = ExchangeOptions(tlsPolicySource: nil, control: nil, connectionRules: connectionRules)
        let context = try openingContext(request, exchangeOptions, cancellation, reactor)
        var attempt = HTTP.Hop()
        try check(context, attempt)
        guard pool.reserve(context.poolKey, upTo: count) else { return }
        let lease = try await open(context, &attempt)
        // No request follows now that could carry the handshake's last message.
        let writer = RequestWriter(context: context, stream: lease.connection.stream)
        try await writer.write(.empty, &attempt)
        lease.giveBack(at: reactor.now())
    }
}
