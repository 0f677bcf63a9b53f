internal import DunlinReactor
internal import DunlinTransport

extension Chain {
    /// The stages between a session's calls and its transport, by its configuration.
    ///
    /// | stage | why it stands where it does |
    /// |---|---|
    /// | interceptors around the call | they see what was asked for and what came of it, whatever it took |
    /// | retry | each attempt is a whole one: redirects and all later stages start over with it |
    /// | redirects | each hop is sent and answered by itself, with the fields and cookies of its own origin |
    /// | coalescing | hops are shared that are alike; what one finds in the cache or stores there is for all of them |
    /// | cache | each hop is looked for by itself; what is stored needs no password, token or network |
    /// | password | a challenge is for one hop; what the authenticator is refused may be asked of a hook |
    /// | authenticator | what redirects and retries send goes with the newest credential |
    /// | connectivity | a hop that waits for a network has sent nothing, so the stages before have nothing to decide |
    /// | resending | it mends what went wrong between the two ends of a connection, which concerns no other stage |
    /// | cookies | they belong to what is sent to one origin, not to what was asked for |
    /// | secret fields | marks the fields of a response before any other stage sees them |
    /// | interceptors around exchanges | they see what is sent, and sign it last |
    ///
    /// A new stage is a file here, a setting, and a line in `stages`.
    convenience init(
        _ configuration: HTTPSession.Configuration, _ builder: RequestBuilder, on loop: Reactor,
        _ tlsPolicySources: TLSPolicySources, authentication: [any Stage]
    ) {
        let callTransport: CallTransport
        if let transport = configuration.transport {
            callTransport = CallTransport(
                foreign: transport, builder.connectionRules, limits: configuration.socketOptions.limits)
        } else {
            var options = configuration.socketOptions
            options.connectionRules = builder.connectionRules
            let sockets = SocketTransport(
                options, on: loop, tlsPolicySource: tlsPolicySources.origins,
                proxyTLSPolicySource: tlsPolicySources.proxies)
            callTransport = CallTransport(sockets)
        }
        let settings = ChainSettings(configuration, builder)
        self.init(settings, over: callTransport, stages: Self.stages(settings, authentication))
    }

    /// The stages that are configured.
    static func stages(_ settings: ChainSettings, _ authentication: [any Stage]) -> [any Stage] {
        let configuration = settings.configuration
        var stages: [any Stage] = [
            RetryStage(settings: settings.retries), RedirectStage(),
        ]
        let (coalescing, secretFields) = (configuration.coalescing, configuration.secretFields)
        if coalescing.isOn { stages.append(CoalescingStage(largestBody: coalescing.largestBody)) }
        if let cache = configuration.cache { stages.append(CacheStage(cache: cache, mode: configuration.cacheMode)) }
        stages += authentication
        stages += [ConnectivityStage(), ResendStage()]
        if let jar = configuration.cookies { stages.append(CookieStage(jar: jar)) }
        if secretFields != .usual { stages.append(SecretFieldStage(names: secretFields)) }
        return stages
    }

    /// The stages that prove who the user is. They are made once for a session: what they have learned outlives a
    /// restart.
    static func authentication(
        _ configuration: HTTPSession.Configuration, _ builder: RequestBuilder, at now: MonotonicTime
    ) -> [any Stage] {
        let method = configuration.authentication?.method
        let passwords = PasswordStage(
            book: PasswordBook(), password: method as? HTTPSession.Password, builder: builder,
            hook: configuration.authenticationHandler)
        guard let origin = builder.baseOrigin, let method = method as? any CredentialMethod else { return [passwords] }
        let settings = RetrySettings(configuration)
        let source = method.source(at: now) { settings.chance() }
        return [passwords, AuthenticatorStage(source: source, origin: origin)]
    }
}
