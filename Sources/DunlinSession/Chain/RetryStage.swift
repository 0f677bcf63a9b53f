internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport

/// Makes as many attempts as the call's policy allows, by the rules of `RetryMachine`. Each attempt begins with the
/// original request, whatever redirects made of it.
struct RetryStage: Stage {
    let settings: RetrySettings

    func seesAll(of call: LiveCall) -> Bool { mayRetry(call) }

    func driver(for call: LiveCall) -> (any StageDriver)? {
        mayRetry(call) ? RetryDriver(call, call.retryPolicy, settings) : nil
    }

    private func mayRetry(_ call: LiveCall) -> Bool { call.mayRetry && call.chain.retries(call.delegate.settings) }
}

/// The driver of one call, from its first attempt to its last.
private final class RetryDriver: StageDriver {
    private let policy: HTTPSession.RetryPolicy
    private let settings: RetrySettings
    private let original: TransportRequest
    /// The history before the first attempt.
    private let beginning: CallHistory?
    private var machine: RetryMachine
    /// The hops of all attempts before the last.
    private var hops: [HTTP.Hop] = []
    private var retried: [NetworkError.RetriedAttempt] = []
    /// The history of the response being delivered, for this attempt only.
    private var delivered: CallHistory?
    private var isDelivering = false

    private enum Decision {
        case retry(after: Int64)
        case settle(RetryHistory?)
    }

    init(_ call: LiveCall, _ policy: HTTPSession.RetryPolicy, _ settings: RetrySettings) {
        self.policy = policy
        self.settings = settings
        original = call.request
        beginning = call.callHistory
        machine = RetryMachine(policy, hasKey: call.request.head.fields.contains("idempotency-key"))
        settings.requested(original.head.origin.description, policy, at: call.start)
    }

    func received(_ response: TransportResponse, _ call: LiveCall) async throws -> StageAction {
        switch judge(outcome(of: response, call), call) {
        case .settle(let history):
            (isDelivering, delivered) = (true, call.callHistory)
            return .pass(response, notes(history, call.callHistory))
        case .retry(let wait):
            do {
                let hop = try await call.discard(response)
                return again(.status(response.head.status), hop, after: call.callHistory, wait: wait)
            } catch {
                return failed(error, call, call.callHistory)
            }
        }
    }

    func failed(_ error: any Error, _ call: LiveCall) async throws -> StageAction {
        failed(error, call, call.callHistory)
    }

    func takeBack() -> StageNotes {
        guard isDelivering else { return StageNotes() }
        isDelivering = false
        return StageNotes(callHistory: .some(delivered))
    }

    func undelivered(_ error: any Error, _ call: LiveCall) async throws -> StageAction {
        failed(error, call, call.callHistory)
    }

    /// The action after a failure; `attempt` is the history of this attempt only.
    private func failed(_ error: any Error, _ call: LiveCall, _ attempt: CallHistory?) -> StageAction {
        switch judge(outcome(of: error, call), call) {
        case .settle(let history): return .fail(noting(history, error), notes(history, attempt))
        case .retry(let wait):
            let failure = error as? NetworkError
            let cause = NetworkError.RetriedAttempt.Cause.failure(failure?.code ?? .connectionClosed, failure?.phase)
            return again(cause, failure?.hop, after: attempt, wait: wait)
        }
    }

    /// The notes of an attempt that is the last.
    private func notes(_ history: RetryHistory?, _ attempt: CallHistory?) -> StageNotes {
        guard let history else { return StageNotes(callHistory: .some(attempt)) }
        return StageNotes(callHistory: attempt.after(history, hops))
    }

    private func again(
        _ cause: NetworkError.RetriedAttempt.Cause, _ hop: HTTP.Hop?, after attempt: CallHistory?, wait: Int64
    ) -> StageAction {
        hops += (attempt?.hops ?? []) + [hop].compactMap(\.self)
        retried.append(NetworkError.RetriedAttempt(cause, wait: .nanoseconds(wait), hop: hop))
        let waiting = RetryHistory(retried, nil).map { beginning.after($0, hops) }
        return .again(.startOver(.retry), StageNotes(callHistory: .some(waiting)))
    }

    func rest(_ call: LiveCall) async throws -> StageNotes {
        try await pause(call)
        return StageNotes(request: original, callHistory: .some(beginning))
    }
}

// MARK: - What an attempt came to

extension RetryDriver {
    private func outcome(of response: TransportResponse, _ call: LiveCall) -> RetryMachine.Outcome {
        let head = response.head
        let mayHaveWorked = call.sentRequests.attempt.contains(.notIdempotent)
        let isIdempotent = call.request.head.method.isIdempotent && !mayHaveWorked
        return .answered(
            head.status, isIdempotent: isIdempotent, mayHaveWorked: mayHaveWorked, retryAfter: Self.asked(head))
    }

    private static func asked(_ head: ResponseHead) -> Int64? {
        let asked = head.status.isSuccess ? nil : RetryAfter.seconds(head.fields, at: WallClock.seconds)
        return asked.map { Duration.seconds($0).clampedNanoseconds }
    }

    private func outcome(of error: any Error, _ call: LiveCall) -> RetryMachine.Outcome {
        guard call.cancellation.cause == nil else { return .failed(.other, isSafe: false) }
        let failure = RetryMachine.Failure(error)
        let told = (error as? NetworkError).map(call.sentRequests.attempt.explained)
        var asked: Int64?
        if case .status = failure { asked = told?.beneathRefresh.response.flatMap(Self.asked) }
        return .failed(failure, isSafe: told?.isSafeToRetry ?? false, retryAfter: asked)
    }

    /// Decides about an outcome.
    private func judge(_ outcome: RetryMachine.Outcome, _ call: LiveCall) -> Decision {
        // A random number costs a system call, which a successful call does not need.
        guard machine.isCovered(outcome) else { return .settle(RetryHistory(retried, nil)) }
        let now = call.loop.now()
        let circumstances = RetryMachine.Circumstances(
            // One that can be sent once may be untaken still: a refusal may come before it was asked for.
            canSendBody: original.body.canBeSent,
            timeLeft: original.deadline.nanoseconds - now.nanoseconds, chance: settings.chance())
        switch machine.ended(outcome, circumstances) {
        case .settle(let refusal): return .settle(RetryHistory(retried, refusal))
        case .retry(let wait, let isAsked):
            // The budget protects servers that cannot say how much load they can take.
            guard isAsked || settings.takeRetry(original.head.origin.description, policy, at: now) else {
                return .settle(RetryHistory(retried, .budgetSpent))
            }
            return .retry(after: wait)
        }
    }

    private func noting(_ history: RetryHistory?, _ error: any Error) -> any Error {
        guard let history, var failure = error as? NetworkError else { return error }
        failure.note(history)
        return failure
    }
}

// MARK: - Waiting

extension RetryDriver {
    /// Waits between two attempts. The call keeps its queue permit meanwhile, but no connection. Throws if it may not
    /// continue.
    private func pause(_ call: LiveCall) async throws {
        guard let last = retried.last else { return }
        let (loop, cancellation) = (call.loop, call.cancellation)
        let end = loop.now().advanced(by: last.wait.clampedNanoseconds)
        await call.delegate.pause()
        try await tell(last, call)
        guard await loop.pause(until: end, cancellation: cancellation) else {
            if cancellation.cause == .task || cancellation.cause == nil { throw CancellationError() }
            let error = NetworkError(
                .cancelled, "the request was cancelled while it waited to be tried again",
                requestMayHaveBeenSent: true, isSafeToRetry: original.head.isRepeatable,
                peer: original.head.origin.description)
            throw noting(RetryHistory(retried, nil), error)
        }
        try await call.pass()
    }

    private func tell(_ retry: NetworkError.RetriedAttempt, _ call: LiveCall) async throws {
        guard let observers = call.observers else { return }
        let snapshot = call.snapshot
        observers.events.tell(.retrying(snapshot, retry))
        guard observers.hasHook(\.retrying) else { return }
        try await call.tell(\.retrying) { await $0(snapshot, retry) }
    }
}
