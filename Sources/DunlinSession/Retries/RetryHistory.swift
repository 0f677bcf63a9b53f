/// The earlier attempts of a request, and why there was no further one.
final class RetryHistory: Sendable {
    let retried: [NetworkError.RetriedAttempt]
    let refusal: NetworkError.RetryRefusal?

    /// Creates a history; nil if no further attempt was made or considered.
    init?(_ retried: [NetworkError.RetriedAttempt], _ refusal: NetworkError.RetryRefusal?) {
        if retried.isEmpty, refusal == nil { return nil }
        self.retried = retried
        self.refusal = refusal
    }
}

extension NetworkError {
    mutating func note(_ history: RetryHistory?) {
        guard let history else { return }
        retries = history.retried
        retryRefusal = history.refusal
    }
}
