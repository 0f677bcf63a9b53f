extension HTTPSession.Authentication {
    /// Sends a bearer token that a closure obtains, by the rules of ``HTTPSession/Authenticator``.
    ///
    /// ```swift
    /// configuration.authentication = .bearer { client in
    ///     let grant = try await client.post("oauth/token", body: .form(secrets), as: Grant.self)
    ///     return .init(grant.accessToken, lifetime: .seconds(grant.expiresIn))
    /// }
    /// ```
    ///
    /// `token` is the first one to send, if there is one.
    public static func bearer(
        _ token: HTTPSession.BearerToken? = nil, refreshTimeout: Duration = .seconds(30),
        _ refresh: @escaping @Sendable (_ client: HTTPSession) async throws -> HTTPSession.BearerToken
    ) -> Self {
        .by(BearerAuthenticator(initialCredential: token, refreshTimeout: refreshTimeout, source: refresh))
    }

    /// Authenticates with this authenticator.
    public static func by(_ authenticator: some HTTPSession.Authenticator) -> Self {
        Self(method: AuthenticatorMethod(authenticator: authenticator))
    }
}

private struct BearerAuthenticator: HTTPSession.Authenticator {
    let initialCredential: HTTPSession.BearerToken?
    let refreshTimeout: Duration
    let source: @Sendable (_ client: HTTPSession) async throws -> HTTPSession.BearerToken

    func fields(for token: HTTPSession.BearerToken) -> Fields { ["Authorization": "Bearer \(token.value)"] }

    func lifetime(of token: HTTPSession.BearerToken) -> Duration? { token.lifetime }

    func refresh(
        _ stale: HTTPSession.BearerToken?, using client: HTTPSession
    ) async throws -> HTTPSession.BearerToken {
        try await source(client)
    }
}

/// A method that puts a credential on every request.
protocol CredentialMethod: HTTPSession.Authentication.Method {
    func source(at now: HTTP.Instant, chance: @escaping @Sendable () -> UInt64) -> any CredentialSource
}

private struct AuthenticatorMethod<Source: HTTPSession.Authenticator>: CredentialMethod {
    let authenticator: Source

    func source(at now: HTTP.Instant, chance: @escaping @Sendable () -> UInt64) -> any CredentialSource {
        RefreshDriver(authenticator, at: now, chance: chance)
    }
}
