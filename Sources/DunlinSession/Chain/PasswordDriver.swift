internal import DunlinSemantics
internal import DunlinTransport

/// The work of `PasswordStage` for one call.
final class PasswordDriver: StageDriver {
    /// An answer, and where it came from.
    struct Given {
        let sent: PasswordMemory.Sent
        let memory: PasswordMemory
        let by: ChallengeMachine.Answerer
        /// The question to the session's hook that led to this answer.
        var mark: ChallengeQuestions.Mark?
    }

    let stage: PasswordStage
    let hooks: ChallengeHooks
    /// Whether Basic may be sent, by the way that the call's exchanges take.
    private(set) var basic: BasicRule
    /// Remembers what hooks answered for this request alone.
    lazy var ownMemory = PasswordMemory(limit: 8)
    /// The answer that the current or previous hop carried.
    private var last: Given?
    /// The answer to a challenge while the server has not responded to it: it is sent again with the hop.
    private var next: Given?
    private var isNextSent = false
    var machine: ChallengeMachine?
    /// The hashes of the request's body.
    private var hashes: [HashFunction: Bytes] = [:]

    init(_ stage: PasswordStage, _ hooks: ChallengeHooks, _ basic: BasicRule) {
        self.stage = stage
        self.hooks = hooks
        self.basic = basic
    }

    /// Whether the stage applies: a request with its own `Authorization` is sent with that.
    private func covers(_ request: TransportRequest) -> Bool { !request.head.fields.contains("authorization") }

    /// Whether the request's way is chosen before the request is judged, so that the judged way is the one taken.
    func judgesWay(of request: TransportRequest) -> Bool { covers(request) && basic.dependsOnWay(request.head) }

    func sending(_ request: TransportRequest, _ call: LiveCall) async throws -> TransportRequest {
        last = nil
        guard covers(request) else { return request }
        _ = try choose(request, call)
        last = try await given(request, call)
        guard let sent = last?.sent else { return request }
        return request.with { $0.head.fields.authorize(sent.value) }
    }

    /// Chooses the way of a request to be judged; nil if nothing depends on it.
    private func choose(_ request: TransportRequest, _ call: LiveCall) throws -> ChosenTerms? {
        guard basic.dependsOnWay(request.head) else { return nil }
        let chosen = try call.asking.choice(for: request.head)
        basic = basic.under(chosen)
        return chosen
    }

    /// The answer to send unasked. A Digest answer is valid for one sending. Nothing remembered is sent for a request
    /// with a hook of its own, which may have another opinion and is asked first.
    private func given(_ request: TransportRequest, _ call: LiveCall) async throws -> Given? {
        guard let next else {
            guard hooks.request == nil, let memory = stage.memory(for: request, of: call) else { return nil }
            try await hash(request, by: [memory.bodyHashFunction(for: request.head)].compactMap(\.self), call)
            guard let sent = memory.unasked(hashed(request)), mayGo(sent, request, call) else { return nil }
            return Given(sent: sent, memory: memory, by: .memory)
        }
        defer { isNextSent = true }
        if !isNextSent { return next }
        try await hash(request, by: [next.sent.bodyHashFunction].compactMap(\.self), call)
        let sent = next.memory.repeated(next.sent, hashed(request))
        return sent.map { Given(sent: $0, memory: next.memory, by: next.by, mark: next.mark) }
    }

    /// Hashes a long body ahead, off the loop and within the call's limits.
    func hash(
        _ request: TransportRequest, by functions: @autoclosure () -> [HashFunction], _ call: LiveCall
    ) async throws {
        var asked = hashed(request)
        defer { hashes = asked.hashes }
        try await asked.hash(by: functions()) { try await call.withinLimits($0) }
    }

    func hashed(_ request: TransportRequest) -> HashedRequest { HashedRequest(request.head, request.body, hashes) }

    /// Whether a remembered answer may be sent on this way: one accepted elsewhere may not go in clear text, for
    /// instance through this request's proxy.
    private func mayGo(_ sent: PasswordMemory.Sent, _ request: TransportRequest, _ call: LiveCall) -> Bool {
        guard case .basic = sent else { return true }
        return basic.allowsAnswer(request.head)
    }

    func received(_ response: TransportResponse, _ call: LiveCall) async throws -> StageAction {
        let request = call.request
        guard covers(request) else { return .pass(response) }
        let last = last
        (self.last, next) = (nil, nil)
        guard response.head.status == .unauthorized else {
            if let last, let problem = last.memory.accepted(last.sent, response.head, to: request.head) {
                throw failure(.authenticationFailed, "the response cannot be trusted: \(problem)", response.head)
            }
            last?.mark?.judged()
            if last?.memory === stage.memories.shared.memory {
                stage.memories.noteUse()
                call.chain.sendUnasked()
            }
            return .pass(response)
        }
        let chosen = try choose(request, call)
        guard let answer = try await answer(to: response.head, after: last, call) else {
            return .pass(response, StageNotes(chosen: chosen))
        }
        guard request.body.canBeSent else {
            throw cannotBeSentAgain(response.head)
        }
        (next, isNextSent) = (answer, false)
        let hop = try await call.discard(response)
        return .again(
            .send(.password), StageNotes(callHistory: call.callHistory.adding(hop), chosen: chosen))
    }

    func movedOn() {
        (last, next, machine, hashes) = (nil, nil, nil, [:])
    }

    func startOver() { movedOn() }
}
