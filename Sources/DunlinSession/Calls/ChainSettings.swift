internal import DunlinTransport

/// The session's settings for the stages of its chain. A request may have its own.
final class ChainSettings: Sendable {
    let configuration: HTTPSession.Configuration
    let builder: RequestBuilder
    let retries: RetrySettings
    /// A name of the session's guard, for the stages that keep or share answers; nil without a guard or such stages.
    let guardName: String?
    let asks: Bool

    init(_ configuration: HTTPSession.Configuration, _ builder: RequestBuilder) {
        retries = RetrySettings(configuration)
        let isKeeping = configuration.cache != nil || configuration.coalescing.isOn
        guardName = isKeeping ? Access.name(of: builder.connectionRules?.guardRules) : nil
        asks = configuration.authenticationHandler != nil || !configuration.interceptors.isEmpty
        self.builder = builder
        self.configuration = configuration
    }
}
