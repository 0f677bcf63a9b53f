extension HTTPSession.RequestStep: CustomStringConvertible, CustomReflectable {
    /// A few words, without what looks secret: of a redirect's URL what ``HTTPSession/Redirect`` shows.
    public var description: String {
        switch self {
        case .queued: "queued"
        case .admitted(let wait): "admitted after \(wait.readable)"
        case .suspended: "suspended"
        case .resumed: "resumed"
        case .waitingForConnectivity(let error): "waits for a network: \(error.summary)"
        case .retrying(let attempt): "will be retried in \(attempt.wait.readable): \(attempt.cause)"
        case .redirected(let redirect, to: _): "redirected: \(redirect)"
        case .sendingAgain(let reason): "sent again: \(reason.rawValue)"
        case .joined: "joined an identical request"
        case .servedFromCache(let use): "served from the cache: \(use)"
        case .downloadResumed(let offset, let total):
            "continues after \(offset)\(total.map { " of \($0)" } ?? "") bytes"
        }
    }

    /// Shows nothing but the description.
    public var customMirror: Mirror { Mirror(self, children: ["step": description]) }
}
