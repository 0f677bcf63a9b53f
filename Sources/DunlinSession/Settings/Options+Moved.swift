internal import DunlinRules
internal import DunlinSemantics

/// Options for one origin, adapted for sending to another.
extension HTTPSession.Options {
    /// The options without what another origin may not see, by the rule for redirects: secret fields and credentials.
    /// The authentication handler stays, since each challenge names its server.
    package func moved(
        from origin: HTTP.Origin, to next: HTTP.Origin, _ configuration: HTTPSession.Configuration
    ) -> HTTPSession.Options {
        if origin.isSame(as: next) { return self }
        var moved = self
        moved.fields = allowed(fields, from: origin, to: next, configuration)
        if case .value = credentials { moved.credentials = .session }
        return moved
    }

    /// The options without the session's credentials and cookies, for a TRACE: the server sends it back as it got it
    /// (RFC 9110 §9.3.8). Those that the options name themselves stay, and are refused when it is sent.
    var withoutUser: HTTPSession.Options {
        var own = self
        if credentials.isSession { own.credentials = .none }
        if handlesCookies.isSession { own.handlesCookies = .none }
        return own
    }

    var isWithoutUser: Bool { !credentials.isSession && !handlesCookies.isSession }

    /// The names of fields that are not stored for a request with these options.
    package func unstoredFields(_ configuration: HTTPSession.Configuration) -> HTTP.SecretFields {
        configuration.unstoredFields(under: redirects.own)
    }

    /// The fields that a request with these options takes along.
    package func allowed(
        _ fields: Fields, from origin: HTTP.Origin, to next: HTTP.Origin, _ configuration: HTTPSession.Configuration
    ) -> Fields {
        let policy = redirects.resolved(configuration.redirects) ?? configuration.redirects
        var marked = fields
        marked.mark(configuration.secretFields)
        return RedirectRules.allowed(marked, from: origin, to: next, secret: policy.rules.secretFields)
    }
}

extension HTTPSession.Configuration {
    /// The names of fields that are not stored: the session's secret ones, and those that no redirect takes along, by
    /// its policy or a request's own. What is stored may be sent to any origin later.
    func unstoredFields(under own: HTTPSession.RedirectPolicy?) -> HTTP.SecretFields {
        secretFields.union(redirects.secretFields).union(own?.secretFields ?? [])
    }
}
