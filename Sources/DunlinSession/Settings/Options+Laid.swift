/// Options laid over others.
extension HTTPSession.Options {
    /// These options, and for each that is the session's or the usual one here, what `former` says. Fields and time
    /// limits are taken one by one; hooks are one option.
    package func laid(over former: Self) -> Self {
        var laid = former
        let usual = Self()
        laid.fields = former.fields.overlaid(with: fields)
        if !bodyLimit.isSession { laid.bodyLimit = bodyLimit }
        if validatesResponse != usual.validatesResponse { laid.validatesResponse = validatesResponse }
        if decodesContent != usual.decodesContent { laid.decodesContent = decodesContent }
        if priority != usual.priority { laid.priority = priority }
        if expectsContinue != usual.expectsContinue { laid.expectsContinue = expectsContinue }
        for limit in Timeouts.Limit.allCases where !timeouts[limit].isSession { laid.timeouts[limit] = timeouts[limit] }
        if continueTimeout != usual.continueTimeout { laid.continueTimeout = continueTimeout }
        if let values = rare?.values {
            laid.rare = RareOptions(values.laid(over: former.rare?.values ?? RareOptions.Values()))
        }
        return laid
    }
}

extension RareOptions.Values {
    fileprivate func laid(over former: Self) -> Self {
        var laid = former
        laid.connecting = connecting.laid(over: former.connecting)
        if !common.cacheMode.isSession { laid.common.cacheMode = common.cacheMode }
        if !common.waitsForConnectivity.isSession { laid.common.waitsForConnectivity = common.waitsForConnectivity }
        if !common.handlesCookies.isSession { laid.common.handlesCookies = common.handlesCookies }
        if !redirects.isSession { laid.redirects = redirects }
        if !retry.isSession { laid.retry = retry }
        if !credentials.isSession { laid.credentials = credentials }
        if let hooks { laid.hooks = hooks }
        if !errorBodyLimit.isSession { laid.errorBodyLimit = errorBodyLimit }
        laid.label = label ?? former.label
        if !tags.isEmpty { laid.tags = tags }
        if !startsAfter.isEmpty { laid.startsAfter = startsAfter }
        if let begun { laid.begun = begun }
        if keepsProvenance { laid.keepsProvenance = true }
        if let oldestStored { laid.oldestStored = oldestStored }
        return laid
    }
}

extension RareOptions.ConnectingOptions {
    fileprivate func laid(over former: Self) -> Self {
        var laid = former
        if hostOverrides != HTTPSession.HostOverrides() { laid.hostOverrides = hostOverrides }
        if !sockets.isSession { laid.sockets = sockets }
        if !interfaces.isSession { laid.interfaces = interfaces }
        if !`guard`.isSession { laid.guard = `guard` }
        if let proxy { laid.proxy = proxy }
        if let authenticationHandler { laid.authenticationHandler = authenticationHandler }
        if !coalesces { laid.coalesces = false }
        laid.upgrade = upgrade ?? former.upgrade
        return laid
    }
}
