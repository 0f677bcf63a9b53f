internal import DunlinSemantics
internal import DunlinTransport

/// Answers the challenge of a response by what a hook says or by a password, and sends that unasked where it got in
/// before.
struct PasswordStage: Stage {
    let book: PasswordBook
    /// The session's password for its base URL's origin, which a base URL's user info may replace.
    let password: HTTPSession.Password?
    let builder: RequestBuilder
    let hook: HTTPSession.AuthenticationHandler?

    func seesAll(of call: LiveCall) -> Bool {
        if let own = call.delegate.settings?.password { return book.keeper(of: own).isInUse }
        return book.shared.isInUse
    }

    func driver(for call: LiveCall) -> (any StageDriver)? {
        if case .none = call.credentials { return nil }
        return PasswordDriver(
            self, ChallengeHooks(session: hook, request: call.delegate.settings?.options.authenticationHandler))
    }

    /// Of the base URL's origin.
    var sessionPassword: HTTPSession.Password? { password ?? builder.home.home?.password }

    /// What answers by default, and where it is remembered.
    struct Login {
        let password: HTTPSession.Password
        let keeper: PasswordKeeper
    }

    func login(for request: TransportRequest, of call: LiveCall) -> Login? {
        let origin = request.head.origin
        for own in [call.callHistory?.password, call.delegate.settings?.password] {
            if let own, own.origin.isSame(as: origin) {
                return Login(password: own.password, keeper: book.keeper(of: own))
            }
        }
        guard case .session = call.credentials, let base = builder.baseOrigin, origin.isSame(as: base) else {
            return nil
        }
        return sessionPassword.map { Login(password: $0, keeper: book.shared) }
    }

    /// Where it is known what may be sent unasked. A request with credentials of its own has nothing of the session's.
    func keeper(for request: TransportRequest, of call: LiveCall) -> PasswordKeeper? {
        if let login = login(for: request, of: call) { return login.keeper }
        return call.credentials.isSession ? book.shared : nil
    }
}

extension LiveCall {
    fileprivate var credentials: HTTPSession.PerRequest<HTTP.Credentials> {
        delegate.settings?.options.credentials ?? .session
    }
}

private final class PasswordDriver: StageDriver {
    /// An answer, and who made it.
    private struct Given {
        let sent: PasswordKeeper.Sent
        let keeper: PasswordKeeper
        let by: ChallengeMachine.Answerer
    }

    private let stage: PasswordStage
    private let hooks: ChallengeHooks
    /// What the request's own hook answered is remembered here.
    private lazy var ownKeeper = PasswordKeeper(limit: 8)
    /// What the hop under way went with, or the one before it.
    private var last: Given?
    /// The answer to a challenge, for as long as the server has said nothing to it: it is sent again with the hop.
    private var next: Given?
    private var isNextSent = false
    private var machine: ChallengeMachine?

    init(_ stage: PasswordStage, _ hooks: ChallengeHooks) {
        self.stage = stage
        self.hooks = hooks
    }

    /// A request that says itself who the user is goes with that.
    private func covers(_ request: TransportRequest) -> Bool { !request.head.fields.contains("authorization") }

    func sending(_ request: TransportRequest, _ call: inout LiveCall) async throws -> TransportRequest {
        last = nil
        guard covers(request) else { return request }
        last = given(request, call)
        guard let sent = last?.sent else { return request }
        return request.with { $0.head.fields.authorize(sent.value) }
    }

    /// A Digest answer is good for one sending.
    private func given(_ request: TransportRequest, _ call: LiveCall) -> Given? {
        guard let next else {
            guard let keeper = stage.keeper(for: request, of: call) else { return nil }
            let sent = keeper.unasked(request.head, request.body)
            return sent.map { Given(sent: $0, keeper: keeper, by: .memory) }
        }
        defer { isNextSent = true }
        if !isNextSent { return next }
        let sent = next.keeper.repeated(next.sent, request.head, request.body)
        return sent.map { Given(sent: $0, keeper: next.keeper, by: next.by) }
    }

    func received(_ response: TransportResponse, _ call: inout LiveCall) async throws -> StageAction {
        let request = call.request
        guard covers(request) else { return .pass(response) }
        let last = last
        (self.last, next) = (nil, nil)
        guard response.head.status == .unauthorized else {
            if let last, let problem = last.keeper.accepted(last.sent, response.head, to: request.head) {
                throw failure(.authenticationFailed, "the response is not to be believed: \(problem)", response.head)
            }
            if last?.keeper === stage.book.shared { call.chain.sendUnasked() }
            return .pass(response)
        }
        guard let answer = try await answer(to: response.head, after: last, call) else { return .pass(response) }
        guard request.body.canBeSent else {
            throw failure(
                .bodyNotReplayable, "the server asks who the user is, and the body can be sent once only",
                response.head)
        }
        (next, isNextSent) = (answer, false)
        call.callHistory.append(try await call.discard(response))
        return .again(.send)
    }

    func movedOn() {
        (last, next, machine) = (nil, nil, nil)
    }

    func startOver() {
        (last, next, machine) = (nil, nil, nil)
    }
}

// MARK: - Answers

extension PasswordDriver {
    /// A response that asks who the user is, and what it asks for.
    private struct Question {
        let response: ResponseHead
        let request: TransportRequest
        let challenges: ResponseChallenges
        let login: PasswordStage.Login?
    }

    /// Nil to deliver the response.
    private func answer(to response: ResponseHead, after last: Given?, _ call: LiveCall) async throws -> Given? {
        let question = Question(
            response: response, request: call.request, challenges: ResponseChallenges(response),
            login: stage.login(for: call.request, of: call))
        let (request, challenges) = (question.request, question.challenges)
        if let last, let sent = last.keeper.renewed(after: last.sent, by: challenges, request.head, request.body) {
            return Given(sent: sent, keeper: last.keeper, by: last.by)
        }
        var machine = machine ?? ChallengeMachine(hasHooks: !hooks.isEmpty, hasPassword: question.login != nil)
        defer { self.machine = machine }
        if let last, let login = question.login, last.sent.isBy(login.password) {
            for space in challenges.spaces where last.sent.isFor(space) { machine.answered(space) }
        }
        var action = machine.challenged(challenges.spaces, refused: last?.by)
        while case .ask(let index) = action {
            let challenge = challenge(question, index, machine)
            let reply = try await call.foreign { [hooks] in await hooks.response(to: challenge) }
            switch reply.response {
            case .cancel(let error): throw error ?? cancellation(response)
            case .reject: action = machine.rejected(index)
            case .performDefault: action = machine.byDefault()
            case .useCredential(let credential):
                return try answer(to: challenges.items[index], by: credential, isOwn: reply.isOwn, challenge, request)
            }
        }
        return try answer(question, action)
    }

    private func challenge(
        _ question: Question, _ index: Int, _ machine: ChallengeMachine
    ) -> HTTPSession.AuthenticationChallenge {
        let proposed = machine.mayUsePassword ? question.login?.password : nil
        return HTTPSession.AuthenticationChallenge(
            .protectionSpace(question.challenges.items[index].space), origin: question.request.head.origin,
            previousFailures: machine.refusals, response: question.response,
            proposed: proposed.map { .password(user: $0.user, password: $0.password) })
    }

    /// What no hook answers.
    private func answer(_ question: Question, _ action: ChallengeMachine.Action) throws -> Given? {
        switch action {
        case .deliver, .ask: return nil
        case .fail:
            throw failure(
                .authenticationFailed,
                "\(ChallengeMachine.mostHookAnswers) answers of the challenge hook were refused, which is the limit",
                question.response)
        case .answerByPassword:
            guard let login = question.login else { return nil }
            let options = question.challenges.items.flatMap(\.options)
            return try answer(options, login.password, login.keeper, question.request, question.response).map {
                Given(sent: $0, keeper: login.keeper, by: .password)
            }
        }
    }

    /// By what a hook said.
    private func answer(
        to item: ResponseChallenges.Item, by credential: HTTPSession.AuthenticationChallenge.Credential, isOwn: Bool,
        _ challenge: HTTPSession.AuthenticationChallenge, _ request: TransportRequest
    ) throws -> Given {
        let keeper = isOwn ? ownKeeper : stage.book.shared
        switch (credential, item.space.method) {
        case (.password(let user, let password), .digest), (.password(let user, let password), .basic):
            let password = HTTPSession.Password(user: user, password: password)
            guard let sent = try answer(item.options, password, keeper, request, challenge.response) else { break }
            return Given(sent: sent, keeper: keeper, by: .hook)
        case (.bearer(let token), .bearer):
            guard let value = try HTTP.Credentials.bearer(token: token).authorization(.unusableCredential) else {
                break
            }
            return Given(sent: .bearer(value: value), keeper: keeper, by: .hook)
        default: break
        }
        throw ChallengeRules.unusable(credential, challenge)
    }

    /// Nil if there is nothing to answer. A weaker challenge may do where a stronger one does not.
    private func answer(
        _ options: [ChallengeChoice.Option], _ password: HTTPSession.Password, _ keeper: PasswordKeeper,
        _ request: TransportRequest, _ response: ResponseHead?
    ) throws -> PasswordKeeper.Sent? {
        var problem: NetworkError?
        for option in options {
            switch keeper.answer(option, by: password, request.head, request.body, stage.builder.basic) {
            case .send(let sent): return sent
            case .fail(let code, let reason): problem = failure(code, reason, response)
            }
        }
        if let problem { throw problem }
        return nil
    }

    private func failure(_ code: NetworkError.Code, _ reason: String, _ response: ResponseHead?) -> NetworkError {
        NetworkError(code, reason, requestMayHaveBeenSent: true, response: response)
    }

    private func cancellation(_ response: ResponseHead) -> NetworkError {
        failure(.cancelled, "the challenge hook cancelled the request", response)
    }
}
