/// The attempts of a request that others followed, and why there was no further one.
final class Tries: Sendable {
    let retried: [RetriedAttempt]
    let refusal: RetryRefusal?

    /// Nil if there is nothing to tell.
    init?(_ retried: [RetriedAttempt], _ refusal: RetryRefusal?) {
        if retried.isEmpty, refusal == nil { return nil }
        self.retried = retried
        self.refusal = refusal
    }
}

extension NetworkError {
    mutating func note(_ tries: Tries?) {
        guard let tries else { return }
        retries = tries.retried
        retryRefusal = tries.refusal
    }
}
