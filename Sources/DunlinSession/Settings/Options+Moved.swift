internal import DunlinRules
internal import DunlinSemantics

/// What was meant for one origin, and is to be sent to another by whoever goes on with it there.
extension HTTPSession.Options {
    /// The same without what no other origin may see, by the rule of redirects: secret fields and credentials. The
    /// challenge hook stays, since each challenge tells it which server asks.
    package func moved(
        from origin: HTTP.Origin, to next: HTTP.Origin, _ configuration: HTTPSession.Configuration
    ) -> HTTPSession.Options {
        if origin.isSame(as: next) { return self }
        var moved = self
        moved.fields = allowed(fields, from: origin, to: next, configuration)
        if case .value = credentials { moved.credentials = .session }
        return moved
    }

    /// What a request with these options takes along of `fields`.
    package func allowed(
        _ fields: Fields, from origin: HTTP.Origin, to next: HTTP.Origin, _ configuration: HTTPSession.Configuration
    ) -> Fields {
        let policy = redirects.resolved(configuration.redirects) ?? configuration.redirects
        var marked = fields
        marked.mark(configuration.secretFields)
        return RedirectRules.allowed(marked, from: origin, to: next, secret: policy.rules.secretFields)
    }
}
