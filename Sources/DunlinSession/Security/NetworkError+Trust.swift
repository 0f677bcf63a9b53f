extension NetworkError {
    /// Whom it is about and where the request was going, if a server was not trusted.
    public var trustFailure: ServerTrustFailure? {
        if let failure = underlying as? ServerTrustFailure { return failure }
        return trustRefusal.map { ServerTrustFailure(host: $0.host, refusal: $0) }
    }
}
