internal import DunlinReactor
internal import DunlinTransport
internal import Synchronization

extension SegmentedFetch {
    /// Returns the error that an exchange ended with, with the exchange's hop if it can carry one, and records that
    /// hop.
    func noting(
        _ error: any Error, _ response: TransportResponse?, _ exchange: CallPart, isLead: Bool = false
    ) -> any Error {
        var own = sending
        own.part = exchange
        let error = response.map { own.failing(error, on: $0) } ?? error
        let hop = if let failure = error as? NetworkError { failure.hop } else { untoldHop(of: exchange) }
        let isStopped = exchange.cancellation.cause != nil
        if let hop { state.withLock { $0.hops.note(hop, isLead: isLead, isStopped: isStopped) } }
        return error
    }

    /// The hop that an error of another kind has left to its part. The call's own may be another part's, and is
    /// reported with the outcome.
    private func untoldHop(of exchange: CallPart) -> HTTP.Hop? {
        sending.control?.untoldHop = nil
        return exchange.takeUntoldHop()
    }

    /// Notes that a worker's exchange broke. Returns nil if the work continues: the machine decides whether this worker
    /// does, unless the whole request is over.
    func broke(
        _ error: any Error, _ response: TransportResponse?, _ worker: Int, _ exchange: CallPart,
        isLead: Bool = false, mayPass: Bool? = nil
    ) async -> Outcome? {
        let error = noting(error, response, exchange, isLead: isLead)
        if let writer = state.withLock({ $0.writers[worker] }) { await settle([writer]) }
        guard exchange.cancellation.cause == nil, let failure = error as? NetworkError, failure.isOfOneExchange else {
            return .failed(error)
        }
        let mayPass =
            sending.delegate.hasSentOnlyGETs && mayPass ?? ResumeMachine.Interruption.error(failure).mayPass
        let (delay, waiters) = state.withLock { state in
            state.failure = failure
            return state.machine.broke(worker, mayPass: mayPass)
        }
        wake(waiters)
        guard let delay else { return nil }
        let time = loop.now().advanced(by: delay.clampedNanoseconds)
        let outcome = await ValueWaiter<Void>(on: loop).wait(until: time, cancellation: exchange.cancellation)
        if case .cancelled = outcome { return .failed(Self.stopped(outcome, exchange.cancellation)) }
        return nil
    }
}
