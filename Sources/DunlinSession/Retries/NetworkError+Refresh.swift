extension NetworkError {
    /// What a request failed with that got no credential: what its refresh failed with. Otherwise itself.
    var beneathRefresh: NetworkError {
        var error = self
        while error.code == .authenticationFailed, let cause = error.underlying as? NetworkError { error = cause }
        return error
    }

    /// Whether nobody was reached who could have been asked for something.
    var reachedNobody: Bool { !requestMayHaveBeenSent && (phase == .resolve || phase == .connect) }
}
