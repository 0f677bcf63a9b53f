internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTypes
internal import DunlinWire

/// The way of a connection through a proxy, up to the origin's TLS.
extension Connector {
    /// Connects, secures the connection to a proxy that uses TLS, and passes the stages, on as many sockets as they
    /// need, one after another, within one limit.
    func connectThroughStages(
        _ context: ExchangeContext, _ opening: inout Opening, _ hop: inout HTTP.Hop
    ) async throws -> OpeningConnection {
        var stages = stages
        let proxy = context.connectionTerms?.proxy
        if let proxy, let stage = try await stage(for: proxy, context, &opening, &hop) { stages.append(stage) }
        var start: HTTP.Instant?
        while true {
            opening.enter(.connect)
            var connection = OpeningConnection(try await connect(context, &opening, &hop))
            if let proxy, proxy.scheme == .https {
                connection = try await secure(connection, with: proxy, context, &opening, &hop)
            }
            if stages.isEmpty { return connection }
            let begun = start ?? context.clock.now()
            start = begun
            if let ahead = try await pass(&stages, connection, context, since: begun, &opening, &hop) {
                connection.ahead = ahead
                return connection
            }
            connection.stream.close()
        }
    }

    private func secure(
        _ connection: OpeningConnection, with proxy: ProxyAddress, _ context: ExchangeContext, _ opening: inout Opening,
        _ hop: inout HTTP.Hop
    ) async throws -> OpeningConnection {
        opening.enter(.proxyTLS)
        context.cancellation.phase = .proxyTLS
        guard let proxyTLSPolicySource else {
            connection.stream.close()
            throw context.error(
                .unsupportedScheme, "this transport does not support TLS to proxies", in: .proxyTLS, hop)
        }
        let origin = HTTP.Origin(scheme: .https, host: proxy.host, port: proxy.port)
        let party = Handshake.Party(origin: origin, tlsPolicySource: proxyTLSPolicySource, phase: .proxyTLS)
        let secure = try await Handshake.run(over: connection, with: party, context, &hop)
        context.cancellation.disarm()
        return connection.secured(secure.channel, secure.tlsGeneration)
    }

    /// The stage for a proxy; nil if the request itself tells it everything, in absolute form.
    private func stage(
        for proxy: ProxyAddress, _ context: ExchangeContext, _ opening: inout Opening, _ hop: inout HTTP.Hop
    ) async throws -> (any ConnectionStage)? {
        let origin = context.origin
        if !proxy.scheme.isSOCKS {
            if context.isForwarded { return nil }
            return try ConnectStage(to: origin, ProxyLogin(proxy: proxy, memory: proxyMemory))
        }
        if proxy.scheme.resolvesNames, HTTP.SocketAddress(numericHost: origin.host, port: origin.port) == nil {
            return SOCKSStage(proxy, to: [.name(origin.host, port: origin.port)])
        }
        let options = HTTP.SocketOptions()
        let addresses = try await addresses(of: Destination(origin), options, context, &opening, &hop)
        let rules = context.connectionTerms?.guardRules
        let allowed = addresses.filter { rules?.refusal(dialling: $0) == nil }
        if allowed.isEmpty, let refusal = addresses.first.flatMap({ rules?.refusal(dialling: $0) }) {
            throw context.refused(refusal, hop)
        }
        return SOCKSStage(proxy, to: allowed.prefix(Self.mostAddresses).map { .address($0) })
    }

    /// How many addresses of a name are tried through a SOCKS proxy.
    private static var mostAddresses: Int { 4 }

    /// Passes the stages, and closes the socket if one fails. Returns what was read beyond them; nil to continue on
    /// another socket.
    private func pass(
        _ stages: inout [any ConnectionStage], _ connection: OpeningConnection, _ context: ExchangeContext,
        since start: HTTP.Instant, _ opening: inout Opening, _ hop: inout HTTP.Hop
    ) async throws -> [UInt8]? {
        opening.enter(.tunnel)
        let entered = context.clock.now()
        defer {
            hop[.tunnel] += context.clock.now().nanoseconds - entered.nanoseconds
            context.cancellation.disarm()
        }
        do {
            var socket = try StageSocket(connection, context, since: start, hop)
            for index in stages.indices {
                if case .dialAgain = try await stages[index].pass(&socket) { return nil }
            }
            return socket.ahead
        } catch {
            connection.stream.close()
            throw error
        }
    }
}
