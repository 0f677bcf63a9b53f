internal import DunlinSemantics
internal import DunlinTransport

extension PasswordAnswers {
    /// A response that asks for credentials, and its challenges. It never changes, and is passed by reference because
    /// every step needs it.
    private final class Question {
        let response: ResponseHead
        let challenges: ResponseChallenges
        let login: PasswordStage.Login?
        /// The answer that was refused.
        let last: Answer?
        /// What hooks' answers are shared by; nil if they are for this request alone.
        let shared: PasswordMemories.Shared?

        init(
            _ response: ResponseHead, login: PasswordStage.Login?, last: Answer?, shared: PasswordMemories.Shared?
        ) {
            (self.response, challenges) = (response, ResponseChallenges(response))
            (self.login, self.last, self.shared) = (login, last, shared)
        }
    }

    private struct Reply {
        let response: HTTPSession.AuthenticationChallenge.Answer
        /// The shared memory; nil for the request's own memory.
        var shared: PasswordMemories.Shared?
        var mark: ChallengeQuestions.Mark?
        /// Whether the session's hook was asked. If not, the answer is not remembered, since the hook may not want it
        /// sent unasked.
        var isSessionsWord = false
    }

    /// What happens with a response.
    private indirect enum Outcome {
        case answer(Answer)
        case deliver
        /// Nothing answers this challenge, or it must not be answered; the next one may be.
        case next(problem: NetworkError?)
    }

    /// The answer to a response's challenges; nil to deliver the response.
    mutating func answer(
        to response: ResponseHead, after last: Answer?, _ sending: inout Sending
    ) async throws -> Answer? {
        let question = Question(
            response, login: stage.login(for: request, of: sending.asking), last: last,
            shared: stage.shared(for: sending))
        let challenges = question.challenges
        if last != nil || question.login != nil || !hooks.isEmpty {
            try await hash(by: challenges.bodyHashFunctions, sending)
        }
        if let last, let sent = last.memory.renewed(after: last.sent, by: challenges, hashed) {
            return Answer(sent: sent, memory: last.memory, by: last.by, mark: last.mark)
        }
        last?.mark?.judged()
        var machine = machine ?? ChallengeMachine(hasHooks: !hooks.isEmpty, hasPassword: question.login != nil)
        defer { self.machine = machine }
        if let last, let login = question.login, last.sent.isBy(login.password) {
            for space in challenges.spaces where last.sent.isFor(space) { machine.answered(space) }
        }
        return try await answer(question, machine.challenged(challenges.spaces, refused: last?.by), &machine, sending)
    }

    private func answer(
        _ question: Question, _ first: ChallengeMachine.Action, _ machine: inout ChallengeMachine, _ sending: Sending
    ) async throws -> Answer? {
        var action = first
        var problem: NetworkError?
        while case .ask(let index) = action {
            guard request.body.canBeSent else { throw cannotBeSentAgain(question.response) }
            if let refusal = refusal(question.challenges.items[index], question) {
                problem = problem ?? refusal
                action = machine.rejected(index)
                continue
            }
            switch try await ask(index, question, &machine, sending) {
            case .answer(let given): return given
            case .deliver: return nil
            case .next(let refusal):
                problem = problem ?? refusal
                action = machine.rejected(index)
            }
        }
        if case .deliver = action, let problem { throw problem }
        return try answer(question, action)
    }

    /// Why the hooks need not be asked about a space: no answer could be sent.
    private func refusal(_ item: ResponseChallenges.Item, _ question: Question) -> NetworkError? {
        guard item.space.method == .basic else { return nil }
        if basic.allowsAnswer(request.head) { return nil }
        return failure(.clearTextRefused, PasswordMemory.clearText, question.response)
    }

    private func ask(
        _ index: Int, _ question: Question, _ machine: inout ChallengeMachine, _ sending: Sending
    ) async throws -> Outcome {
        let item = question.challenges.items[index]
        if hooks.request == nil, let memory = question.shared?.memory,
            let sent = memory.recalled(item.options, after: question.last?.sent, hashed),
            machine.recalls(item.space)
        {
            return .answer(Answer(sent: sent, memory: memory, by: .memory))
        }
        let challenge = challenge(question, item, machine)
        let reply = try await reply(to: challenge, item, question, sending)
        switch reply.response {
        case .cancel(let error):
            throw (error ?? failure(.cancelled, "the authentication handler cancelled the request", question.response))
                .decided
        case .reject: return .next(problem: nil)
        case .performDefault: return byDefault(item, reply, question, &machine)
        case .useCredential(let credential):
            if isRefused(credential, item, question) { return .deliver }
            if let login = question.login, !item.options.isEmpty, credential.isBy(login.password) {
                // This is the default's answer, with everything that it may and may not do, and is remembered as such.
                guard case .answerByPassword = machine.byDefault() else { return .deliver }
                let memory = memory(of: login, isSessionsWord: reply.isSessionsWord)
                let sent = try answer(item.options, login.password, memory, question.response)
                return sent.map { .answer(Answer(sent: $0, memory: memory, by: .hook, mark: reply.mark)) } ?? .deliver
            }
            return .answer(try answer(to: item, by: credential, reply, challenge))
        }
    }

    /// Answers by default the challenge that the hook was asked about, and no other: what it said of the others stands.
    private func byDefault(
        _ item: ResponseChallenges.Item, _ reply: Reply, _ question: Question, _ machine: inout ChallengeMachine
    ) -> Outcome {
        guard let login = question.login, machine.mayUsePassword else { return .deliver }
        let memory = memory(of: login, isSessionsWord: reply.isSessionsWord)
        do throws(NetworkError) {
            let sent = try answer(item.options, login.password, memory, question.response)
            guard let sent, case .answerByPassword = machine.byDefault() else { return .deliver }
            return .answer(Answer(sent: sent, memory: memory, by: .password))
        } catch {
            return .next(problem: error)
        }
    }

    /// The memory that remembers whether a password was accepted. The session's hook might reject next time what it was
    /// not asked about now.
    private func memory(of login: PasswordStage.Login, isSessionsWord: Bool) -> PasswordMemory {
        isSessionsWord || stage.hook == nil ? login.memory : ownMemory
    }

    /// Whether this is exactly the answer that the server has just refused.
    private func isRefused(
        _ credential: HTTPSession.AuthenticationChallenge.Credential, _ item: ResponseChallenges.Item,
        _ question: Question
    ) -> Bool {
        guard let last = question.last?.sent, last.isFor(item.space) else { return false }
        switch credential {
        case .password(let user, let password): return last.isBy(HTTPSession.Password(user: user, password: password))
        case .bearer(let token): return last.value == "Bearer \(token)"
        default: return false
        }
    }

    /// The hooks' reply. The request's hook is asked first. The session's is asked one question at a time about what a
    /// password answers.
    private func reply(
        to challenge: HTTPSession.AuthenticationChallenge, _ item: ResponseChallenges.Item, _ question: Question,
        _ sending: Sending
    ) async throws -> Reply {
        if let hook = hooks.request {
            let own = try await ask(hook, challenge, sending)
            guard case .performDefault = own else { return Reply(response: own) }
        }
        guard let hook = hooks.session else { return Reply(response: .performDefault) }
        guard let shared = question.shared, !item.options.isEmpty else {
            return Reply(
                response: try await ask(hook, challenge, sending), shared: question.shared, isSessionsWord: true)
        }
        let space = ChallengeQuestions.Space(origin: challenge.origin.description, space: item.space)
        let (response, mark) = try await shared.questions.response(about: space, sending) {
            isRefused($0, item, question)
        } _: {
            try await ask(hook, challenge, sending)
        }
        return Reply(response: response, shared: shared, mark: mark, isSessionsWord: true)
    }

    private func ask(
        _ hook: @escaping HTTPSession.AuthenticationHandler, _ challenge: HTTPSession.AuthenticationChallenge,
        _ sending: Sending
    ) async throws -> HTTPSession.AuthenticationChallenge.Answer {
        let subject = Enclosure.Subject.challenge(of: ObjectIdentifier(sending.session))
        return try await sending.withinLimits {
            await Enclosure.enter(subject, of: sending.session.owner) {
                await ChallengeHooks.response(of: hook, to: challenge)
            }
        }
    }

    private func challenge(
        _ question: Question, _ item: ResponseChallenges.Item, _ machine: ChallengeMachine
    ) -> HTTPSession.AuthenticationChallenge {
        let proposed = machine.mayUsePassword ? question.login?.password : nil
        return HTTPSession.AuthenticationChallenge(
            .protectionSpace(item.space), origin: request.head.origin,
            previousFailures: machine.refusals, response: question.response,
            proposed: proposed.flatMap { password in
                mayAnswer(item, password)
                    ? .password(user: password.user, password: password.password) : nil
            })
    }

    private func mayAnswer(
        _ item: ResponseChallenges.Item, _ password: HTTPSession.Password
    ) -> Bool {
        switch item.space.method {
        case .digest: true
        case .basic: password.answersBasic && basic.allowsAnswer(request.head)
        case .bearer, .other: false
        }
    }

    /// The answer if no hook gives one.
    private func answer(_ question: Question, _ action: ChallengeMachine.Action) throws -> Answer? {
        switch action {
        case .deliver, .ask: return nil
        case .fail:
            throw failure(
                .authenticationFailed,
                "the server refused \(ChallengeMachine.mostHookAnswers) answers of the authentication handler, "
                    + "and no more are tried",
                question.response)
        case .answerByPassword:
            guard let login = question.login else { return nil }
            let options = question.challenges.items.flatMap(\.options)
            let memory = memory(of: login, isSessionsWord: false)
            return try answer(options, login.password, memory, question.response).map {
                Answer(sent: $0, memory: memory, by: .password)
            }
        }
    }

    /// The answer that a hook gave.
    private func answer(
        to item: ResponseChallenges.Item, by credential: HTTPSession.AuthenticationChallenge.Credential,
        _ reply: Reply, _ challenge: HTTPSession.AuthenticationChallenge
    ) throws -> Answer {
        let memory = reply.shared?.memory ?? ownMemory
        switch (credential, item.space.method) {
        case (.password(let user, let password), .digest), (.password(let user, let password), .basic):
            let password = HTTPSession.Password(user: user, password: password)
            guard let sent = try answer(item.options, password, memory, challenge.response) else { break }
            return Answer(sent: sent, memory: memory, by: .hook, mark: reply.mark)
        case (.bearer(let token), .bearer):
            guard let value = try HTTP.Credentials.bearer(token: token).authorization(.unusableCredential) else {
                break
            }
            return Answer(sent: .bearer(value: value), memory: memory, by: .hook)
        default: break
        }
        throw ChallengeRules.unusable(credential, challenge)
    }

    /// The answer of a password; nil if there is nothing to answer. A weaker challenge may work where a stronger one
    /// does not.
    private func answer(
        _ options: [ChallengeChoice.Option], _ password: HTTPSession.Password, _ memory: PasswordMemory,
        _ response: ResponseHead?
    ) throws(NetworkError) -> PasswordMemory.Sent? {
        var problem: NetworkError?
        for option in options {
            switch memory.answer(option, by: password, hashed, basic) {
            case .send(let sent): return sent
            case .fail(let code, let reason): problem = failure(code, reason, response)
            }
        }
        if let problem { throw problem }
        return nil
    }

    func failure(_ code: NetworkError.Code, _ reason: String, _ response: ResponseHead?) -> NetworkError {
        NetworkError(code, reason, requestMayHaveBeenSent: true, response: response)
    }

    func cannotBeSentAgain(_ response: ResponseHead) -> NetworkError {
        failure(
            .bodyNotReplayable,
            "the server asks for credentials, and the request's body can be sent once only; "
                + "give the body as bytes, a file or `.replayable`",
            response)
    }
}

extension HTTPSession.AuthenticationChallenge.Credential {
    fileprivate func isBy(_ own: HTTPSession.Password) -> Bool {
        if case .password(let user, let password) = self { own.isOf(user: user, password: password) } else { false }
    }
}
