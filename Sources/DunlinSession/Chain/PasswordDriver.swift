internal import DunlinSemantics
internal import DunlinTransport

/// What `PasswordStage` does for one call.
final class PasswordDriver: StageDriver {
    /// An answer, and who made it.
    struct Given {
        let sent: PasswordKeeper.Sent
        let keeper: PasswordKeeper
        let by: ChallengeMachine.Answerer
        /// The question to the session's hook that brought it.
        var mark: ChallengeQuestions.Mark?
    }

    let stage: PasswordStage
    let hooks: ChallengeHooks
    /// What hooks answered for this request alone is remembered here.
    lazy var ownKeeper = PasswordKeeper(limit: 8)
    /// What the hop under way went with, or the one before it.
    private var last: Given?
    /// The answer to a challenge, for as long as the server has said nothing to it: it is sent again with the hop.
    private var next: Given?
    private var isNextSent = false
    var machine: ChallengeMachine?

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
        return sent.map { Given(sent: $0, keeper: next.keeper, by: next.by, mark: next.mark) }
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
            last?.mark?.judged()
            if last?.keeper === stage.book.shared.keeper {
                stage.book.noteUse()
                call.chain.sendUnasked()
            }
            return .pass(response)
        }
        guard let answer = try await answer(to: response.head, after: last, call) else { return .pass(response) }
        guard request.body.canBeSent else {
            throw cannotBeSentAgain(response.head)
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
