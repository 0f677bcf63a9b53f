internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTypes

/// How an exchange gets its connection: an idle one without unread input, one after a wait in the queue, or a new one.
extension SocketTransport {
    @inline(__always)
    func lease(_ context: ExchangeContext, _ hop: inout HTTP.Hop) async throws -> Lease {
        var lease = try await lease(context, since: context.started, &hop)
        if let control = context.control, control.isSuspended {
            lease = try await hold(lease, control, context, &hop)
        }
        // What was true before the wait for the connection, or for another round, need not be true now.
        try checkClearText(context, hop)
        return lease
    }

    /// Waits with the connection of a suspended request until that is resumed. Bytes that have come on it by then
    /// answer nothing of ours, so another connection replaces it.
    private func hold(
        _ first: consuming Lease, _ control: TransferControl, _ context: ExchangeContext, _ hop: inout HTTP.Hop
    ) async throws -> Lease {
        var lease = first
        while control.isSuspended {
            try await context.resumed(control, in: .send, hop)
            if lease.connection.stream.isUntouched() { continue }
            // Released first: the next one may have to wait for its slot. Its limits and its hop begin now.
            _ = consume lease
            hop = context.hop
            lease = try await self.lease(context, since: context.clock.now(), &hop)
        }
        return lease
    }

    @inline(__always)
    private func lease(
        _ context: ExchangeContext, since start: HTTP.Instant, _ hop: inout HTTP.Hop
    ) async throws -> Lease {
        try check(context, hop)
        while true {
            switch try await source(context, since: start, &hop) {
            case .existing(let connection):
                if let lease = take(connection, context, &hop) { return lease }
            case .opening: return try await open(context, &hop)
            case .openingBeyond: return try await open(context, isBeyond: true, &hop)
            }
        }
    }

    /// Throws for what can be refused before any wait.
    func check(_ context: ExchangeContext, _ hop: HTTP.Hop) throws {
        guard context.origin.scheme == .http || context.tlsPolicySource != nil else {
            throw context.error(.unsupportedScheme, "this transport does not support TLS", in: .tls, hop)
        }
        if let refusal = context.connectionTerms?.guardRules?.refusal(of: context.origin) {
            throw context.refused(refusal, hop)
        }
        guard let proxy = context.connectionTerms?.proxy else { return }
        // For a host with an address of its own, the proxy has nothing to resolve.
        if let refusal = context.connectionTerms?.guardRules?.refusal(of: context.origin.host, through: proxy) {
            throw context.refused(refusal, hop)
        }
    }

    private func checkClearText(_ context: ExchangeContext, _ hop: HTTP.Hop) throws {
        guard context.origin.scheme == .http, context.tlsPolicySource?.refusesClearText == true else { return }
        throw context.error(.clearTextRefused, NetworkError.clearTextReason, in: .send, hop)
    }

    /// What the pool gives, at once or after a wait in the queue.
    private func source(
        _ context: ExchangeContext, since start: HTTP.Instant, _ hop: inout HTTP.Hop
    ) async throws -> Pool.Source {
        // A request that has waited for a turn comes back later than the exchange began.
        let now = hop[.pool] == 0 ? start : context.clock.now()
        do throws(PoolFailure) {
            let offer = try pool.lease(
                context.poolKey, on: context.clock.reactor, at: now, context.request.priority,
                mayReuse: !context.isAlone && !context.request.needsFreshConnection
            ) { context.standing(since: start) }
            switch offer {
            case .now(let source): return source
            case .later(let position): return try await wait(in: position, context, since: start, &hop)
            }
        } catch {
            throw failure(error, context, since: start, hop)
        }
    }

    private func wait(
        in position: Pool.Position, _ context: ExchangeContext, since start: HTTP.Instant, _ hop: inout HTTP.Hop
    ) async throws(PoolFailure) -> Pool.Source {
        let queueStatus = context.control?.queueStatus
        queueStatus?.enter(Pool.ObservedPosition(pool: pool, position: position))
        context.cancellation.phase = .pool
        defer {
            context.cancellation.phase = .firstByte
            queueStatus?.leave()
        }
        let deadline = context.clock.deadline(for: .pool, from: start)
        let source = try await pool.wait(in: position, until: deadline, context.cancellation)
        hop[.pool] = context.clock.now().nanoseconds - start.nanoseconds
        return source
    }

    /// Takes the connection if nothing has come on it; otherwise closes it and returns nil.
    private func take(_ connection: Connection, _ context: ExchangeContext, _ hop: inout HTTP.Hop) -> Lease? {
        guard let turn = connection.stream.beginTurn() else {
            pool.end(connection, .server)
            pool.discard(context.poolKey)
            return nil
        }
        hop.isConnectionReused = true
        hop.connection = connection.id
        hop.peerReference = connection.peer
        return Lease(connection, turn: turn, from: pool)
    }

    /// Uses the right to open a connection.
    func open(_ context: ExchangeContext, isBeyond: Bool = false, _ hop: inout HTTP.Hop) async throws -> Lease {
        var opening = Opening(context, in: pool)
        defer { context.cancellation.phase = .firstByte }
        do {
            // No connection is opened for a request that is suspended, or is over, or has waited too long.
            if let control = context.control, control.isSuspended {
                try await context.resumed(control, in: .connect, hop)
            }
            if context.cancellation.cause != nil { throw context.cancelled(.connect, hop) }
            let now = context.clock.now()
            guard context.clock.whole > now else {
                throw context.timedOut(.pool, exceeding: .total, since: now, hop)
            }
            let (connection, turn) = try await connector.open(context, &opening, &hop)
            opening.end(.opened)
            // It may have a new TLS generation: the identity's files are checked with each connection.
            if !context.isAlone, connection.tlsGeneration != .max { pool.retire(before: connection.tlsGeneration) }
            if let generation = connection.peer.making.proxyTLSGeneration { pool.retire(proxies: generation) }
            hop.connection = connection.id
            return Lease(connection, turn: turn, from: pool, isBeyond: isBeyond)
        } catch {
            opening.end(context.cancellation.cause == nil ? .failed : .cancelled)
            pool.discard(context.poolKey, isBeyond: isBeyond)
            throw context.explained(error, hop)
        }
    }

    private func failure(
        _ failure: PoolFailure, _ context: ExchangeContext, since start: HTTP.Instant, _ hop: HTTP.Hop
    ) -> any Error {
        switch failure {
        case .timedOut: context.timedOut(.pool, since: start, hop)
        case .cancelled: context.cancelled(.pool, hop)
        case .exhausted(let waiting):
            context.error(
                .poolExhausted,
                "\(waiting) requests wait for a connection, as many as `connections.maximumWaiting` allows",
                in: .pool, hop)
        case .exhaustedBeyond(let open):
            context.error(
                .poolExhausted,
                "\(open) connections beyond `connections.perOrigin` and `connections.total` are open, as many as "
                    + "there may be for requests of code that other requests wait for; send fewer there at once",
                in: .pool, hop)
        case .closed: context.error(.sessionShutDown, "the session is shut down", in: .pool, hop)
        }
    }
}
