internal import DunlinReactor
internal import DunlinTransport

extension Chain {
    /// What stands between a session's calls and its transport, by its configuration.
    ///
    /// | stage | why it stands where it does |
    /// |---|---|
    /// | retrying | each attempt is a whole one: redirects, and all behind, begin anew with it |
    /// | redirects | each hop is sent and answered by itself, with what is for its own origin |
    /// | connectivity | who waits for a network has sent nothing, so that nobody before has anything to decide |
    /// | resending | mends what is between two ends of a connection, and is nobody else's business |
    /// | cookies | belong to what is sent to one origin, not to what was asked for |
    /// | secret fields | marks what comes before anybody sees it |
    ///
    /// A new stage is a file here, a setting, and a line in `stages`.
    convenience init(
        _ configuration: HTTPSession.Configuration, _ builder: RequestBuilder, on loop: Reactor,
        _ tlsPolicySource: SessionTLSPolicySource
    ) {
        let callTransport: CallTransport
        if let transport = configuration.transport {
            callTransport = CallTransport(foreign: transport)
        } else {
            callTransport = CallTransport(
                SocketTransport(configuration.socketOptions, on: loop, tlsPolicySource: tlsPolicySource))
        }
        let settings = ChainSettings(configuration, builder)
        self.init(settings, over: callTransport, stages: Self.stages(settings))
    }

    /// What is not configured is not among them.
    static func stages(_ settings: ChainSettings) -> [any Stage] {
        var stages: [any Stage] = [
            RetryStage(settings: settings.retries), RedirectStage(settings: settings),
            ConnectivityStage(settings: settings), ResendStage(),
        ]
        if let jar = settings.cookies { stages.append(CookieStage(jar: jar)) }
        if settings.secretFields != .usual { stages.append(SecretFieldStage(names: settings.secretFields)) }
        return stages
    }
}
