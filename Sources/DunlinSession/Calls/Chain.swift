internal import DunlinReactor
internal import DunlinTransport

/// The stages that a session's calls go through, and its transport behind them. A session puts it together once; calls
/// hold the chain they began with, so that a session that begins anew swaps it whole.
final class Chain: Sendable {
    let callTransport: CallTransport
    let settings: ChainSettings
    let stages: [any Stage]
    /// Whether some stage may see all of a call that says nothing of its own.
    let seesAll: Bool

    init(_ settings: ChainSettings, over callTransport: CallTransport, stages: [any Stage]) {
        self.callTransport = callTransport
        self.settings = settings
        self.stages = stages
        seesAll = settings.retries.isSet || settings.cookies != nil || settings.secretFields != .usual
    }

    /// Whether a request may be tried again.
    func retries(_ own: RequestSettings?) -> Bool { own?.retries ?? settings.retries.isSet }

    /// Whether a request with this body must be made within an `UploadScope`: it may be sent for longer than the
    /// response's head takes to come, or a hook may give it such a body.
    func needsScope(_ body: borrowing RequestBody, _ own: RequestSettings?) -> Bool {
        guard callTransport.sockets != nil else { return false }
        return settings.hooks.redirect != nil || own?.options.hooks?.redirect != nil || UploadScope.isNeeded(for: body)
    }

    /// Whether somebody may be asked on a request's way, who may ask for the session's requests in turn.
    func asks(_ own: RequestSettings?) -> Bool {
        settings.asks || own?.options.authenticationHandler != nil || retries(own)
    }
}
