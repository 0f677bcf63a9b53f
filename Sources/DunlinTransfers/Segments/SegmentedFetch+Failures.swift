internal import DunlinReactor
internal import DunlinTransport
internal import Synchronization

extension SegmentedFetch {
    /// The error that an exchange ended with, and its hop, if it can carry it.
    func noting(
        _ error: any Error, _ response: TransportResponse?, _ exchange: CallPart, isLead: Bool = false
    ) -> any Error {
        var own = call
        own.part = exchange
        let error = response.map { own.failing(error, on: $0) } ?? error
        let hop = if let failure = error as? NetworkError { failure.hop } else { untoldHop(of: exchange) }
        let isStopped = exchange.cancellation.cause != nil
        if let hop { state.withLock { $0.hops.note(hop, isLead: isLead, isStopped: isStopped) } }
        return error
    }

    /// What an error of another kind has left to its part. What the call has may be another part's, and is for the
    /// outcome to say.
    private func untoldHop(of exchange: CallPart) -> HTTP.Hop? {
        call.control?.untoldHop = nil
        return exchange.takeUntoldHop()
    }

    /// Whether the worker goes on is for the machine to say, unless the request as a whole is over.
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
            await call.delegate.hasSentOnlyGETs && mayPass ?? ResumeMachine.Interruption.error(failure).mayPass
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
