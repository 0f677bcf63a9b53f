internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTypes

/// The addresses that a connection leads to, of an origin or of its proxy, and the interfaces to them.
extension Connector {
    /// What a socket is connected to: an origin, or its proxy.
    struct Destination {
        let host: String
        let port: UInt16
        /// The address, if it needs no look-up.
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

    func rules(for context: ExchangeContext) -> NetworkInterface.Rules {
        context.origin.route?.interfaces ?? interfaces
    }

    /// The addresses to try in order, at least one.
    func addresses(
        of destination: Destination, _ options: HTTP.SocketOptions, _ context: ExchangeContext,
        _ opening: inout Opening, _ hop: inout HTTP.Hop
    ) async throws -> [HTTP.SocketAddress] {
        if let address = destination.known { return [address] }
        var found = try await lookUp(destination, context, &opening, &hop)
        if let local = options.localAddress {
            found.removeAll { $0.isSix != local.isSix }
            guard !found.isEmpty else {
                let reason =
                    "\(destination.host) has no address of the same IP version as the local address \(local.host)"
                throw context.error(.connectionFailed, reason, in: .connect, hop)
            }
        }
        guard found.count > 1 else { return found }
        return AddressOrder.interleaved(found, turn: takesTurns ? names.nextTurn(of: destination.host) : 0)
    }

    /// The bindings for the addresses that an allowed route leads to, at least one. The kernel is asked off the loop,
    /// because it may wait for its own locks.
    func bindings(
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
        _ destination: Destination, _ context: ExchangeContext, _ opening: inout Opening, _ hop: inout HTTP.Hop
    ) async throws -> [HTTP.SocketAddress] {
        let start = context.clock.now()
        opening.enter(.resolve)
        defer { opening.enter(.connect) }
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
    /// The address with this port, if it has none.
    fileprivate func port(ifNone port: UInt16) -> HTTP.SocketAddress {
        switch self {
        case .v4(let address, port: 0): .v4(address, port: port)
        case .v6(let high, let low, port: 0, let scope): .v6(high, low, port: port, scope: scope)
        case .v4, .v6, .unix: self
        }
    }
}
