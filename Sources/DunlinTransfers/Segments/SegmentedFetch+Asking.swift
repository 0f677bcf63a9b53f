internal import DunlinReactor
internal import Synchronization

extension SegmentedFetch {
    /// Whether a worker may ask for its range.
    enum Permission {
        case given
        /// Something else than a GET was sent for a part, by an interceptor or a hook: it may do its work each time.
        case refused
        case over(Outcome)
    }

    func permission(_ exchange: CallPart) async -> Permission {
        while true {
            // What was sent for a part counts for the call as soon as it is answered.
            guard await call.delegate.hasSentOnlyGETs else { return .refused }
            let waiter = ValueWaiter<Void>(on: loop)
            if state.withLock({ $0.asking.enter(waiter) }) { return .given }
            let outcome = await waiter.wait(until: request.deadline, cancellation: exchange.cancellation)
            guard case .value = outcome else { return .over(.failed(Self.stopped(outcome, exchange.cancellation))) }
        }
    }
}
