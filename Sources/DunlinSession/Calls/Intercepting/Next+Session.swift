extension HTTPSession.Next {
    /// The session, for requests of the interceptor's own: they do not pass it again, and wait in no queue. Nil for an
    /// interceptor that is tried alone.
    public var session: HTTPSession? { (owner as? SessionCore).map(HTTPSession.init) }
}

extension HTTPSession.Next {
    /// The request as a shell command for `curl`, with what the session's settings decide but for passwords, and
    /// without the secrets of its `secretFields` unless `showingSecrets` asks for them. For an interceptor that is
    /// tried alone, the same as `request.curl`.
    public func curl(_ request: TransportRequest, showingSecrets: Bool = false) -> String {
        guard let session = owner as? SessionCore else { return request.curl(showingSecrets: showingSecrets) }
        // Whose password answers for the request is not known here: the session's must not stand for another's.
        let settings = session.curl.with(nil, decodes: session.curl.decodes, login: nil)
        return RequestRecord(RequestRecord.Source(request), settings).curl(showingSecrets: showingSecrets)
    }
}
