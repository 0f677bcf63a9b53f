internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport
internal import Synchronization

/// The stages that a session's calls pass, and the transport behind them. A session creates it once. A call keeps the
/// chain that it began with, so a restarted session replaces it as a whole.
final class Chain: Sendable {
    let callTransport: CallTransport
    let settings: ChainSettings
    let stages: [any Stage]
    /// The stages that add credentials.
    let authentication: [any Stage]
    private let sees: Atomic<Bool>
    /// Thrown when the session is shut down or released. Code that checks it now and then waits with parts of it.
    let end = Cancellation()

    /// The interceptors around all stages, and those behind the last.
    let callInterceptors: InterceptorList
    let exchangeInterceptors: InterceptorList

    init(
        _ settings: ChainSettings, over callTransport: CallTransport, stages: [any Stage],
        authentication: [any Stage] = []
    ) {
        self.callTransport = callTransport
        self.settings = settings
        (self.stages, self.authentication) = (stages, authentication)
        let configuration = settings.configuration
        callInterceptors = InterceptorList(configuration.interceptors, .call)
        exchangeInterceptors = InterceptorList(configuration.interceptors, .exchange)
        sees = Atomic(
            configuration.cookies != nil || configuration.cache != nil
                || configuration.coalescing.isOn || configuration.secretFields != .usual
                || configuration.authentication != nil || configuration.gate != nil
                || stages.contains(where: \.hasLearned))
    }

    deinit {
        end.cancel(.handle)
    }

    /// Whether some stage may see every hop of a call without settings of its own.
    var seesAll: Bool { sees.load(ordering: .relaxed) }

    /// Whether some stage has to see every hop of a call.
    func seesAll(of sending: Sending) -> Bool {
        guard seesAll || sending.delegate.settings != nil else { return false }
        return stages.contains { $0.interest(in: sending) == .everything }
    }

    /// The first stage, with the others behind it.
    var first: Next { Next(stages) }

    /// Notes that requests may from now on carry an answer that was accepted before.
    func sendUnasked() { sees.store(true, ordering: .relaxed) }

    /// Whether a call may have more than one attempt.
    func retries(_ own: RequestSettings?) -> Bool { own?.retries ?? settings.retries.isSet }

    /// Whether a call with this body must run within an `UploadScope`: its body may still be sent when the response's
    /// head has come, or a hook may give it such a body.
    func needsScope(_ body: borrowing RequestBody, _ own: RequestSettings?) -> Bool {
        guard callTransport.sockets != nil else { return false }
        return settings.configuration.hooks.redirect != nil || own?.options.hooks?.redirect != nil
            || !settings.configuration.interceptors.isEmpty || UploadScope.isNeeded(for: body)
    }

    /// Whether a request's way may decide whether a password may be sent.
    func judgesWays(_ own: RequestSettings?) -> Bool {
        let basic = settings.builder.basic
        guard basic.judgesEachWay, callTransport.sockets != nil else { return false }
        return (own?.exchangeOptions?.connectionRules ?? basic.connectionRules)?.chooseProxy != nil
    }

    /// Whether user code may run during a call and make further calls to the session.
    func asks(_ own: RequestSettings?) -> Bool {
        settings.asks || own?.options.authenticationHandler != nil || retries(own)
    }
}

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
