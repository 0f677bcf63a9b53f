internal import DunlinReactor

/// The session's settings for the stages of its chain; a request may have settings of its own.
final class ChainSettings: Sendable {
    let redirects: HTTPSession.RedirectPolicy
    let hooks: HTTPSession.Hooks
    let builder: RequestBuilder
    let retries: RetrySettings
    let waitsForConnectivity: Bool
    let reachability: Reachability
    let cookies: CookieJar?
    let secretFields: HTTP.SecretFields
    let asks: Bool
    /// Nil without an authenticator.
    let authenticator: AuthenticatorStage?

    init(_ configuration: HTTPSession.Configuration, _ builder: RequestBuilder, on loop: Reactor) {
        redirects = configuration.redirects
        hooks = configuration.hooks
        retries = RetrySettings(configuration)
        waitsForConnectivity = configuration.waitsForConnectivity
        reachability = configuration.reachability
        cookies = configuration.cookies
        secretFields = configuration.secretFields
        asks = configuration.authenticationHandler != nil
        self.builder = builder
        let (now, retries) = (loop.now(), retries)
        func keeper(_ authenticator: some HTTPSession.Authenticator) -> any CredentialSource {
            CredentialKeeper(authenticator, at: now) { retries.chance() }
        }
        authenticator = configuration.authenticator.flatMap { authenticator in
            builder.baseOrigin.map { AuthenticatorStage(source: keeper(authenticator), origin: $0) }
        }
    }
}
