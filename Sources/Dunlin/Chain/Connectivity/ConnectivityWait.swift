internal import DunlinReactor
internal import DunlinTransport
internal import Synchronization

/// Waits for a network in a request's stead, by the rules of `ConnectivityMachine`: within the request's total time,
/// and until it is cancelled. It holds its turn in a queue meanwhile, and no connection.
///
/// It waits off the loop, which is why the machine is under a lock.
final class ConnectivityWait: Sendable {
    private let chain: Chain
    private let request: TransportRequest
    private let delegate: TaskDelegate
    /// Of the exchange that failed, which may be one of several.
    private let interrupt: Interrupt
    private let loop: Reactor
    private let machine: Mutex<ConnectivityMachine>

    init(_ call: LiveCall, _ machine: ConnectivityMachine) {
        chain = call.chain
        request = call.request
        delegate = call.delegate
        interrupt = call.interrupt
        loop = call.loop
        self.machine = Mutex(machine)
    }

    /// To go on with, should the request fail again.
    var machineNow: ConnectivityMachine { machine.withLock { $0 } }

    /// Returns when the request is to be sent again, and throws `error`, or what ended the wait.
    func pass(_ error: any Error) async throws {
        guard let failure = error as? NetworkError, loop.now() < request.deadline,
            machine.withLock({ $0.failed(ConnectivityMachine.Failure(failure)) }) == .look
        else { throw error }
        interrupt.phase = failure.phase ?? .connect
        let start = loop.now()
        do {
            try await Race.run(until: request.deadline, interrupt, on: loop) { [self] in
                try await wait(after: failure)
            }
        } catch Race.Lost.timedOut {
            throw Self.timedOut(failure, limit: request.timeouts.total, after: loop.now().duration(since: start))
        } catch Race.Lost.interrupted {
            if interrupt.cause == .task { throw CancellationError() }
            throw NetworkError(
                .cancelled, "the request was cancelled while it waited for a network", phase: failure.phase,
                isSafeToRetry: true, peer: failure.peer)
        }
        interrupt.phase = .firstByte
        // What was learned without a network is of no use with one.
        chain.carrier.sockets?.flushNames()
    }

    private func wait(after failure: NetworkError) async throws {
        let source = chain.settings.reachability.source
        var isFirst = true
        for await _ in source.changes() {
            // The first says that the changes that follow will be told.
            var action = isFirst ? .look : machine.withLock { $0.changed() }
            isFirst = false
            if action == .look {
                let status = await status(of: failure, from: source)
                action = machine.withLock { $0.looked(status) }
            }
            switch action {
            case .send: return
            case .rest: return try await rest()
            case .fail: throw failure
            case .wait, .look: await tell(failure)
            }
        }
        throw failure
    }

    /// The way to where nobody answered; to the world, if that was where names are looked up.
    private func status(of failure: NetworkError, from source: any NetworkPathSource) async -> ReachabilityStatus {
        var addresses = (failure.underlying as? ConnectFailures)?.failures.map(\.address) ?? []
        if addresses.isEmpty, failure.phase == .connect, let peer = failure.attempt?.peer { addresses = [peer] }
        guard !addresses.isEmpty else { return await source.path(to: nil).status }
        var best = ReachabilityStatus.notReachable
        for address in addresses {
            let status = await source.path(to: address).status
            if status.isReachable { return status }
            if status == .unknown { best = status }
        }
        return best
    }

    private func rest() async throws {
        _ = await loop.rest(nanoseconds: Duration.seconds(1).clampedNanoseconds)
        try Task.checkCancellation()
    }

    private func tell(_ failure: NetworkError) async {
        guard let audience = delegate.audience, await delegate.mayTellOfWait() else { return }
        let snapshot = delegate.snapshot(at: loop.now())
        audience.events.tell(.waitingForConnectivity(snapshot, failure))
        await audience.tell(\.waitingForConnectivity) { await $0(snapshot, failure) }
    }

    private static func timedOut(_ failure: NetworkError, limit: Duration?, after time: Duration) -> NetworkError {
        var error = NetworkError(
            .timedOut, "no network came in time that leads there", phase: .total, isSafeToRetry: true, limit: limit,
            elapsed: time, peer: failure.peer, underlying: failure)
        error.attempt = failure.attempt
        return error
    }
}

extension ConnectFailures {
    /// Of several addresses the best hope counts: that of one where somebody is, or may be.
    var meaning: ConnectivityMachine.Failure {
        let errors = failures.map { Errno(rawValue: $0.errno) }
        if errors.isEmpty || !errors.allSatisfy(\.mayMeanNoNetwork) { return .other }
        return errors.allSatisfy(\.meansNoNetwork) ? .noWay : .silence
    }
}
