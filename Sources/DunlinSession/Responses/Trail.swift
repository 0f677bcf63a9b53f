/// What came before the response that is delivered: attempts that others followed, and the redirects among them.
///
/// An object made anew with each step. A request that took one hop, to a URL without a fragment, has none, and that is
/// most of them.
@usableFromInline package final class Trail: Sendable {
    package struct Steps: Sendable {
        var attempts: [Attempt] = []
        var redirects: [Redirect] = []
        /// Of the URL that was asked last.
        var fragment: String?
        var machine = RedirectMachine()
        /// What a response that nobody fetched is said to be from.
        var madeURL: String?
        /// Where the body lies, of a response that became a download.
        package var file: HTTPSession.DownloadedFile?
        /// The tries of the request that came to nothing.
        var tries: Tries?
    }

    let steps: Steps

    init(_ steps: Steps) {
        self.steps = steps
    }

    package var attempts: [Attempt] { steps.attempts }
    var redirects: [Redirect] { steps.redirects }
    var fragment: String? { steps.fragment }
    var tries: Tries? { steps.tries }
}

extension Trail? {
    /// The same but for what `change` makes different.
    package func with(_ change: (inout Trail.Steps) -> Void) -> Trail {
        var steps = self?.steps ?? Trail.Steps()
        change(&steps)
        return Trail(steps)
    }

    /// The same after exchanges of the same request that came to nothing, or to a part.
    package func after(_ earlier: [Attempt]) -> Trail? {
        earlier.isEmpty ? self : with { $0.attempts = earlier + $0.attempts }
    }

    /// The same after tries of the same request.
    func after(_ tries: Tries, _ earlier: [Attempt]) -> Trail {
        with { steps in
            steps.attempts = earlier + steps.attempts
            steps.tries = tries
        }
    }

    /// The same of a request that waited in a queue before it was sent.
    func after(waiting time: Int64) -> Trail? {
        guard let first = self?.attempts.first else { return self }
        return with { $0.attempts[0] = first.after(waiting: time) }
    }

    /// Adds an attempt that another one follows.
    mutating func append(_ attempt: Attempt) {
        self = with { $0.attempts.append(attempt) }
    }

    /// An error at the end of redirects is one of the request as a whole: what they were the answers to was sent, and
    /// would be sent again.
    package func explained(_ error: any Error) -> any Error {
        guard let redirects = self?.redirects, !redirects.isEmpty, var failure = error as? NetworkError else {
            return error
        }
        failure.requestMayHaveBeenSent = true
        failure.isSafeToRetry = failure.isSafeToRetry && redirects.allSatisfy(\.method.isIdempotent)
        return failure
    }
}

extension Metrics {
    init(after trail: Trail?, last: Attempt) {
        let attempts = trail?.attempts
        self.init(earlier: attempts?.isEmpty == true ? nil : attempts, last: last)
    }
}
