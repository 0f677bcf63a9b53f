internal import DunlinReactor
internal import DunlinTypes

/// How an exchange gets its connection: one that is idle and still quiet, its turn in the line, or a new one.
extension SocketTransport {
    @inline(never)
    private func offer(
        _ context: ExchangeContext, at now: MonotonicTime, _ attempt: Attempt
    ) throws -> Pool.Offer {
        do throws(PoolFailure) {
            let request = context.request
            return try pool.lease(
                context.origin, on: context.clock.reactor, at: now, request.priority,
                mayReuse: !context.isAlone && !request.needsFreshConnection)
        } catch {
            throw failure(error, context, attempt)
        }
    }

    /// The connection if it is still quiet; nil, and closed, if the peer ended it or said something unasked.
    @inline(never)
    private func take(_ connection: Connection, _ context: ExchangeContext, _ attempt: inout Attempt) -> Lease? {
        guard let turn = connection.stream.beginTurn() else {
            connection.close()
            pool.discard(context.origin)
            return nil
        }
        attempt.isConnectionReused = true
        attempt.connection = connection.id
        attempt.peerReference = connection.peer
        return Lease(connection, turn: turn, from: pool)
    }

    @inline(never)
    func wait(
        in place: Pool.Place, _ context: ExchangeContext, _ attempt: inout Attempt
    ) async throws -> Lease? {
        let source: Pool.Source
        let standing = context.watch?.standing
        standing?.enter(Pool.WatchedPlace(pool: pool, place: place))
        context.interrupt.phase = .pool
        defer {
            context.interrupt.phase = .firstByte
            standing?.leave()
        }
        do throws(PoolFailure) {
            let deadline = context.clock.deadline(for: .pool, from: context.waitStarted)
            source = try await pool.wait(in: place, until: deadline, context.interrupt)
        } catch {
            throw failure(error, context, attempt)
        }
        attempt[.pool] = context.clock.now().nanoseconds - context.started.nanoseconds
        switch source {
        case .existing(let connection) where context.isAlone:
            // It has come to its turn: another is opened in this one's place.
            connection.close()
            return try await open(context, &attempt)
        case .existing(let connection): return take(connection, context, &attempt)
        case .opening: return try await open(context, &attempt)
        }
    }

    /// A connection that is idle and still quiet, or open at once, or what is to be done for one.
    func lease(
        for message: consuming Connection.Message, _ context: ExchangeContext, _ attempt: inout Attempt
    ) throws -> Preparation {
        try checkScheme(context, attempt)
        while true {
            // Who has waited for a turn comes back later than the exchange began.
            let now = attempt[.pool] == 0 ? context.started : context.clock.now()
            switch try offer(context, at: now, attempt) {
            case .now(.existing(let connection)):
                guard let lease = take(connection, context, &attempt) else { continue }
                return .ready(Ready(message: message, lease: lease))
            case .now(.opening):
                let beginning = try beginOpening(context, &attempt)
                guard case .open(let connection, let turn) = beginning else {
                    return .errand(.connection(message, beginning))
                }
                return .ready(Ready(message: message, lease: opened(connection, turn, context, &attempt)))
            case .later(let place): return .errand(.turn(message, place))
            }
        }
    }

    func open(_ context: ExchangeContext, _ attempt: inout Attempt) async throws -> Lease {
        try await finishOpening(try beginOpening(context, &attempt), context, &attempt)
    }

    @inline(never)
    private func beginOpening(_ context: ExchangeContext, _ attempt: inout Attempt) throws -> Connector.Beginning {
        // Who has waited too long opens nothing, and sends nothing.
        let now = context.clock.now()
        guard context.request.deadline > now else {
            pool.discard(context.origin)
            throw context.timedOut(.total, since: now, attempt)
        }
        return connector.begin(context, announcing: pool.announcements, &attempt)
    }

    @inline(never)
    func finishOpening(
        _ beginning: Connector.Beginning, _ context: ExchangeContext, _ attempt: inout Attempt
    ) async throws -> Lease {
        defer { context.interrupt.phase = .firstByte }
        do {
            let (connection, turn) = try await connector.finish(
                beginning, context, announcing: pool.announcements, &attempt)
            return opened(connection, turn, context, &attempt)
        } catch {
            pool.discard(context.origin)
            throw error
        }
    }

    @inline(never)
    private func opened(
        _ connection: Connection, _ turn: UInt64, _ context: ExchangeContext, _ attempt: inout Attempt
    ) -> Lease {
        pool.countOpened()
        // What it was secured by may be news: the identity's files are looked at with each connection.
        if !context.isAlone, connection.edition != .max { pool.retire(before: connection.edition) }
        attempt.connection = connection.id
        return Lease(connection, turn: turn, from: pool)
    }

    @inline(never)
    private func failure(_ failure: PoolFailure, _ context: ExchangeContext, _ attempt: Attempt) -> any Error {
        switch failure {
        case .timedOut: context.timedOut(.pool, since: context.waitStarted, attempt)
        case .interrupted: context.interrupted(.pool, attempt)
        case .exhausted:
            context.error(.poolExhausted, "too many requests wait for a connection already", .pool, attempt)
        case .closed: context.error(.sessionClosed, "the session is shut down", .pool, attempt)
        }
    }
}
