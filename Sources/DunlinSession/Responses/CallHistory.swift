/// What came before the response that is delivered: hops that others followed, and the redirects among them.
///
/// An object made anew with each step. A request that took one hop, to a URL without a fragment, has none, and that is
/// most of them.
@usableFromInline package final class CallHistory: Sendable {
    package struct Steps: Sendable {
        var hops: [HTTP.Hop] = []
        var redirects: [HTTPSession.Redirect] = []
        /// Of the URL that was asked last.
        var fragment: String?
        var machine = RedirectMachine()
        /// What a response that nobody fetched is said to be from.
        var madeURL: String?
        /// Where the body lies, of a response that became a download.
        package var file: HTTPSession.DownloadedFile?
        /// The tries of the request that came to nothing.
        var tries: RetryHistory?
    }

    let steps: Steps

    init(_ steps: Steps) {
        self.steps = steps
    }

    package var hops: [HTTP.Hop] { steps.hops }
    var redirects: [HTTPSession.Redirect] { steps.redirects }
    var fragment: String? { steps.fragment }
    var tries: RetryHistory? { steps.tries }
}

extension CallHistory? {
    /// The same but for what `change` makes different.
    package func with(_ change: (inout CallHistory.Steps) -> Void) -> CallHistory {
        var steps = self?.steps ?? CallHistory.Steps()
        change(&steps)
        return CallHistory(steps)
    }

    /// The same after exchanges of the same request that came to nothing, or to a part.
    package func after(_ earlier: [HTTP.Hop]) -> CallHistory? {
        earlier.isEmpty ? self : with { $0.hops = earlier + $0.hops }
    }

    /// The same after tries of the same request.
    func after(_ tries: RetryHistory, _ earlier: [HTTP.Hop]) -> CallHistory {
        with { steps in
            steps.hops = earlier + steps.hops
            steps.tries = tries
        }
    }

    /// The same of a request that waited in a queue before it was sent.
    func after(waiting time: Int64) -> CallHistory? {
        guard let first = self?.hops.first else { return self }
        return with { $0.hops[0] = first.after(waiting: time) }
    }

    /// Adds a hop that another one follows.
    mutating func append(_ hop: HTTP.Hop) {
        self = with { $0.hops.append(hop) }
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

extension HTTPSession.Metrics {
    init(after callHistory: CallHistory?, last: HTTP.Hop) {
        let hops = callHistory?.hops
        self.init(earlier: hops?.isEmpty == true ? nil : hops, last: last)
    }
}
