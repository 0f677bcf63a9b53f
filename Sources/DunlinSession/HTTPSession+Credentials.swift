internal import DunlinTransport

/// Replacing, while a session lives, what goes to its base URL's origin and to no other. Requests that were made before
/// keep what they have; a restart keeps what was set last.
extension HTTPSession {
    /// Replaces the session's credentials; nil for none but the user info of the base URL. What is remembered of
    /// passwords is forgotten.
    ///
    /// Throws `NetworkError` with code `invalidConfiguration`, and changes nothing, for credentials that cannot be
    /// sent, beside a field `Authorization` or `authentication`, and without a base URL.
    public func replace(credentials: HTTP.Credentials?) throws {
        if credentials != nil { try checkAuthentication() }
        try core.builder.home.replace(credentials: credentials)
        emptyBooks()
    }

    /// Forgets where user names and passwords got in, and those that `authenticationHandler` gave: the next request is
    /// sent without, and the server asks again. The handler is asked for a client certificate again too: connections
    /// that it may have secured with one are not used any more. What the configuration and options say stays, and so
    /// does what the session's cache has stored for the user.
    public func forgetPasswords() {
        emptyBooks()
        if let generation = core.tlsPolicySource.forgetIdentity() {
            tasks.chain.callTransport.sockets?.retire(before: generation)
        }
    }

    private func emptyBooks() {
        for case let stage as PasswordStage in core.authentication { stage.book.removeAll() }
    }

    /// Replaces the session's `originFields`, in the same way.
    public func replace(originFields fields: Fields) throws {
        if fields.contains("authorization") { try checkAuthentication() }
        try core.builder.home.replace(fields)
    }

    private func checkAuthentication() throws {
        if core.configuration.authentication == nil { return }
        throw NetworkError(
            .invalidConfiguration, "credentials are given twice: `authentication` and others; give one")
    }
}
