extension TransportRequest {
    /// The request as a shell command for `curl`, as an interceptor or a transport has it. What a session's settings
    /// decide, such as redirects and whom to trust, is not in it: the commands of errors, events and handles have that,
    /// and that of `Next.curl`.
    ///
    /// Secret fields, and values in a query or a body whose names look like secrets, are left out, unless
    /// `showingSecrets` asks for them. Of the session's own `secretFields`, values in a query or a body are not known
    /// here.
    public func curl(showingSecrets: Bool = false) -> String {
        RequestRecord(RequestRecord.Source(self), CurlSettings(redirects: .never, decodes: false))
            .curl(showingSecrets: showingSecrets)
    }
}

extension HTTPSession.Next {
    /// The request as a shell command for `curl`, with what the session's settings decide, and without the secrets of
    /// its `secretFields` unless `showingSecrets` asks for them. For an interceptor that is tried alone, the same as
    /// `request.curl`.
    public func curl(_ request: TransportRequest, showingSecrets: Bool = false) -> String {
        guard let session = owner as? SessionCore else { return request.curl(showingSecrets: showingSecrets) }
        return RequestRecord(RequestRecord.Source(request), session.curl).curl(showingSecrets: showingSecrets)
    }
}
