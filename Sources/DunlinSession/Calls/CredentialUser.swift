internal import DunlinSemantics
internal import DunlinTransport

/// Whose credentials a stage adds to what is sent, for the stages before it that must not mix users up.
enum CredentialUser {
    /// The session's: a token that changes, or what a hook says.
    case session
    case password(HTTPSession.Password)
    /// Whoever a hook of the request says.
    case unknown
}

extension LiveCall {
    /// The head of a request as far as it says for whom it is: with the cookies that later stages will add, and with a
    /// name in place of their credentials. Nil if it is not known yet who that is.
    func headWithUser(of request: TransportRequest) -> RequestHead? {
        let jar = chain.cookies(for: delegate)
        var head = jar?.completing(request).head ?? request.head
        switch chain.user(of: request, for: self) {
        case nil: break
        case .session: head.fields.append(name: "Authorization", value: "session", sensitive: true)
        case .password(let password):
            let value = "password \(password.user.utf8.count):\(password.user):\(password.password)"
            head.fields.append(name: "Authorization", value: value, sensitive: true)
        case .unknown: return nil
        }
        return head
    }
}

extension Chain {
    /// Whose credentials will be added to a request; nil for none, or if it has its own.
    func user(of request: TransportRequest, for call: LiveCall) -> CredentialUser? {
        guard let user = added(to: request, for: call) else { return nil }
        // Last, for to look at every name costs as much as a response from memory.
        return CredentialFields.names(in: request.head.fields, settings.secretFields).isEmpty ? user : nil
    }

    private func added(to request: TransportRequest, for call: LiveCall) -> CredentialUser? {
        for stage in stages {
            if let user = stage.user(of: request, for: call) { return user }
        }
        // They may add a token, and then it is the session's.
        return exchangeInterceptors.isEmpty ? nil : .session
    }
}
