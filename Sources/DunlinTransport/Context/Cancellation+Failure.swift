package import DunlinReactor
package import DunlinTypes

extension Cancellation {
    /// What a wait fails with that this has ended, by who ended it: `CancellationError` where the caller's Swift task
    /// was cancelled, `timedOut` where the time of the whole call was up, and `cancelled` for all others.
    ///
    /// `isUnsent`: nothing of the request was sent.
    package func failure(
        _ reason: String = "the request was cancelled", phase: HTTP.Phase? = nil, isUnsent: Bool = false,
        limit: Duration? = nil, peer: String? = nil, response: ResponseHead? = nil
    ) -> any Error {
        switch cause {
        case .task: return CancellationError()
        case .deadline:
            return NetworkError(
                .timedOut, "the request timed out", phase: phase, requestMayHaveBeenSent: !isUnsent,
                isSafeToRetry: isUnsent, exceeding: .total, limit: limit, peer: peer, response: response)
        case .handle, nil:
            return NetworkError(
                .cancelled, reason, phase: phase, requestMayHaveBeenSent: !isUnsent, isSafeToRetry: isUnsent,
                peer: peer, response: response)
        }
    }
}
