internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTypes
internal import DunlinWire

/// Opens connections: looks up the addresses of a name, connects to the first one that answers, has a proxy make a
/// tunnel from there if there is one, and secures it.
struct Connector: Sendable {
    let names: NameCache
    let sockets: HTTP.SocketOptions
    let interfaces: NetworkInterface.Rules
    /// Nanoseconds between two attempts at one connection.
    let connectionAttemptDelay: Int64
    /// Whether connections take turns with the addresses of a name.
    let takesTurns: Bool
    /// The stages between connecting and TLS, in this order, before that of a proxy.
    var stages: [any ConnectionStage] = []
    let proxyMemory = ProxyMemory()

    /// Opens a connection: connects, passes the stages, secures it. Returns it with the turn of its channel, which the
    /// caller owns.
    func open(
        _ context: ExchangeContext, announcing: AsyncStream<UInt64>.Continuation, _ hop: inout HTTP.Hop
    ) async throws -> (Connection, turn: UInt64) {
        context.cancellation.phase = .connect
        var (line, ahead): (DialedChannel, [UInt8])
        if stages.isEmpty, context.connectionTerms?.proxy == nil {
            (line, ahead) = (try await connect(context, announcing, &hop), [])
        } else {
            (line, ahead) = try await connectThroughStages(context, announcing, &hop)
        }
        guard context.origin.scheme == .https else { return (plain(line, context, &hop), line.turn) }
        return (try await tls(line, ahead, context, &hop), line.turn)
    }

    private func tls(
        _ line: DialedChannel, _ ahead: [UInt8], _ context: ExchangeContext, _ hop: inout HTTP.Hop
    ) async throws -> Connection {
        guard let tlsPolicySource = context.tlsPolicySource else {
            line.channel.close()
            throw context.error(.unsupportedScheme, "this transport has no TLS", in: .tls, hop)
        }
        context.cancellation.phase = .tls
        let tlsPolicy = tlsPolicySource.tlsPolicy()
        let channel = try await Handshake.run(over: line, ahead, context, tlsPolicy, &hop)
        let peer = HTTP.Hop.Peer(line.address, channel.security, proxy: context.connectionTerms?.proxy?.description)
        hop.peerReference = peer
        return Connection(
            .tls(channel), to: context.place, at: peer, tlsGeneration: tlsPolicy.tlsGeneration,
            isForOneRequest: context.isAlone)
    }

    private func plain(_ line: DialedChannel, _ context: ExchangeContext, _ hop: inout HTTP.Hop) -> Connection {
        let peer = HTTP.Hop.Peer(line.address, proxy: context.connectionTerms?.proxy?.description)
        if peer.proxy != nil { hop.peerReference = peer }
        return Connection(.plain(line.channel), to: context.place, at: peer)
    }
}

// MARK: - Through a proxy

extension Connector {
    /// Connects, and passes the stages: over as many sockets as they ask for, one after the other, within one limit.
    private func connectThroughStages(
        _ context: ExchangeContext, _ announcing: AsyncStream<UInt64>.Continuation, _ hop: inout HTTP.Hop
    ) async throws -> (DialedChannel, ahead: [UInt8]) {
        var stages = stages
        if let proxy = context.connectionTerms?.proxy, let stage = try await stage(for: proxy, context, &hop) {
            stages.append(stage)
        }
        var start: MonotonicTime?
        while true {
            let line = try await connect(context, announcing, &hop)
            if stages.isEmpty { return (line, []) }
            let begun = start ?? context.clock.now()
            start = begun
            if let ahead = try await pass(&stages, line, context, since: begun, &hop) { return (line, ahead) }
            line.channel.close()
        }
    }

    /// What is to be said to a proxy before the request; nil where that itself says all, in absolute form.
    private func stage(
        for proxy: ProxyAddress, _ context: ExchangeContext, _ hop: inout HTTP.Hop
    ) async throws -> (any ConnectionStage)? {
        let origin = context.origin
        if !proxy.scheme.isSOCKS {
            guard origin.scheme == .https else { return nil }
            return try ConnectStage(to: origin, ProxyLogin(proxy: proxy, memory: proxyMemory))
        }
        if proxy.scheme.resolvesNames, HTTP.SocketAddress(numericHost: origin.host, port: origin.port) == nil {
            return SOCKSStage(proxy, to: [.name(origin.host, port: origin.port)])
        }
        let options = HTTP.SocketOptions()
        let addresses = try await addresses(of: Destination(origin), options, context, &hop)
        let rules = context.connectionTerms?.guardRules
        let allowed = addresses.filter { rules?.refusal(dialling: $0) == nil }
        if allowed.isEmpty, let refusal = addresses.first.flatMap({ rules?.refusal(dialling: $0) }) {
            throw context.refused(refusal, hop)
        }
        return SOCKSStage(proxy, to: allowed.prefix(Self.mostAddresses).map { .address($0) })
    }

    /// How many addresses of a name a SOCKS proxy is asked for.
    private static var mostAddresses: Int { 4 }

    /// Passes the stages, and closes the socket when one of them fails. Returns what was read beyond them; nil to go on
    /// over another socket.
    private func pass(
        _ stages: inout [any ConnectionStage], _ line: DialedChannel, _ context: ExchangeContext,
        since start: MonotonicTime, _ hop: inout HTTP.Hop
    ) async throws -> [UInt8]? {
        context.cancellation.phase = .tunnel
        let entered = context.clock.now()
        defer {
            hop[.tunnel] += context.clock.now().nanoseconds - entered.nanoseconds
            context.cancellation.disarm()
        }
        do {
            var socket = try StageSocket(line, context, since: start, hop)
            for index in stages.indices {
                if case .dialAgain = try await stages[index].pass(&socket) { return nil }
            }
            return socket.ahead
        } catch {
            line.channel.close()
            throw error
        }
    }
}

// MARK: - Connecting

extension Connector {
    /// Connects a socket to the origin, or to a proxy before it.
    private func connect(
        _ context: ExchangeContext, _ announcing: AsyncStream<UInt64>.Continuation, _ hop: inout HTTP.Hop
    ) async throws -> DialedChannel {
        let proxy = context.connectionTerms?.proxy
        let destination = proxy.map { Destination($0) } ?? Destination(context.origin)
        var dialer = Dialer(
            options: context.origin.route?.sockets ?? sockets, guardRules: context.connectionTerms?.guardRules,
            isForProxy: proxy != nil, reactor: context.clock.reactor, announcing: announcing)
        var addresses = try await addresses(of: destination, dialer.options, context, &hop)
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
        case .open(let line):
            return line
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

// MARK: - Where to

extension Connector {
    /// Whom a socket is connected to: an origin, or the proxy before it.
    private struct Destination {
        let host: String
        let port: UInt16
        /// The address that needs no look-up.
        let known: HTTP.SocketAddress?

        init(_ origin: HTTP.Origin) {
            (host, port) = (origin.host, origin.port)
            let address = origin.route?.address.map { $0.port(ifNone: origin.port) }
            known = address ?? HTTP.SocketAddress(numericHost: host, port: port)
        }

        init(_ proxy: ProxyAddress) {
            (host, port) = (proxy.host, proxy.port)
            known = HTTP.SocketAddress(numericHost: host, port: port)
        }
    }

    private func rules(for context: ExchangeContext) -> NetworkInterface.Rules {
        context.origin.route?.interfaces ?? interfaces
    }

    /// The addresses to try, in order; at least one.
    private func addresses(
        of destination: Destination, _ options: HTTP.SocketOptions, _ context: ExchangeContext, _ hop: inout HTTP.Hop
    ) async throws -> [HTTP.SocketAddress] {
        if let address = destination.known { return [address] }
        var found = try await lookUp(destination, context, &hop)
        if let local = options.localAddress {
            found.removeAll { $0.isSix != local.isSix }
            guard !found.isEmpty else {
                let reason = "\(destination.host) has no address that \(local.host) could connect to"
                throw context.error(.connectionFailed, reason, in: .connect, hop)
            }
        }
        guard found.count > 1 else { return found }
        return AddressOrder.interleaved(found, turn: takesTurns ? names.nextTurn(of: destination.host) : 0)
    }

    /// What to bind each address to, for the addresses that an allowed route leads to; at least one.
    ///
    /// The kernel is asked off the loop, because it may wait for locks of its own.
    private func bindings(
        for addresses: [HTTP.SocketAddress], of destination: Destination, _ options: HTTP.SocketOptions,
        _ context: ExchangeContext, _ hop: HTTP.Hop
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
        let reason = "no allowed interface leads to \(destination.host)"
        throw context.error(.interfaceRefused, reason, in: .connect, hop, cause: refusal)
    }

    private func lookUp(
        _ destination: Destination, _ context: ExchangeContext, _ hop: inout HTTP.Hop
    ) async throws -> [HTTP.SocketAddress] {
        let start = context.clock.now()
        context.cancellation.phase = .resolve
        defer { context.cancellation.phase = .connect }
        defer { hop[.resolve] += context.clock.now().nanoseconds - start.nanoseconds }
        let deadline = context.clock.deadline(for: .resolve, from: start)
        do throws(NameCache.Failure) {
            return try await names.addresses(
                of: destination.host, port: destination.port, until: deadline, context.cancellation,
                on: context.clock.reactor)
        } catch {
            switch error {
            case .timedOut: throw context.timedOut(.resolve, since: start, hop)
            case .cancelled: throw context.cancelled(.resolve, hop)
            case .unresolved(let cause):
                throw context.error(
                    .nameNotResolved, "\(destination.host) was not resolved", in: .resolve, hop, cause: cause)
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
