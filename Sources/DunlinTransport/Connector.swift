internal import DunlinReactor
internal import DunlinTypes

/// Opens connections: a name becomes addresses, and addresses are tried in turn until one answers.
struct Connector: Sendable {
    let resolver: any Resolver

    private enum Result {
        case open(Channel, turn: UInt64)
        case refused(Errno)
        case gaveUp(Wake)
    }

    /// An open connection and the turn of its channel that the caller owns.
    func open(
        _ context: ExchangeContext, announcing: AsyncStream<UInt64>.Continuation, _ attempt: inout Attempt
    ) async throws -> (Connection, turn: UInt64) {
        let addresses = try await addresses(context, &attempt)
        let start = context.clock.now()
        defer { attempt[.connect] = context.clock.now().nanoseconds - start.nanoseconds }
        let deadline = context.clock.deadline(for: .connect, from: start)
        var last: Errno?
        for address in addresses {
            attempt.peer = address
            switch await connect(to: address, until: deadline, context, announcing) {
            case .open(let channel, let turn):
                return (Connection(channel, to: context.origin, at: address), turn)
            case .gaveUp(let wake):
                throw context.failure(wake, in: .connect, since: start, attempt)
            case .refused(let errno):
                last = errno
            }
        }
        throw context.error(.connectionFailed, "no address accepted a connection", .connect, attempt, last)
    }

    private func connect(
        to address: SocketAddress, until deadline: MonotonicTime, _ context: ExchangeContext,
        _ announcing: AsyncStream<UInt64>.Continuation
    ) async -> Result {
        do throws(Errno) {
            let socket = try Socket(for: address)
            if !address.isLocal { try socket.setNoDelay() }
            let state = try socket.connect(to: address)
            let channel = try Channel(socket, on: context.clock.reactor, unsolicited: announcing)
            guard let turn = channel.beginTurn() else {
                channel.close()
                return .refused(.connectionReset)
            }
            if state == .connected { return .open(channel, turn: turn) }
            let wake = await established(channel, turn, until: deadline, context.interrupt)
            guard wake == .ready else {
                channel.close()
                return .gaveUp(wake)
            }
            do throws(Errno) {
                try channel.pendingError()
            } catch {
                channel.close()
                throw error
            }
            return .open(channel, turn: turn)
        } catch {
            return .refused(error)
        }
    }

    private func established(
        _ channel: Channel, _ turn: UInt64, until deadline: MonotonicTime, _ interrupt: Interrupt
    ) async -> Wake {
        guard interrupt.arm(channel, turn: turn) else { return .interrupted }
        defer { interrupt.disarm() }
        return await channel.waitWritable(until: deadline)
    }
}

// MARK: - Names

extension Connector {
    private func addresses(_ context: ExchangeContext, _ attempt: inout Attempt) async throws -> [SocketAddress] {
        let origin = context.origin
        if let path = origin.socketPath { return [.unix(path)] }
        if let address = SocketAddress(numericHost: origin.host, port: origin.port) { return [address] }
        let start = context.clock.now()
        defer { attempt[.resolve] = context.clock.now().nanoseconds - start.nanoseconds }
        let deadline = context.clock.deadline(for: .resolve, from: start)
        let found: [SocketAddress]
        do {
            found = try await Race.run(until: deadline, context.interrupt, on: context.clock.reactor) {
                try await resolver.addresses(of: origin.host, port: origin.port)
            }
        } catch Race.Lost.timedOut {
            throw context.timedOut(.resolve, since: start, attempt)
        } catch Race.Lost.interrupted {
            throw context.interrupted(.resolve, attempt)
        } catch {
            throw context.error(.nameNotResolved, "\(origin.host) was not resolved", .resolve, attempt, error)
        }
        guard !found.isEmpty else {
            throw context.error(.nameNotResolved, "\(origin.host) has no address", .resolve, attempt)
        }
        return found
    }
}

extension SocketAddress {
    fileprivate var isLocal: Bool {
        if case .unix = self { true } else { false }
    }
}
