internal import DunlinRules

extension NetworkError {
    /// The error of the refresh, for a request that failed because it got no credential; otherwise the error itself.
    var beneathRefresh: NetworkError {
        var error = self
        while error.code == .authenticationFailed, let cause = error.underlying as? NetworkError { error = cause }
        return error
    }

    /// Whether the user's code has decided that the request ends with this error, or a refresh that it needed.
    var isLastWord: Bool { isDecided || beneathRefresh.isDecided }

    /// Whether there was no network by which to ask anybody. A host that refuses connections or does not answer may be
    /// in trouble, so it does not count.
    package var askedNobody: Bool { ConnectivityMachine.Failure(self) == .noWay }
}
