internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTypes

/// Opens connections: looks up the addresses of a name, connects to the first that answers, makes a tunnel if there is
/// a proxy, and secures it.
struct Connector: Sendable {
    let names: NameCache
    let sockets: HTTP.SocketOptions
    let interfaces: NetworkInterface.Rules
    /// The time between two attempts at one connection, in nanoseconds.
    let connectionAttemptDelay: Int64
    /// Whether connections rotate through the addresses of a name.
    let takesTurns: Bool
    /// The stages between connecting and TLS, in this order, before that of a proxy.
    var stages: [any ConnectionStage] = []
    /// The source of TLS policies for proxies; nil if none uses TLS.
    var proxyTLSPolicySource: (any TLSPolicySource)?
    let proxyMemory = ProxyMemory()

    /// Opens a connection: connects, passes the stages, and secures it. Returns it with the turn of its channel, which
    /// the caller owns.
    func open(
        _ context: ExchangeContext, _ opening: inout Opening, _ hop: inout HTTP.Hop
    ) async throws -> (Connection, turn: UInt64) {
        opening.enter(.connect)
        let connection: OpeningConnection
        if stages.isEmpty, context.connectionTerms?.proxy == nil {
            connection = OpeningConnection(try await connect(context, &opening, &hop))
        } else {
            connection = try await connectThroughStages(context, &opening, &hop)
        }
        guard context.origin.scheme == .https else { return (try clear(connection, context, &hop), connection.turn) }
        return (try await secure(connection, context, &opening, &hop), connection.turn)
    }

    /// Throws if bytes have come already: their sender has not seen the request, so they are no answer. This applies to
    /// all new connections; for reused ones, `ChannelMachine` has the rule.
    private func check(_ stream: ByteStream, _ context: ExchangeContext, _ hop: HTTP.Hop, ahead: Bool = false) throws {
        guard ahead || stream.hasUnaskedBytes() else { return }
        stream.close()
        throw context.unasked(hop)
    }

    private func secure(
        _ connection: OpeningConnection, _ context: ExchangeContext, _ opening: inout Opening, _ hop: inout HTTP.Hop
    ) async throws -> Connection {
        guard let tlsPolicySource = context.tlsPolicySource else {
            connection.stream.close()
            throw context.error(.unsupportedScheme, "this transport does not support TLS", in: .tls, hop)
        }
        opening.enter(.tls)
        let party = Handshake.Party(origin: context.origin, tlsPolicySource: tlsPolicySource, phase: .tls)
        let secure = try await Handshake.run(over: connection, with: party, context, &hop)
        var making = making(connection, context)
        making.tlsGeneration = secure.tlsGeneration
        let proxy = context.connectionTerms?.proxy?.description
        let peer = HTTP.Hop.Peer(connection.address, secure.channel.security, proxy: proxy, making)
        hop.peerReference = peer
        try check(.tls(secure.channel), context, hop)
        return Connection(
            .tls(secure.channel), to: context.poolKey, at: peer, tlsGeneration: secure.tlsGeneration,
            isForOneRequest: context.isAlone)
    }

    /// Handles a connection without the origin's TLS.
    private func clear(_ connection: OpeningConnection, _ context: ExchangeContext, _ hop: inout HTTP.Hop) throws
        -> Connection
    {
        let proxy = context.connectionTerms?.proxy?.description
        let peer = HTTP.Hop.Peer(connection.address, proxy: proxy, making(connection, context))
        if peer.proxy != nil { hop.peerReference = peer }
        try check(connection.stream, context, hop, ahead: !connection.ahead.isEmpty)
        return Connection(connection.stream, to: context.poolKey, at: peer)
    }

    private func making(_ connection: OpeningConnection, _ context: ExchangeContext) -> HTTP.Hop.Making {
        var making = HTTP.Hop.Making()
        (making.terms, making.proxyTLSGeneration) = (context.connectionTerms, connection.proxyTLSGeneration)
        return making
    }

    /// Connects a socket to the origin or its proxy.
    func connect(
        _ context: ExchangeContext, _ opening: inout Opening, _ hop: inout HTTP.Hop
    ) async throws -> DialedChannel {
        let proxy = context.connectionTerms?.proxy
        if let proxy { hop.peerReference = HTTP.Hop.Peer(nil, proxy: proxy.description) }
        let destination = proxy.map { Destination($0) } ?? Destination(context.origin)
        var dialer = Dialer(
            options: context.origin.route?.sockets ?? sockets, guardRules: context.connectionTerms?.guardRules,
            isForProxy: proxy != nil, reactor: context.clock.reactor, announcing: opening.announcements)
        var addresses = try await addresses(of: destination, dialer.options, context, &opening, &hop)
        // A look-up may have taken long. Nobody is asked to connect for a request that was suspended meanwhile.
        if let control = context.control, control.isSuspended {
            try await context.resumed(control, in: .connect, hop)
        }
        if !rules(for: context).isAny {
            dialer.interfaces = try await bindings(for: addresses, of: destination, dialer.options, context, hop)
            addresses.removeAll { dialer.interfaces?[$0] == nil }
        }
        let start = context.clock.now()
        defer { hop[.connect] += context.clock.now().nanoseconds - start.nanoseconds }
        let race = AddressRace(
            dialer: dialer, delay: connectionAttemptDelay, deadline: context.clock.deadline(for: .connect, from: start),
            cancellation: context.cancellation)
        switch await race.run(addresses, &hop) {
        case .open(let dialed):
            return dialed
        case .gaveUp(let wake):
            throw context.failure(wake, in: .connect, since: start, hop)
        case .refused(let failures):
            if let refusal = dialer.refusal(ofAll: addresses) { throw context.refused(refusal, hop) }
            var error = context.error(
                .connectionFailed, "no address accepted a connection", in: .connect, hop, cause: failures)
            if let proxy { error.reason = "the proxy \(proxy) accepted no connection" }
            throw error
        }
    }
}
