internal import DunlinReactor
internal import DunlinTypes

/// Opens connections: looks up the addresses of a name, and connects to the first one that answers.
struct Connector: Sendable {
    let names: NameCache
    let sockets: HTTP.SocketOptions
    let interfaces: NetworkInterface.Rules
    /// Nanoseconds between two attempts at one connection.
    let connectionAttemptDelay: Int64
    /// Whether connections take turns with the addresses of a name.
    let takesTurns: Bool
    /// The stages between connecting and TLS, in this order.
    var stages: [any ConnectionStage] = []

    /// Opens a connection: connects, passes the stages, secures it. Returns it with the turn of its channel, which the
    /// caller owns.
    func open(
        _ context: ExchangeContext, _ opening: inout Opening, _ hop: inout HTTP.Hop
    ) async throws -> (Connection, turn: UInt64) {
        opening.enter(.connect)
        let line = try await connect(context, &opening, &hop)
        if !stages.isEmpty { try await pass(line, context, &hop) }
        guard context.origin.scheme == .https else { return (plain(line, context), line.turn) }
        return (try await tls(line, context, &opening, &hop), line.turn)
    }

    /// Connects a socket to the origin, or to a proxy before it.
    private func connect(
        _ context: ExchangeContext, _ opening: inout Opening, _ hop: inout HTTP.Hop
    ) async throws -> DialedChannel {
        var dialer = Dialer(
            options: context.origin.route?.sockets ?? sockets, guardRules: context.connectionTerms?.guardRules,
            reactor: context.clock.reactor, announcing: opening.announcements)
        var addresses = try await addresses(context, dialer.options, &opening, &hop)
        if !rules(for: context).isAny {
            dialer.interfaces = try await bindings(for: addresses, dialer.options, context, hop)
            addresses.removeAll { dialer.interfaces?[$0] == nil }
        }
        let start = context.clock.now()
        defer { hop[.connect] = context.clock.now().nanoseconds - start.nanoseconds }
        let race = AddressRace(
            dialer: dialer, delay: connectionAttemptDelay, deadline: context.clock.deadline(for: .connect, from: start),
            cancellation: context.cancellation)
        switch await race.run(addresses, &hop) {
        case .open(let line):
            return line
        case .gaveUp(let wake):
            throw context.failure(wake, in: .connect, since: start, hop)
        case .refused(let failures):
            if let refusal = dialer.refusal(ofAll: addresses) { throw context.refused(refusal, hop) }
            throw context.error(
                .connectionFailed, "no address accepted a connection", in: .connect, hop, cause: failures)
        }
    }

    /// Passes the stages, and closes the socket when one of them fails.
    private func pass(_ line: DialedChannel, _ context: ExchangeContext, _ hop: inout HTTP.Hop) async throws {
        let start = context.clock.now()
        defer {
            hop[.connect] += context.clock.now().nanoseconds - start.nanoseconds
            context.cancellation.disarm()
        }
        do {
            for stage in stages { try await stage.pass(StageSocket(line, context, since: start, hop)) }
        } catch {
            line.channel.close()
            throw error
        }
    }

    private func tls(
        _ line: DialedChannel, _ context: ExchangeContext, _ opening: inout Opening, _ hop: inout HTTP.Hop
    ) async throws -> Connection {
        guard let tlsPolicySource = context.tlsPolicySource else {
            line.channel.close()
            throw context.error(.unsupportedScheme, "this transport has no TLS", in: .tls, hop)
        }
        opening.enter(.tls)
        let tlsPolicy = tlsPolicySource.tlsPolicy()
        let channel = try await Handshake.run(over: line, context, tlsPolicy, &hop)
        let peer = HTTP.Hop.Peer(line.address, channel.security)
        hop.peerReference = peer
        return Connection(
            .tls(channel), to: context.place, at: peer, tlsGeneration: tlsPolicy.tlsGeneration,
            isForOneRequest: context.isAlone)
    }

    private func plain(_ line: DialedChannel, _ context: ExchangeContext) -> Connection {
        Connection(.plain(line.channel), to: context.place, at: HTTP.Hop.Peer(line.address))
    }
}

// MARK: - Where to

extension Connector {
    private func rules(for context: ExchangeContext) -> NetworkInterface.Rules {
        context.origin.route?.interfaces ?? interfaces
    }

    /// The address of an origin that needs no look-up.
    private func known(_ origin: HTTP.Origin) -> HTTP.SocketAddress? {
        if let address = origin.route?.address { return address.port(ifNone: origin.port) }
        return HTTP.SocketAddress(numericHost: origin.host, port: origin.port)
    }

    /// The addresses to try, in order; at least one.
    private func addresses(
        _ context: ExchangeContext, _ options: HTTP.SocketOptions, _ opening: inout Opening, _ hop: inout HTTP.Hop
    ) async throws -> [HTTP.SocketAddress] {
        let origin = context.origin
        if let address = known(origin) { return [address] }
        var found = try await lookUp(context, &opening, &hop)
        if let local = options.localAddress {
            found.removeAll { $0.isSix != local.isSix }
            guard !found.isEmpty else {
                let reason = "\(origin.host) has no address that \(local.host) could connect to"
                throw context.error(.connectionFailed, reason, in: .connect, hop)
            }
        }
        guard found.count > 1 else { return found }
        return AddressOrder.interleaved(found, turn: takesTurns ? names.nextTurn(of: origin.host) : 0)
    }

    /// What to bind each address to, for the addresses that an allowed route leads to; at least one.
    ///
    /// The kernel is asked off the loop, because it may wait for locks of its own.
    private func bindings(
        for addresses: [HTTP.SocketAddress], _ options: HTTP.SocketOptions, _ context: ExchangeContext, _ hop: HTTP.Hop
    ) async throws -> [HTTP.SocketAddress: Dialer.Binding] {
        let rules = rules(for: context)
        let choices = await DiskThreads.shared.run {
            addresses.map { RouteFinder().choice(for: $0, by: rules, bound: options.interface) }
        }
        var bindings: [HTTP.SocketAddress: Dialer.Binding] = [:]
        var (refused, unreachable): ([NetworkInterface], [HTTP.SocketAddress]) = ([], [])
        for (address, choice) in zip(addresses, choices) {
            switch choice {
            case .unbound: bindings[address] = .unbound
            case .through(let interface): bindings[address] = .interface(interface.name)
            case .refused(let interfaces): refused += interfaces.filter { !refused.contains($0) }
            case .none: unreachable.append(address)
            }
        }
        if !bindings.isEmpty { return bindings }
        guard unreachable.count < addresses.count else {
            let failures = NetworkError.ConnectionFailures(unreachable.map { Dialer.failure($0, .noWay) })
            throw context.error(.connectionFailed, "no address can be reached", in: .connect, hop, cause: failures)
        }
        let refusal = NetworkError.InterfaceRefusal(interfaces: refused, rules: rules)
        let reason = "no allowed interface leads to \(context.origin.host)"
        throw context.error(.interfaceRefused, reason, in: .connect, hop, cause: refusal)
    }

    private func lookUp(
        _ context: ExchangeContext, _ opening: inout Opening, _ hop: inout HTTP.Hop
    ) async throws -> [HTTP.SocketAddress] {
        let origin = context.origin
        let start = context.clock.now()
        opening.enter(.resolve)
        defer { opening.enter(.connect) }
        defer { hop[.resolve] = context.clock.now().nanoseconds - start.nanoseconds }
        let deadline = context.clock.deadline(for: .resolve, from: start)
        do throws(NameCache.Failure) {
            return try await names.addresses(
                of: origin.host, port: origin.port, until: deadline, context.cancellation, on: context.clock.reactor)
        } catch {
            switch error {
            case .timedOut: throw context.timedOut(.resolve, since: start, hop)
            case .cancelled: throw context.cancelled(.resolve, hop)
            case .unresolved(let cause):
                throw context.error(
                    .nameNotResolved, "\(origin.host) was not resolved", in: .resolve, hop, cause: cause)
            }
        }
    }
}

extension HTTP.SocketAddress {
    /// The address with this port, if it has none of its own.
    fileprivate func port(ifNone port: UInt16) -> HTTP.SocketAddress {
        switch self {
        case .v4(let address, port: 0): .v4(address, port: port)
        case .v6(let high, let low, port: 0, let scope): .v6(high, low, port: port, scope: scope)
        case .v4, .v6, .unix: self
        }
    }
}
