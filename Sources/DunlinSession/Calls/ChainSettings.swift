internal import DunlinSemantics
internal import DunlinTransport

/// The session's settings for the stages of its chain. A request may have its own.
final class ChainSettings: Sendable {
    let configuration: HTTPSession.Configuration
    let builder: RequestBuilder
    let retries: RetrySettings
    /// A name of the session's guard, for what keeps or shares answers; nil without a guard.
    let guardName: String?
    /// The rules of the session's cache, and of what is kept beside it.
    let cacheRules: CacheRules
    let asks: Bool

    init(_ configuration: HTTPSession.Configuration, _ builder: RequestBuilder) {
        retries = RetrySettings(configuration)
        guardName = Access.name(of: builder.connectionRules?.guardRules)
        // What a session says is secret is so to its cache, too.
        var rules = configuration.cache?.rules ?? HTTPSession.Cache.usualRules
        rules.secretFields = rules.secretFields.union(configuration.secretFields.more)
        cacheRules = rules
        asks = configuration.authenticationHandler != nil || !configuration.interceptors.isEmpty
        self.builder = builder
        self.configuration = configuration
    }
}
