internal import DunlinSemantics
internal import DunlinTransport

extension HTTPSession {
    /// The user, guard, trust and way of the session's requests, apart from what a request adds.
    ///
    /// The text is the same for the same user and equal rules, and nil without any. It may contain secrets. It is for
    /// what is kept outside the session, such as pictures; the session's stages use the `Access` of each hop.
    package var asker: String? {
        let values = core.builder.baseOriginSettings.values
        var parts: [String] = []
        for fields in [core.configuration.fields, values?.fields ?? Fields()] {
            // A Cookie set here identifies the user, unlike those of the jar, and a Host names another resource.
            let own = ["cookie", "host"].filter { fields.contains($0) }
            for name in Set(CredentialFields.names(in: fields, core.configuration.secretFields) + own).sorted() {
                parts += [name] + fields.values(of: name)
            }
        }
        if let authorization = values?.authorization { parts += ["authorization", authorization] }
        if case .known(let user) = Access.User(added: signs(values), always: [], hasOwnAuthorization: false) {
            parts.append(user.string)
        }
        let trust = core.tlsPolicySource.latestPolicy.setup.trustName
        if !trust.isEmpty { parts += ["trust", trust] }
        let proxyTrust = core.tlsPolicySources.proxies.latestPolicy.setup.trustName
        if !proxyTrust.isEmpty, core.builder.connectionRules?.chooseProxy != nil {
            parts += ["proxy trust", proxyTrust]
        }
        if let rules = Access.name(of: core.builder.connectionRules?.guardRules) { parts.append(rules) }
        parts += way
        if parts.isEmpty { return nil }
        // Each with its length, so that different lists give different texts.
        return parts.map { "\($0.utf8.count):\($0)" }.joined()
    }

    /// The number of replacements that may have changed `asker`. While it stays the same, so does the asker, apart from
    /// its jar; the text alone may also be the same because something was replaced and then put back.
    package var askerEdition: AskerEdition {
        AskerEdition(
            replacements: core.builder.baseOriginSettings.replacements,
            generation: core.tlsPolicySources.origins.latestPolicy.tlsGeneration,
            proxyGeneration: core.tlsPolicySources.proxies.latestPolicy.tlsGeneration)
    }

    package struct AskerEdition: Sendable, Equatable {
        fileprivate let replacements: Int
        fileprivate let generation: UInt64
        fileprivate let proxyGeneration: UInt64
    }

    /// The parts of the way by which a request may reach other servers, or on which somebody may decide what they
    /// answer.
    private var way: [String] {
        var way = core.configuration.hostOverrides.texts
        if let path = core.configuration.socketPath { way.append("socket \(path)") }
        if let code = core.codeOfWay { way.append(code) }
        let network = Access.network(of: core.configuration)
        if !network.isEmpty { way.append(network) }
        guard core.builder.connectionRules?.chooseProxy != nil else { return way }
        switch core.configuration.proxy.choice {
        case .direct: break
        case .environment: way.append("by the environment")
        case .url(let url, let exceptions, _): way.append("by \(url) but \(exceptions)")
        case .chooser: way.append("by \(core.user.trust)")
        }
        return way
    }

    private func signs(_ values: BaseOriginSettings.Values?) -> [Access.Sign] {
        var signs: [Access.Sign] = []
        if let password = values?.password { signs.append(.password(user: password.user, password: password.password)) }
        if let key = core.tlsPolicySource.latestPolicy.identityKey { signs.append(.certificate(key)) }
        for stage in core.authentication {
            if let stage = stage as? PasswordStage {
                if stage.hook != nil { signs.append(core.user.sign(.handler, era: stage.memories.shared.number)) }
            } else {
                signs.append(core.user.sign(.authenticator))
            }
        }
        if let jar = core.configuration.cookies { signs.append(core.user.sign(jar)) }
        if configuration.interceptors.isEmpty == false { signs.append(core.user.sign(.interceptors)) }
        // It may add a token to the next hop.
        if configuration.hooks.redirect != nil { signs.append(core.user.sign(.redirectHook)) }
        if core.builder.connectionRules?.chooseProxy != nil,
            let key = core.tlsPolicySources.proxies.latestPolicy.identityKey
        {
            signs.append(.certificate(key))
        }
        return signs
    }
}
