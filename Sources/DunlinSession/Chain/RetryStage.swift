internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport

/// Tries a request as often as its policy says, by the rules of `RetryMachine`. Each attempt begins with the request as
/// it was asked for, whatever redirects made of it.
struct RetryStage: Stage {
    let settings: RetrySettings

    func seesAll(of call: LiveCall) -> Bool { mayRetry(call) }

    func driver(for call: LiveCall) -> (any StageDriver)? {
        guard mayRetry(call) else { return nil }
        return RetryDriver(call, call.delegate.settings?.options.retry ?? settings.policy, settings)
    }

    private func mayRetry(_ call: LiveCall) -> Bool { call.mayRetry && call.chain.retries(call.delegate.settings) }
}

/// A request, from its first attempt to its last.
private final class RetryDriver: StageDriver {
    private let policy: HTTPSession.RetryPolicy
    private let settings: RetrySettings
    private let original: TransportRequest
    /// What came before the first attempt.
    private let beginning: Trail?
    private var machine: RetryMachine
    /// Of every hop of the tries that others followed.
    private var attempts: [Attempt] = []
    private var retried: [RetriedAttempt] = []
    /// What the response that is being delivered has come by, this attempt alone.
    private var delivered: Trail?
    private var isDelivering = false

    private enum Verdict {
        case retry(after: Int64)
        case settle(Tries?)
    }

    init(_ call: LiveCall, _ policy: HTTPSession.RetryPolicy, _ settings: RetrySettings) {
        self.policy = policy
        self.settings = settings
        original = call.request
        beginning = call.trail
        machine = RetryMachine(policy, hasKey: call.request.head.fields.contains("idempotency-key"))
        settings.requested(original.head.origin.description, policy, at: call.start)
    }

    func received(_ response: TransportResponse, _ call: inout LiveCall) async throws -> StageAction {
        switch judge(outcome(of: response, call), call) {
        case .settle(let tries):
            (isDelivering, delivered) = (true, call.trail)
            if let tries { call.trail = call.trail.after(tries, attempts) }
            return .pass(response)
        case .retry(let wait):
            do {
                note(.status(response.head.status), try await call.letGo(of: response), call, wait: wait)
            } catch {
                return .again(try await failed(error, &call))
            }
            return .again(.startOver)
        }
    }

    func failed(_ error: any Error, _ call: inout LiveCall) async throws -> StageAction.Again {
        switch judge(outcome(of: error, call), isUnsent: error.isUnsent, call) {
        case .settle(let tries):
            if let tries { call.trail = call.trail.after(tries, attempts) }
            throw noting(tries, error)
        case .retry(let wait):
            let failure = error as? NetworkError
            note(.failure(failure?.code ?? .connectionClosed, failure?.phase), failure?.attempt, call, wait: wait)
            return .startOver
        }
    }

    func undelivered(_ error: any Error, _ call: inout LiveCall) async throws -> StageAction.Again {
        if isDelivering { call.trail = delivered }
        return try await failed(error, &call)
    }

    private func note(_ cause: RetriedAttempt.Cause, _ attempt: Attempt?, _ call: LiveCall, wait: Int64) {
        attempts += (call.trail?.attempts ?? []) + [attempt].compactMap(\.self)
        retried.append(RetriedAttempt(cause, wait: .nanoseconds(wait), attempt: attempt))
    }

    func rest(_ call: inout LiveCall) async throws {
        isDelivering = false
        call.trail = Tries(retried, nil).map { beginning.after($0, attempts) }
        try await pause(call)
        (call.request, call.trail) = (original, beginning)
    }
}

// MARK: - What an attempt came to

extension RetryDriver {
    private func outcome(of response: TransportResponse, _ call: LiveCall) -> RetryMachine.Outcome {
        let head = response.head
        let redirects = call.trail?.redirects ?? []
        let isIdempotent = call.request.head.method.isIdempotent && redirects.allSatisfy(\.method.isIdempotent)
        let asked = head.status.isSuccess ? nil : RetryAfter.seconds(head.fields, at: WallClock.seconds)
        return .answered(
            head.status, isIdempotent: isIdempotent, isRedirected: !redirects.isEmpty,
            retryAfter: asked.map { Duration.seconds($0).clampedNanoseconds })
    }

    private func outcome(of error: any Error, _ call: LiveCall) -> RetryMachine.Outcome {
        guard call.interrupt.cause == nil else { return .failed(.other, isSafe: false) }
        return .failed(RetryMachine.Failure(error), isSafe: (error as? NetworkError)?.isSafeToRetry ?? false)
    }

    /// `isUnsent`: not even the body's first byte was asked for.
    private func judge(_ outcome: RetryMachine.Outcome, isUnsent: Bool = false, _ call: LiveCall) -> Verdict {
        // Chance costs a system call, which a request that went well has no use for.
        guard machine.isCovered(outcome) else { return .settle(Tries(retried, nil)) }
        let now = call.loop.now()
        let circumstances = RetryMachine.Circumstances(
            canSendBody: original.body.isReplayable || isUnsent && original.body.canBeSent,
            timeLeft: original.deadline.nanoseconds - now.nanoseconds, chance: settings.chance())
        switch machine.ended(outcome, circumstances) {
        case .settle(let refusal): return .settle(Tries(retried, refusal))
        case .retry(let wait, let isAsked):
            // The budget is there for servers that cannot say how much they can take.
            guard isAsked || settings.takeRetry(original.head.origin.description, policy, at: now) else {
                return .settle(Tries(retried, .budgetSpent))
            }
            return .retry(after: wait)
        }
    }

    private func noting(_ tries: Tries?, _ error: any Error) -> any Error {
        guard let tries, var failure = error as? NetworkError else { return error }
        failure.note(tries)
        return failure
    }
}

// MARK: - Waiting

extension RetryDriver {
    /// Holds no connection meanwhile, but its turn in a queue. Throws if the request may not go on.
    private func pause(_ call: LiveCall) async throws {
        guard let last = retried.last else { return }
        let (loop, interrupt) = (call.loop, call.interrupt)
        let end = loop.now().advanced(by: last.wait.clampedNanoseconds)
        await call.delegate.pause()
        try await tell(last, call)
        guard await loop.pause(until: end, interrupt: interrupt) else {
            if interrupt.cause != .handle { throw CancellationError() }
            let error = NetworkError(
                .cancelled, "the request was cancelled while it waited to be tried again",
                requestMayHaveBeenSent: true, isSafeToRetry: original.head.method.isIdempotent,
                peer: original.head.origin.description)
            throw noting(Tries(retried, nil), error)
        }
        try await call.pass()
    }

    private func tell(_ retry: RetriedAttempt, _ call: LiveCall) async throws {
        guard let audience = call.audience else { return }
        let snapshot = call.snapshot
        audience.events.tell(.retrying(snapshot, retry))
        guard audience.hasHook(\.retrying) else { return }
        try await call.tell(\.retrying) { await $0(snapshot, retry) }
    }
}

extension Error {
    /// A body that can be sent once may be about to begin as long as anything of its request was sent.
    fileprivate var isUnsent: Bool { (self as? NetworkError).map { !$0.requestMayHaveBeenSent } ?? false }
}
