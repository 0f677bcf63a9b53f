extension HTTPSession.Authentication {
    public typealias TokenSource = @Sendable (_ client: HTTPSession) async throws -> HTTPSession.BearerToken

    /// Sends a bearer token, which a closure gets by the rules of ``HTTPSession/Authenticator``.
    ///
    /// ```swift
    /// configuration.authentication = .bearer { client in
    ///     let grant = try await client.post("oauth/token", body: .form(secrets), as: Grant.self)
    ///     return .init(grant.accessToken, lifetime: .seconds(grant.expiresIn))
    /// }
    /// ```
    ///
    /// `token` is sent first, if there is one.
    public static func bearer(
        _ token: HTTPSession.BearerToken? = nil, refreshTimeout: Duration = .seconds(30),
        _ refresh: @escaping TokenSource
    ) -> Self {
        .by(BearerAuthenticator(initialCredential: token, refreshTimeout: refreshTimeout, source: refresh))
    }

    /// Answers challenges of the base URL's origin by a password: Digest (RFC 7616) by its strongest algorithm, or else
    /// Basic (RFC 7617). Nothing is sent before the server asks; then it is sent unasked within the protection space.
    ///
    /// A wrong password is answered once. A body that can be sent again is; for another one, have the request ask for
    /// the server's consent (`expectsContinue`).
    ///
    /// - Parameter allowsBasicInClearText: **Lowers security.** Whether Basic is answered over http, where everybody on
    ///   the way can read the password; if not, such a challenge fails with `clearTextRefused`, unless the session's
    ///   `basicInClearText` allows it.
    public static func password(user: String, password: String, allowsBasicInClearText: Bool = false) -> Self {
        Self(
            HTTPSession.Password(user: user, password: password, allowsBasicInClearText: allowsBasicInClearText))
    }

    /// Answers challenges of the base URL's origin by a password as `password(user:password:)` does, and by Digest
    /// alone: a server that asks for nothing but Basic never gets the password, whatever the way.
    public static func digest(user: String, password: String) -> Self {
        Self(HTTPSession.Password(user: user, password: password, answersBasic: false))
    }

    /// Proves it by this authenticator.
    public static func by(_ authenticator: some HTTPSession.Authenticator) -> Self {
        Self(AuthenticatorMethod(authenticator: authenticator))
    }
}

private struct BearerAuthenticator: HTTPSession.Authenticator {
    let initialCredential: HTTPSession.BearerToken?
    let refreshTimeout: Duration
    let source: HTTPSession.Authentication.TokenSource

    func fields(for token: HTTPSession.BearerToken) -> Fields { ["Authorization": "Bearer \(token.value)"] }

    func lifetime(of token: HTTPSession.BearerToken) -> Duration? { token.lifetime }

    func refresh(
        _ stale: HTTPSession.BearerToken?, using client: HTTPSession
    ) async throws -> HTTPSession.BearerToken {
        try await source(client)
    }
}

/// A method that has a credential on every request.
protocol CredentialMethod: HTTPSession.Authentication.Method {
    func source(at now: MonotonicTime, chance: @escaping @Sendable () -> UInt64) -> any CredentialSource
}

private struct AuthenticatorMethod<Source: HTTPSession.Authenticator>: CredentialMethod {
    let authenticator: Source

    func source(at now: MonotonicTime, chance: @escaping @Sendable () -> UInt64) -> any CredentialSource {
        CredentialKeeper(authenticator, at: now, chance: chance)
    }
}
