extension HTTPSession.Next {
    /// The session, for requests of the interceptor's own: they do not pass it again, and wait in no queue. Nil for an
    /// interceptor that is tested alone.
    public var session: HTTPSession? { (owner as? SessionCore).map(HTTPSession.init) }
}

extension HTTPSession.Next {
    /// Returns the request as a shell command for `curl`, with the effects of the session's settings except passwords,
    /// and without the secrets of its `secretFields` unless `showingSecrets` is true. For an interceptor that is tested
    /// alone, the same as `request.curl`.
    public func curl(_ request: TransportRequest, showingSecrets: Bool = false) -> String {
        guard let session = owner as? SessionCore else { return request.curl(showingSecrets: showingSecrets) }
        // It is not known here whose password answers for the request: the session's must not stand for another's.
        let settings = session.curl.with(nil, decodes: session.curl.decodes, login: nil)
        return RequestRecord(RequestRecord.Source(request), settings).curl(showingSecrets: showingSecrets)
    }
}
