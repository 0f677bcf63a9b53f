internal import DunlinSemantics
internal import DunlinTransport

/// Answers a response's challenge by what a hook says or with a password, and sends the answer unasked where one was
/// accepted before.
struct PasswordStage: Stage {
    let memories: PasswordMemories
    let builder: RequestBuilder
    let hook: HTTPSession.AuthenticationHandler?

    func interest(in sending: Sending) -> StageInterest {
        let settings = sending.delegate.settings
        if case .none? = settings?.options.credentials { return .nothing }
        return isInUse(settings) ? .everything : .failures
    }

    /// Whether something may have been accepted before, to be sent unasked.
    private func isInUse(_ settings: RequestSettings?) -> Bool {
        settings?.password.map { memories.memory(of: $0).isInUse } ?? memories.isInUse
    }

    var hasLearned: Bool { memories.isInUse }

    func send(
        _ request: TransportRequest, _ sending: inout Sending, _ next: Next
    ) async throws -> TransportResponse {
        // A request with its own `Authorization` is sent with that.
        if request.head.fields.contains("authorization") { return try await next(request, &sending) }
        var answers: PasswordAnswers?
        // What has been sent already had no answer.
        if sending.known == nil, isInUse(sending.delegate.settings) {
            answers = try PasswordAnswers(self, to: request, &sending)
        }
        var last = try await answers?.unasked(sending)
        while true {
            let authorized = last.map { given in request.with { $0.head.fields.authorize(given.sent.value) } }
            let response = try await next(authorized ?? request, &sending)
            guard response.head.status == .unauthorized else {
                guard let last else { return response }
                return try await sending.judging(response) {
                    try answers?.accepted(last, response.head, $0)
                    return response
                }
            }
            let given = try await sending.judging(response) { sending in
                var known = try answers ?? PasswordAnswers(self, to: request, &sending)
                defer { answers = known }
                let given = try await known.answer(to: response.head, after: last, &sending)
                if given != nil, !request.body.canBeSent { throw known.cannotBeSentAgain(response.head) }
                return given
            }
            guard let given else { return response }
            try await sending.discard(response)
            try sending.again(.password)
            last = given
        }
    }

    func signs(of request: TransportRequest, for asking: Asking) -> [Access.Sign] {
        if case .none = asking.credentials { return [] }
        var signs: [Access.Sign] = []
        if asking.options?.authenticationHandler != nil { signs.append(.unknown) }
        if let password = login(for: request, of: asking)?.password {
            signs.append(.password(user: password.user, password: password.password))
        }
        // The hook may name another user than the password's. Its own requests carry what it has said before.
        if hook != nil { signs.append(asking.session.user.sign(.handler, era: memories.shared.number)) }
        return signs
    }

    /// The password for the base URL's origin.
    var sessionPassword: HTTPSession.Password? { builder.baseOriginSettings.values?.password }

    /// Whether the session still has this password, or still none.
    private func isPresent(_ own: HTTPSession.Password?) -> Bool {
        guard let own, let present = sessionPassword else { return own == nil && sessionPassword == nil }
        return own.isOf(user: present.user, password: present.password)
    }

    /// The password that answers by default, and the memory of where it was accepted.
    struct Login {
        let password: HTTPSession.Password
        let memory: PasswordMemory
    }

    func login(for request: TransportRequest, of asking: Asking) -> Login? {
        let origin = request.head.origin
        for own in [asking.redirectPassword, asking.settings?.password] {
            if let own, own.origin.isSame(as: origin) {
                return Login(password: own.password, memory: memories.memory(of: own))
            }
        }
        // Before the password is looked up: a replaced one must not be stored with what follows it.
        let memory = memories.shared.memory
        guard case .session = asking.credentials, let base = builder.baseOrigin, origin.isSame(as: base),
            let own = asking.call.basePassword
        else { return nil }
        // A request has the password of the moment when it was made. One that is no longer the session's is remembered
        // separately.
        if isPresent(own) { return Login(password: own, memory: memory) }
        return Login(password: own, memory: memories.memory(of: OriginPassword(origin: base, password: own)))
    }

    /// The memory that knows what may be sent unasked. A request with credentials of its own gets nothing of the
    /// session's.
    func memory(for request: TransportRequest, of sending: Sending) -> PasswordMemory? {
        if let login = login(for: request, of: sending.asking) { return login.memory }
        return shared(for: sending)?.memory
    }

    /// The memory for what hooks say for the call; nil if the call names its own user, since others have another.
    func shared(for sending: Sending) -> PasswordMemories.Shared? {
        let hasOwn = sending.delegate.settings?.password != nil || sending.callHistory?.password != nil
        if hasOwn || !sending.asking.credentials.isSession || !isPresent(sending.call.basePassword) { return nil }
        return memories.shared
    }
}
