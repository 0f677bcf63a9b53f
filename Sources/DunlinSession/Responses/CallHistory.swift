internal import DunlinCache
internal import DunlinRules
package import DunlinSemantics

/// What came before the delivered response: the earlier hops, and the redirects among them.
///
/// An object that is created anew for each hop. Most calls have none: those with one hop to a URL without a fragment.
@usableFromInline package final class CallHistory: Sendable {
    package struct Steps: Sendable {
        var hops: [HTTP.Hop] = []
        var redirects: [HTTPSession.Redirect] = []
        /// The fragment of the last requested URL.
        var fragment: String?
        var machine = RedirectMachine()
        /// The password in the URL by which a hook replaced a redirect's.
        var password: OriginPassword?
        /// The URL of a response that was made and not received.
        var madeURL: String?
        /// The file of a response that became a download.
        package var file: HTTPSession.DownloadedFile?
        /// The earlier attempts of the call.
        var retryHistory: RetryHistory?
        /// Why the credential of the last hop was not refreshed after it was refused.
        var refreshRefusal: NetworkError.RefreshRefusal?
        /// What the last response is of; nil unless it is kept outside the session's cache.
        package var provenance: Provenance?
        /// What the session's cache did with the last hop, as far as known then; nil without a cache.
        var notedUse: HTTPSession.CacheUse?
        /// Whose the stored response was that was served; nil if none was.
        var stored: CacheEntry.Whose?
        /// The outcome of storing the response; nil if it is not to be stored.
        var storing: StoringOutcome?

        /// What the session's cache did with the last hop, as far as known now; nil without a cache.
        var cacheUse: HTTPSession.CacheUse? {
            switch storing?.state {
            case nil, .none?, .failed: notedUse
            case .storing: notedUse?.beingStored
            case .stored: notedUse?.stored
            }
        }
    }

    let steps: Steps

    init(_ steps: Steps) {
        self.steps = steps
    }

    package var hops: [HTTP.Hop] { steps.hops }
    package var redirects: [HTTPSession.Redirect] { steps.redirects }
    package var provenance: Provenance? { steps.provenance }
    var fragment: String? { steps.fragment }
    var retryHistory: RetryHistory? { steps.retryHistory }
    var password: OriginPassword? { steps.password }
}

extension CallHistory? {
    /// A copy, changed by `change`.
    package func with(_ change: (inout CallHistory.Steps) -> Void) -> CallHistory {
        var steps = self?.steps ?? CallHistory.Steps()
        change(&steps)
        return CallHistory(steps)
    }

    /// The history after further hops of the same call whose responses were not delivered.
    package func after(_ earlier: [HTTP.Hop]) -> CallHistory? {
        earlier.isEmpty ? self : with { $0.hops = earlier + $0.hops }
    }

    /// The history after earlier attempts of the same call.
    func after(_ retryHistory: RetryHistory, _ earlier: [HTTP.Hop]) -> CallHistory {
        with { steps in
            steps.hops = earlier + steps.hops
            steps.retryHistory = retryHistory
        }
    }

    /// The history at the beginning of another walk of redirects, which knows as much of redirects as `first` did: an
    /// interceptor sends what it was given, or something else.
    func beginningWalk(as first: CallHistory?) -> CallHistory? {
        guard self?.redirects.isEmpty == false else { return self }
        return with { steps in
            let first = first?.steps ?? CallHistory.Steps()
            (steps.redirects, steps.machine) = (first.redirects, first.machine)
            (steps.fragment, steps.password) = (first.fragment, first.password)
        }
    }

    /// The history of a call that waited in a queue before it was sent.
    func after(waiting time: Int64) -> CallHistory? {
        guard let first = self?.hops.first, first != HTTP.Hop() else { return self }
        return with { $0.hops[0] = first.after(waiting: time) }
    }

    /// Adds an earlier hop.
    mutating func append(_ hop: HTTP.Hop) {
        self = with { $0.hops.append(hop) }
    }
}

extension CallHistory {
    /// The history without what the last hop was of: its response was not delivered.
    var withoutLastStep: CallHistory {
        guard provenance != nil else { return self }
        return Optional(self).with { $0.provenance?.removeLast() }
    }
}

extension HTTPSession.Metrics {
    init(after callHistory: CallHistory?, last: HTTP.Hop) {
        guard let earlier = callHistory?.hops, !earlier.isEmpty else {
            self.init(last: last)
            return
        }
        self.init(hops: earlier + [last])
    }
}

extension CallHistory? {
    /// The history with the cache's use for the last hop; `stored` is whose it was, if it was served.
    func noting(
        _ use: HTTPSession.CacheUse, _ storing: StoringOutcome?, stored: CacheEntry.Whose? = nil
    ) -> CallHistory {
        with { ($0.notedUse, $0.storing, $0.stored) = (use, storing, stored) }
    }
}
