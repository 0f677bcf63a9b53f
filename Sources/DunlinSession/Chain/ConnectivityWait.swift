internal import DunlinReactor
internal import DunlinRules
internal import DunlinTransport

/// Waits for a network for a call, by the rules of `ConnectivityMachine`, until the call's deadline or cancellation. It
/// keeps the call's queue permit meanwhile, but no connection.
struct ConnectivityWait: Sendable {
    private let chain: Chain
    private let request: TransportRequest
    private let delegate: TaskDelegate
    /// Cancels the exchange that failed, which may be one of several.
    private let cancellation: Cancellation
    private let loop: Reactor

    init(_ sending: Sending) {
        chain = sending.chain
        request = sending.request
        delegate = sending.delegate
        cancellation = sending.cancellation
        loop = sending.loop
    }

    /// Returns when the request should be sent again; throws `error`, or what ended the wait.
    func pass(_ error: any Error, _ machine: inout ConnectivityMachine) async throws {
        guard let ended = error as? NetworkError, !ended.isLastWord, loop.now() < request.deadline else { throw error }
        let failure = ended.beneathRefresh
        guard machine.failed(ConnectivityMachine.Failure(failure)) == .look
        else { throw error }
        cancellation.phase = failure.phase ?? .connect
        let start = loop.now()
        do {
            machine = try await Race.run(until: request.deadline, cancellation, on: loop) { [machine] in
                try await wait(after: failure, ended, machine)
            }
        } catch Race.Lost.timedOut {
            throw Self.timedOut(failure, limit: request.timeouts.total, after: loop.now().duration(since: start))
        } catch Race.Lost.cancelled {
            throw cancellation.failure(
                "the request was cancelled while it waited for a network", phase: failure.phase, isUnsent: true,
                limit: request.timeouts.total, peer: failure.peer)
        }
        cancellation.phase = .firstByte
        // Addresses looked up without a network are useless with one.
        chain.callTransport.sockets?.removeCachedAddresses()
    }

    /// Waits off the loop. Returns the machine to continue with if the request fails again. `ended` is the failure of
    /// the request itself, which may contain a refresh's.
    private func wait(
        after failure: NetworkError, _ ended: NetworkError, _ former: ConnectivityMachine
    ) async throws -> ConnectivityMachine {
        var machine = former
        let source = chain.settings.configuration.reachability.source
        var isFirst = true
        for await _ in source.changes() {
            // The first element means that all later changes will be reported.
            var action = isFirst ? .look : machine.changed()
            isFirst = false
            if action == .look {
                let status = await status(of: failure, from: source)
                action = machine.looked(hasRoute: status != .notReachable)
            }
            switch action {
            case .send: return machine
            case .rest:
                try await rest()
                return machine
            case .fail: throw ended
            case .wait, .look: await tell(ended)
            }
        }
        throw ended
    }

    /// The status of the route to the host that did not answer; to the internet, if no name server answered.
    private func status(of failure: NetworkError, from source: any Reachability.PathMonitor) async
        -> Reachability.Status
    {
        var addresses = (failure.underlying as? NetworkError.ConnectionFailures)?.failures.map(\.address) ?? []
        if addresses.isEmpty, failure.phase == .connect, let peer = failure.hop?.peer { addresses = [peer] }
        guard !addresses.isEmpty else { return await source.path(to: nil).status }
        var best = Reachability.Status.notReachable
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
        guard let observers = delegate.observers, delegate.mayTellOfWait() else { return }
        let snapshot = delegate.snapshot(at: loop.now())
        delegate.observation?.note(.waitingForConnectivity(failure))
        observers.events.tell(.waitingForConnectivity(snapshot, failure))
        await observers.tell(\.waitingForConnectivity) { await $0(snapshot, failure) }
    }

    private static func timedOut(_ failure: NetworkError, limit: Duration?, after time: Duration) -> NetworkError {
        var error = NetworkError(
            .timedOut, "timed out waiting for a network to the host", phase: failure.phase, isSafeToRetry: true,
            exceeding: .total, limit: limit, elapsed: time, peer: failure.peer, underlying: failure)
        error.hop = failure.hop
        return error
    }
}

extension NetworkError.ConnectionFailures {
    /// The meaning of the failure. Of several addresses the most hopeful counts: one at which there is or may be a
    /// host.
    var meaning: ConnectivityMachine.Failure {
        let errors = failures.map { Errno(rawValue: $0.errno) }
        if errors.isEmpty || !errors.allSatisfy(\.mayMeanNoNetwork) { return .other }
        return errors.allSatisfy(\.meansNoNetwork) ? .noWay : .silence
    }
}

extension ConnectivityMachine.Failure {
    init(_ error: NetworkError) {
        guard !error.requestMayHaveBeenSent, error.phase == .resolve || error.phase == .connect else {
            self = .other
            return
        }
        switch error.code {
        case .timedOut where error.exceeded == .total: self = .other
        case .nameNotResolved, .timedOut: self = .silence
        case .interfaceRefused: self = .refused
        case .connectionFailed: self = (error.underlying as? NetworkError.ConnectionFailures)?.meaning ?? .other
        default: self = .other
        }
    }
}
