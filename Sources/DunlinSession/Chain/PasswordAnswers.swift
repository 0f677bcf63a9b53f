internal import DunlinSemantics
internal import DunlinTransport

/// The answers to the challenges that a request gets on its way.
struct PasswordAnswers {
    /// An answer, and where it came from.
    struct Answer {
        let sent: PasswordMemory.Sent
        let memory: PasswordMemory
        let by: ChallengeMachine.Answerer
        /// The question to the session's hook that led to this answer.
        var mark: ChallengeQuestions.Mark?
    }

    let stage: PasswordStage
    let request: TransportRequest
    let hooks: ChallengeHooks
    /// Whether Basic may be sent, by the way that the request takes.
    let basic: BasicRule
    /// Remembers what hooks answered for this request alone.
    let ownMemory = PasswordMemory(limit: 8)
    var machine: ChallengeMachine?
    /// The hashes of the request's body.
    private var hashes: [HashFunction: Bytes] = [:]

    init(_ stage: PasswordStage, to request: TransportRequest, _ sending: inout Sending) throws {
        let settings = sending.delegate.settings
        (self.stage, self.request) = (stage, request)
        hooks = ChallengeHooks(
            session: sending.session.isAnswering ? nil : stage.hook,
            request: settings?.options.authenticationHandler)
        let rule = stage.builder.basic.under(settings?.exchangeOptions?.connectionRules)
        // The way is chosen before the request is judged, so that the judged way is the one taken.
        basic = rule.dependsOnWay(request.head) ? rule.under(try sending.choice(for: request.head)) : rule
    }

    /// The answer to send unasked. Nothing remembered is sent for a request with a hook of its own, which may have
    /// another opinion and is asked first.
    mutating func unasked(_ sending: Sending) async throws -> Answer? {
        guard hooks.request == nil, let memory = stage.memory(for: request, of: sending) else { return nil }
        let head = request.head
        try await hash(by: [memory.bodyHashFunction(for: head)].compactMap(\.self), sending)
        guard let sent = memory.unasked(hashed) else { return nil }
        // An answer accepted elsewhere may not go in clear text on this way, for instance through the request's proxy.
        if case .basic = sent, !basic.allowsAnswer(request.head) { return nil }
        return Answer(sent: sent, memory: memory, by: .memory)
    }

    /// Notes that the server did not ask. Throws if its response cannot be trusted.
    func accepted(_ last: Answer, _ response: ResponseHead, _ sending: Sending) throws {
        if let problem = last.memory.accepted(last.sent, response, to: request.head) {
            throw failure(.authenticationFailed, "the response cannot be trusted: \(problem)", response)
        }
        last.mark?.judged()
        if last.memory === stage.memories.shared.memory {
            stage.memories.noteUse()
            sending.chain.sendUnasked()
        }
    }

    /// Hashes a long body ahead, off the loop and within the call's limits.
    mutating func hash(by functions: @autoclosure () -> [HashFunction], _ sending: Sending) async throws {
        var request = hashed
        defer { hashes = request.hashes }
        try await request.hash(by: functions()) { try await sending.withinLimits($0) }
    }

    var hashed: HashedRequest { HashedRequest(request.head, request.body, hashes) }
}
