internal import DunlinSemantics
internal import DunlinTransport

extension HTTPSession {
    /// Who asks, and under which guard and trust, as far as the session itself says it, whatever a request says beside.
    ///
    /// It is the same text for the same user and equal rules, and nil where there are none. It may have secrets in it.
    /// It is for what is kept outside the session, such as pictures; what the session's stages keep and share goes by
    /// the `Access` of each hop.
    package var asker: String? {
        let (configuration, home) = (core.configuration, core.builder.home.home)
        var parts: [String] = []
        for fields in [configuration.fields, home?.fields ?? Fields()] {
            for name in CredentialFields.names(in: fields, configuration.secretFields).sorted() {
                parts += [name] + fields.values(of: name)
            }
        }
        if let authorization = home?.authorization { parts += ["authorization", authorization] }
        if case .known(let user) = Access.User(added: signs(home), always: [], hasOwnAuthorization: false) {
            parts.append(user)
        }
        let trust = core.tlsPolicySource.latestPolicy.setup.trustName
        if !trust.isEmpty { parts += ["trust", trust] }
        if let rules = Access.name(of: core.builder.connectionRules?.guardRules) { parts.append(rules) }
        if parts.isEmpty { return nil }
        // Each with its length, so that no two lists are one text.
        return parts.map { "\($0.utf8.count):\($0)" }.joined()
    }

    private func signs(_ home: HomeSource.Home?) -> [Access.Sign] {
        var signs: [Access.Sign] = []
        if let password = home?.password { signs.append(.password(user: password.user, password: password.password)) }
        if let key = core.tlsPolicySource.latestPolicy.identityKey { signs.append(.certificate(key)) }
        for stage in core.authentication {
            if let stage = stage as? PasswordStage {
                if let own = stage.password { signs.append(.password(user: own.user, password: own.password)) }
                if stage.hook != nil { signs.append(core.user.sign(.handler, era: stage.book.shared.number)) }
            } else {
                signs.append(core.user.sign(.authenticator))
            }
        }
        if configuration.interceptors.isEmpty == false { signs.append(core.user.sign(.interceptors)) }
        return signs
    }
}
