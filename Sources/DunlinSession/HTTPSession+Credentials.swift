internal import DunlinTransport

/// Methods that replace, while a session lives, what is sent only to its base URL's origin. Requests that were already
/// made keep what they have, and so do their retries; a restart keeps what was set last.
extension HTTPSession {
    /// Replaces the session's credentials; nil leaves only the user info of the base URL. Remembered passwords are
    /// forgotten.
    ///
    /// A stream of events that reconnects and a journal's transfer that is attempted again make new requests, with the
    /// new credentials. So before you give a session another user, rather than the same one's renewed token, cancel
    /// those. A session for each user is simpler.
    ///
    /// Throws a `NetworkError` with code `invalidConfiguration`, and changes nothing, if the credentials cannot be
    /// sent, if there is a field `Authorization` or `authentication`, or if there is no base URL.
    public func replace(credentials: HTTP.Credentials?) throws {
        if credentials != nil { try checkAuthentication() }
        try core.builder.baseOriginSettings.replace(credentials: credentials)
        emptyMemories()
    }

    /// Forgets where passwords were accepted, and those that `authenticationHandler` gave: the next request is sent
    /// without one, and the server asks again. The handler is also asked for a client certificate again, and
    /// connections that may have been secured with one are no longer used. The passwords in the configuration and
    /// options stay, and so does what the session's cache has stored for the user.
    public func forgetPasswords() {
        emptyMemories()
        if let generation = core.tlsPolicySource.forgetIdentity() {
            tasks.chain.callTransport.sockets?.retire(before: generation)
        }
    }

    private func emptyMemories() {
        for case let stage as PasswordStage in core.authentication { stage.memories.removeAll() }
    }

    /// Replaces the session's `originFields`, by the same rules.
    public func replace(originFields fields: Fields) throws {
        if fields.contains("authorization") { try checkAuthentication() }
        try core.builder.baseOriginSettings.replace(fields)
    }

    private func checkAuthentication() throws {
        if core.configuration.authentication == nil { return }
        throw NetworkError(
            .invalidConfiguration, RequestBuilder.givenTwice)
    }
}
