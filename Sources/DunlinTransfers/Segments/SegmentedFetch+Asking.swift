internal import DunlinReactor
internal import Synchronization

extension SegmentedFetch {
    /// Whether a worker may ask for its range.
    enum Permission {
        case given
        /// An interceptor or hook had something other than a GET sent for a part, which may change something on the
        /// server each time.
        case refused
        case over(Outcome)
    }

    func permission(_ exchange: CallPart) async -> Permission {
        while true {
            // A part's requests count for the call as soon as they are answered.
            guard sending.delegate.hasSentOnlyGETs else { return .refused }
            let waiter = ValueWaiter<Void>(on: loop)
            if state.withLock({ $0.asking.enter(waiter) }) { return .given }
            let outcome = await waiter.wait(until: request.deadline, cancellation: exchange.cancellation)
            guard case .value = outcome else { return .over(.failed(Self.stopped(outcome, exchange.cancellation))) }
        }
    }
}
