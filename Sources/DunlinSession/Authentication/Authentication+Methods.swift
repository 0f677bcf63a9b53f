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

/// A method that puts a credential on every request. Only the method knows the credential's type.
protocol CredentialMethod: HTTPSession.Authentication.Method {
    /// The credential to begin with; nil to fetch one before the first request.
    var initialCredential: KnownCredential? { get }
    var refreshTimeout: Duration { get }
    /// Fetches a credential if there was none; a known one fetches its successor.
    func fetch(using client: HTTPSession) async throws -> KnownCredential
    func isRefused(by response: ResponseHead) -> Bool
}

private struct AuthenticatorMethod<Source: HTTPSession.Authenticator>: CredentialMethod {
    let authenticator: Source

    var initialCredential: KnownCredential? { authenticator.initialCredential.map { known($0) } }
    var refreshTimeout: Duration { authenticator.refreshTimeout }

    func fetch(using client: HTTPSession) async throws -> KnownCredential {
        known(try await authenticator.refresh(nil, using: client))
    }

    func isRefused(by response: ResponseHead) -> Bool { authenticator.isRefused(by: response) }

    private func known(_ credential: Source.Credential) -> KnownCredential {
        let (fields, lifetime) = (authenticator.fields(for: credential), authenticator.lifetime(of: credential))
        return KnownCredential(fields, lifetime: lifetime) {
            known(try await authenticator.refresh(credential, using: $0))
        }
    }
}
