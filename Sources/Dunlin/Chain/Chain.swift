internal import DunlinReactor
internal import DunlinTransport

/// What stands between a session's calls and its transport, put together once from its configuration.
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
/// A new stage is a folder, a setting, and a line in `stages`. Calls hold the chain they began with, so that a session
/// that begins anew swaps it whole.
final class Chain: Sendable {
    let carrier: Carrier
    let settings: ChainSettings
    /// What is not configured is not in it.
    let stages: [any Stage]
    /// Whether some stage may see all of a call that says nothing of its own.
    let seesAll: Bool

    /// With other stages for whoever looks at what passes them.
    init(_ settings: ChainSettings, over carrier: Carrier, stages: [any Stage]? = nil) {
        self.settings = settings
        self.carrier = carrier
        self.stages = stages ?? Self.stages(settings)
        seesAll = settings.retries.isSet || settings.cookies != nil || settings.secretFields != .usual
    }

    convenience init(
        _ configuration: HTTPSession.Configuration, _ builder: RequestBuilder, on loop: Reactor,
        _ advisor: SessionAdvisor
    ) {
        let carrier: Carrier
        if let transport = configuration.transport {
            carrier = Carrier(foreign: transport)
        } else {
            carrier = Carrier(SocketTransport(configuration.socketOptions, on: loop, advisor: advisor))
        }
        self.init(ChainSettings(configuration, builder), over: carrier)
    }

    private static func stages(_ settings: ChainSettings) -> [any Stage] {
        var stages: [any Stage] = [
            RetryStage(settings: settings.retries), RedirectStage(settings: settings),
            ConnectivityStage(settings: settings), ResendStage(),
        ]
        if let jar = settings.cookies { stages.append(CookieStage(jar: jar)) }
        if settings.secretFields != .usual { stages.append(SecretFieldStage(names: settings.secretFields)) }
        return stages
    }

    /// Whether a request may be tried again.
    func retries(_ own: RequestSettings?) -> Bool { own?.retries ?? settings.retries.isSet }

    /// Whether a request with this body must be made within an `UploadScope`: it may be sent for longer than the
    /// response's head takes to come, or a hook may give it such a body.
    func needsScope(_ body: borrowing RequestBody, _ own: RequestSettings?) -> Bool {
        guard carrier.sockets != nil else { return false }
        return settings.hooks.redirect != nil || own?.options.hooks?.redirect != nil || UploadScope.isNeeded(for: body)
    }

    /// Whether somebody may be asked on a request's way, who may ask for the session's requests in turn.
    func asks(_ own: RequestSettings?) -> Bool {
        settings.asks || own?.options.authenticate != nil || retries(own)
    }
}
