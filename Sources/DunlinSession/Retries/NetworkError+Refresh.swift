internal import DunlinRules

extension NetworkError {
    /// What a request failed with that got no credential: what its refresh failed with. Otherwise itself.
    var beneathRefresh: NetworkError {
        var error = self
        while error.code == .authenticationFailed, let cause = error.underlying as? NetworkError { error = cause }
        return error
    }

    /// Whether there was no network to ask anybody through. A host that refuses connections, or does not answer, is
    /// one that may be in trouble.
    var askedNobody: Bool { ConnectivityMachine.Failure(self) == .noWay }
}
