internal import DunlinReactor
internal import DunlinTypes

/// Opens connections: a name becomes addresses, and the first address that answers becomes the connection.
struct Connector: Sendable {
    let names: NameCache
    let sockets: SocketOptions
    let interfaces: InterfaceRules
    /// Nanoseconds between two attempts at one connection.
    let attemptDelay: Int64
    /// Nil if addresses are tried as they were given.
    let turns: Turns?

    /// How a connection begins. Within one machine a connect to a known address is over at once, and in clear text that
    /// is all: such a request enters no frame for looking up, racing and waiting, whose room it would keep to its end.
    enum Beginning {
        /// The connection, and the turn of its channel that the caller owns.
        case open(Connection, turn: UInt64)
        case connected(Dialer.Line)
        /// Nil for a name, which has to be looked up first.
        case dialed(Dialer.Result?, since: MonotonicTime)
    }

    /// Does what needs no waiting.
    @inline(never)
    func begin(
        _ context: ExchangeContext, announcing: AsyncStream<UInt64>.Continuation, _ attempt: inout Attempt
    ) -> Beginning {
        let start = context.clock.now()
        guard let address = known(context.origin), rules(for: context).isAny else { return .dialed(nil, since: start) }
        attempt.peer = address
        let result = dialer(context, announcing).dial(address)
        guard case .open(let line) = result else { return .dialed(result, since: start) }
        attempt[.connect] = context.clock.now().nanoseconds - start.nanoseconds
        guard context.origin.scheme == .https else { return .open(plain(line, context), turn: line.turn) }
        return .connected(line)
    }

    /// An open connection and the turn of its channel that the caller owns.
    func finish(
        _ beginning: Beginning, _ context: ExchangeContext, announcing: AsyncStream<UInt64>.Continuation,
        _ attempt: inout Attempt
    ) async throws -> (Connection, turn: UInt64) {
        switch beginning {
        case .open(let connection, let turn): return (connection, turn)
        case .connected(let line): return try await secure(line, context, &attempt)
        case .dialed(let result, let start):
            let line = try await finish(result, since: start, context, announcing, &attempt)
            guard context.origin.scheme == .https else { return (plain(line, context), line.turn) }
            return try await secure(line, context, &attempt)
        }
    }

    @inline(never)
    private func plain(_ line: Dialer.Line, _ context: ExchangeContext) -> Connection {
        Connection(.plain(line.channel), to: context.origin, at: Attempt.Peer(line.address))
    }

    @inline(never)
    private func secure(
        _ line: Dialer.Line, _ context: ExchangeContext, _ attempt: inout Attempt
    ) async throws -> (Connection, turn: UInt64) {
        guard let advisor = context.advisor else {
            line.channel.close()
            throw context.error(.unsupportedScheme, "this transport has no TLS", .secure, attempt)
        }
        context.interrupt.phase = .secure
        let advice = advisor.advice()
        let channel = try await Handshake.run(over: line, context, advice, &attempt)
        let peer = Attempt.Peer(line.address, channel.security)
        let connection = Connection(
            .secure(channel), to: context.origin, at: peer, edition: advice.edition,
            isForOneRequest: context.isAlone)
        attempt.peerReference = peer
        return (connection, line.turn)
    }

    private func rules(for context: ExchangeContext) -> InterfaceRules {
        context.origin.route?.interfaces ?? interfaces
    }

    private func dialer(_ context: ExchangeContext, _ announcing: AsyncStream<UInt64>.Continuation) -> Dialer {
        Dialer(
            options: context.origin.route?.sockets ?? sockets, reactor: context.clock.reactor, announcing: announcing)
    }

    @inline(never)
    private func finish(
        _ begun: Dialer.Result?, since start: MonotonicTime, _ context: ExchangeContext,
        _ announcing: AsyncStream<UInt64>.Continuation, _ attempt: inout Attempt
    ) async throws -> Dialer.Line {
        var dialer = dialer(context, announcing)
        context.interrupt.phase = .connect
        let isKnown = if case nil = begun { false } else { true }
        var addresses = isKnown ? [] : try await addresses(context, dialer.options, &attempt)
        if !isKnown, !rules(for: context).isAny {
            dialer.interfaces = try await bindings(for: addresses, dialer.options, context, attempt)
            addresses.removeAll { dialer.interfaces?[$0] == nil }
        }
        let start = isKnown ? start : context.clock.now()
        defer { attempt[.connect] = context.clock.now().nanoseconds - start.nanoseconds }
        let race = AddressRace(
            dialer: dialer, delay: attemptDelay, deadline: context.clock.deadline(for: .connect, from: start),
            interrupt: context.interrupt)
        let result =
            if let begun { await race.finish(begun) } else { await race.run(addresses, &attempt) }
        switch result {
        case .open(let line):
            return line
        case .gaveUp(let wake):
            throw context.failure(wake, in: .connect, since: start, attempt)
        case .refused(let failures):
            throw context.error(.connectionFailed, "no address accepted a connection", .connect, attempt, failures)
        }
    }

    /// The address of an origin that needs no looking up.
    private func known(_ origin: Origin) -> SocketAddress? {
        if let address = origin.route?.address { return address.port(ifNone: origin.port) }
        return SocketAddress(numericHost: origin.host, port: origin.port)
    }

    /// Where to try, in order; at least one.
    private func addresses(
        _ context: ExchangeContext, _ options: SocketOptions, _ attempt: inout Attempt
    ) async throws -> [SocketAddress] {
        let origin = context.origin
        if let address = known(origin) { return [address] }
        var found = try await lookUp(context, &attempt)
        if let local = options.localAddress {
            found.removeAll { $0.isSix != local.isSix }
            guard !found.isEmpty else {
                let reason = "\(origin.host) has no address that \(local.host) could connect to"
                throw context.error(.connectionFailed, reason, .connect, attempt)
            }
        }
        guard found.count > 1 else { return found }
        return AddressOrder.interleaved(found, turn: turns?.next(for: origin.host) ?? 0)
    }

    /// What each address is to be bound to, of those that there is an allowed way to; at least one.
    ///
    /// The kernel is asked off the loop: it may have to wait for locks of its own.
    private func bindings(
        for addresses: [SocketAddress], _ options: SocketOptions, _ context: ExchangeContext, _ attempt: Attempt
    ) async throws -> [SocketAddress: Dialer.Binding] {
        let rules = rules(for: context)
        let choices = await DiskThreads.shared.run {
            addresses.map { RouteFinder().choice(for: $0, by: rules, bound: options.interface) }
        }
        var bindings: [SocketAddress: Dialer.Binding] = [:]
        var (refused, unreachable): ([NetworkInterface], [SocketAddress]) = ([], [])
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
            let failures = ConnectFailures(unreachable.map { Dialer.failure($0, .noWay) })
            throw context.error(.connectionFailed, "no address can be reached", .connect, attempt, failures)
        }
        let refusal = InterfaceRefusal(interfaces: refused, rules: rules)
        throw context.error(
            .interfaceRefused, "no allowed interface leads to \(context.origin.host)", .connect, attempt, refusal)
    }

    private func lookUp(_ context: ExchangeContext, _ attempt: inout Attempt) async throws -> [SocketAddress] {
        let origin = context.origin
        let start = context.clock.now()
        context.interrupt.phase = .resolve
        defer { context.interrupt.phase = .connect }
        defer { attempt[.resolve] = context.clock.now().nanoseconds - start.nanoseconds }
        let deadline = context.clock.deadline(for: .resolve, from: start)
        do throws(NameCache.Failure) {
            return try await names.addresses(
                of: origin.host, port: origin.port, until: deadline, context.interrupt, on: context.clock.reactor)
        } catch {
            switch error {
            case .timedOut: throw context.timedOut(.resolve, since: start, attempt)
            case .interrupted: throw context.interrupted(.resolve, attempt)
            case .unresolved(let cause):
                throw context.error(.nameNotResolved, "\(origin.host) was not resolved", .resolve, attempt, cause)
            }
        }
    }
}

extension SocketAddress {
    /// With the port given, if it has none of its own.
    fileprivate func port(ifNone port: UInt16) -> SocketAddress {
        switch self {
        case .v4(let address, port: 0): .v4(address, port: port)
        case .v6(let high, let low, port: 0, let scope): .v6(high, low, port: port, scope: scope)
        case .v4, .v6, .unix: self
        }
    }
}
