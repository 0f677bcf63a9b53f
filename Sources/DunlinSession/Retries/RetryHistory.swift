/// The attempts of a request that others followed, and why there was no further one.
final class RetryHistory: Sendable {
    let retried: [NetworkError.RetriedAttempt]
    let refusal: NetworkError.RetryRefusal?

    /// Nil if there was no further attempt and no question of one.
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
