package import DunlinReactor
package import DunlinTypes

extension Cancellation {
    /// The error of a wait that this has ended: `CancellationError` if the caller's Swift task was cancelled,
    /// `timedOut` if the whole call's time was up, and otherwise `cancelled`.
    ///
    /// `isUnsent`: nothing of the request has been sent.
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
