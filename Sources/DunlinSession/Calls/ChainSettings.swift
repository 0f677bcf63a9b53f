internal import DunlinTransport

/// The session's settings for the stages of its chain; a request may have settings of its own.
final class ChainSettings: Sendable {
    let redirects: HTTPSession.RedirectPolicy
    let hooks: HTTPSession.Hooks
    let builder: RequestBuilder
    let retries: RetrySettings
    let waitsForConnectivity: Bool
    let reachability: Reachability
    let cookies: CookieJar?
    let cache: (HTTPSession.Cache, HTTPSession.CacheMode)?
    let coalescing: HTTPSession.Coalescing
    let secretFields: HTTP.SecretFields
    /// A name of the session's guard, for the stages that keep or share answers; nil without either.
    let guardName: String?
    let interceptors: [HTTPSession.Interception]
    let asks: Bool
    /// Whether the session's requests are sent with a credential that may change.
    let authenticates: Bool

    init(_ configuration: HTTPSession.Configuration, _ builder: RequestBuilder) {
        redirects = configuration.redirects
        hooks = configuration.hooks
        retries = RetrySettings(configuration)
        waitsForConnectivity = configuration.waitsForConnectivity
        reachability = configuration.reachability
        cookies = configuration.cookies
        cache = configuration.cache.map { ($0, configuration.cacheMode) }
        coalescing = configuration.coalescing
        secretFields = configuration.secretFields
        let isKeeping = configuration.cache != nil || configuration.coalescing.isOn
        guardName = isKeeping ? Access.name(of: builder.connectionRules?.guardRules) : nil
        interceptors = configuration.interceptors
        asks = configuration.authenticationHandler != nil || !configuration.interceptors.isEmpty
        self.builder = builder
        authenticates = configuration.authentication?.isUnasked == true
    }
}
