internal import DunlinReactor
internal import DunlinTransport

extension Chain {
    /// Creates the stages between a session's calls and its transport from its configuration. Docs/Architecture.md
    /// explains their order. A new stage needs a file here, a setting, a line in `stages`, and a row there.
    convenience init(
        _ configuration: HTTPSession.Configuration, _ builder: RequestBuilder, on loop: Reactor,
        _ tlsPolicySources: TLSPolicySources, authentication: [any Stage], of owner: Owner
    ) {
        let callTransport: CallTransport
        if let transport = configuration.transport {
            callTransport = CallTransport(
                custom: transport, builder.connectionRules, limits: configuration.socketOptions.limits)
        } else {
            var options = configuration.socketOptions
            options.connectionRules = builder.connectionRules
            options.mayWait = { owner.mayBeAwaited(by: HTTPSession.TaskID(rawValue: $0)) }
            let sockets = SocketTransport(
                options, on: loop, tlsPolicySource: tlsPolicySources.origins,
                proxyTLSPolicySource: tlsPolicySources.proxies, ended: configuration.connectionEnded)
            callTransport = CallTransport(sockets)
        }
        let settings = ChainSettings(configuration, builder)
        self.init(
            settings, over: callTransport, stages: Self.stages(settings, authentication), authentication: authentication
        )
    }

    /// The stages that are configured.
    static func stages(_ settings: ChainSettings, _ authentication: [any Stage]) -> [any Stage] {
        let configuration = settings.configuration
        var stages: [any Stage] = [
            RedirectStage(), ProvenanceStage(),
        ]
        let (coalescing, secretFields) = (configuration.coalescing, configuration.secretFields)
        if coalescing.isOn { stages.append(CoalescingStage(largestBody: coalescing.largestBody)) }
        if let cache = configuration.cache { stages.append(CacheStage(cache: cache, mode: configuration.cacheMode)) }
        stages += [ConnectivityStage(), ResendStage()]
        if let gate = configuration.gate { stages.append(GateStage(gate: gate)) }
        stages += authentication
        if let jar = configuration.cookies { stages.append(CookieStage(jar: jar)) }
        if secretFields != .usual { stages.append(SecretFieldStage(names: secretFields)) }
        return stages
    }

    /// The authentication stages. They are made once for a session, so what they have learned outlives a restart.
    static func authentication(
        _ configuration: HTTPSession.Configuration, _ builder: RequestBuilder, at now: HTTP.Instant
    ) -> [any Stage] {
        let passwords = PasswordStage(
            memories: PasswordMemories(), builder: builder, hook: configuration.authenticationHandler)
        guard let origin = builder.baseOrigin,
            let method = configuration.authentication?.method as? any CredentialMethod
        else {
            return [passwords]
        }
        let settings = RetrySettings(configuration)
        let driver = RefreshDriver(method, at: now) { settings.chance() }
        return [passwords, AuthenticatorStage(driver: driver, origin: origin)]
    }
}
