extension NetworkError {
    /// The server and the URL of the request, if the server was not trusted; otherwise nil.
    package var trustFailure: HTTPSession.ServerTrustFailure? {
        if let failure = underlying as? HTTPSession.ServerTrustFailure { return failure }
        return trustRefusal.map { HTTPSession.ServerTrustFailure(host: $0.host, refusal: $0) }
    }
}
