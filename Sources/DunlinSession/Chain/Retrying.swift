internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport

/// Attempts, by the rules of `RetryMachine`: as many as the call's policy allows. Each begins with the original
/// request, whatever redirects made of it, and ends when the response has been taken.
extension Sending {
    mutating func retrying<Value>(_ mayTakeAgain: Bool, _ take: Take<Value>) async throws -> Value {
        var attempts = Attempts(
            of: request, by: retryPolicy, chain.settings.retries, after: callHistory)
        while true {
            var isTaken = false
            do {
                if attempts.hasFailed { try begin(.retry) }
                let value: Value? = try await taken(mayTakeAgain, isRetried: true) { response, sending in
                    guard let history = try await attempts.settled(response, &sending) else { return nil }
                    let attempt = sending.callHistory
                    sending.callHistory = history
                    isTaken = true
                    do {
                        return try await take(response, &sending)
                    } catch  where mayTakeAgain {
                        (sending.callHistory, isTaken) = (attempt, false)
                        throw error
                    }
                }
                if let value { return value }
            } catch {
                if isTaken { throw error }
                try attempts.failed(error, &self)
            }
            try await attempts.rest(&self)
        }
    }
}

/// The attempts of one call, from its first to its last.
private struct Attempts {
    private let policy: HTTPSession.RetryPolicy
    private let settings: RetrySettings
    private let original: TransportRequest
    /// The history before the first attempt.
    private let beginning: CallHistory?
    private var machine: RetryMachine
    /// The hops of all attempts before the last.
    private var hops: [HTTP.Hop] = []
    private var retried: [NetworkError.RetriedAttempt] = []

    private enum Decision {
        case retry(after: Int64)
        case settle(RetryHistory?)
    }

    init(
        of request: TransportRequest, by policy: HTTPSession.RetryPolicy, _ settings: RetrySettings,
        after history: CallHistory?
    ) {
        (original, self.policy, self.settings, beginning) = (request, policy, settings, history)
        machine = RetryMachine(policy, hasKey: request.head.fields.contains("idempotency-key"))
    }

    /// The history of a response that is delivered; nil if there is to be another attempt, and the response has been
    /// discarded.
    mutating func settled(_ response: TransportResponse, _ sending: inout Sending) async throws -> CallHistory?? {
        let attempt = sending.callHistory
        switch judge(outcome(of: response, sending), sending) {
        case .settle(let history):
            if response.head.status.isSuccess, sending.served == nil {
                settings.succeeded(original.head.origin.description, policy, at: sending.loop.now())
            }
            return .some(history.map { attempt.after($0, hops) } ?? attempt)
        case .retry(let wait):
            try await sending.discard(response)
            let hop = sending.callHistory?.hops.last
            again(.status(response.head.status), hop, after: attempt, wait: wait, &sending)
            return nil
        }
    }

    /// Throws the failure, unless there is to be another attempt.
    mutating func failed(_ error: any Error, _ sending: inout Sending) throws {
        let attempt = sending.callHistory
        switch judge(outcome(of: error, sending), sending) {
        case .settle(let history):
            if let history { sending.callHistory = attempt.after(history, hops) }
            throw noting(history, error)
        case .retry(let wait):
            let failure = error as? NetworkError
            let cause = NetworkError.RetriedAttempt.Cause.failure(failure?.code ?? .connectionClosed, failure?.phase)
            again(cause, failure?.hop, after: attempt, wait: wait, &sending)
        }
    }

    /// Notes that there is to be another attempt. `hop` is the last of the former one, and `attempt` has those before.
    private mutating func again(
        _ cause: NetworkError.RetriedAttempt.Cause, _ hop: HTTP.Hop?, after attempt: CallHistory?, wait: Int64,
        _ sending: inout Sending
    ) {
        hops += (attempt?.hops ?? []) + [hop].compactMap(\.self)
        retried.append(NetworkError.RetriedAttempt(cause, wait: .nanoseconds(wait), hop: hop))
        sending.callHistory = RetryHistory(retried, nil).map { beginning.after($0, hops) }
    }

    /// Whether this is not the first attempt.
    var hasFailed: Bool { !retried.isEmpty }

    /// Waits until the next attempt may begin.
    mutating func rest(_ sending: inout Sending) async throws {
        sending.tellAgain(.retry)
        sending.retries += 1
        try await pause(sending)
        (sending.request, sending.callHistory) = (original, beginning)
        sending.forgetAttempt()
        sending.isRetry = true
    }
}

// MARK: - What an attempt came to

extension Attempts {
    private func outcome(of response: TransportResponse, _ sending: Sending) -> RetryMachine.Outcome {
        let head = response.head
        let mayHaveWorked = sending.sentRequests.attempt.contains(.notIdempotent)
        let isIdempotent = sending.request.head.method.isIdempotent && !mayHaveWorked
        return .answered(
            head.status, isIdempotent: isIdempotent, mayHaveWorked: mayHaveWorked, retryAfter: Self.retryAfter(head))
    }

    private static func retryAfter(_ head: ResponseHead) -> Int64? {
        head.status.isSuccess ? nil : RetryAfter.wait(head.fields, at: WallClock.seconds)?.clampedNanoseconds
    }

    private func outcome(of error: any Error, _ sending: Sending) -> RetryMachine.Outcome {
        guard sending.cancellation.cause == nil else { return .failed(.other, isSafe: false) }
        let failure = RetryMachine.Failure(error)
        let failed = (error as? NetworkError).map(sending.sentRequests.attempt.explained)
        var retryAfter: Int64?
        if case .status = failure { retryAfter = failed?.beneathRefresh.response.flatMap(Self.retryAfter) }
        return .failed(failure, isSafe: failed?.isSafeToRetry ?? false, retryAfter: retryAfter)
    }

    /// Decides about an outcome.
    private mutating func judge(_ outcome: RetryMachine.Outcome, _ sending: Sending) -> Decision {
        // A random number costs a system call, which a successful call does not need.
        guard machine.isCovered(outcome) else { return .settle(RetryHistory(retried, nil)) }
        let now = sending.loop.now()
        let circumstances = RetryMachine.Circumstances(
            // One that can be sent once may be untaken still: a refusal may come before it was asked for.
            canSendBody: original.body.canBeSent,
            timeLeft: original.deadline.nanoseconds - now.nanoseconds, chance: settings.chance())
        switch machine.ended(outcome, circumstances) {
        case .settle(let refusal): return .settle(RetryHistory(retried, refusal))
        case .retry(let wait, let isAsked):
            // The budget protects servers that cannot say how much load they can take.
            let origin = original.head.origin.description
            guard settings.takeRetry(origin, policy, isAsked: isAsked, at: now) else {
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

extension Attempts {
    /// Waits between two attempts. The call keeps its queue permit meanwhile, but no connection. Throws if it may not
    /// continue.
    private func pause(_ sending: Sending) async throws {
        guard let last = retried.last else { return }
        let (loop, cancellation) = (sending.loop, sending.cancellation)
        let end = loop.now().advanced(by: last.wait.clampedNanoseconds)
        sending.delegate.pause()
        try await tell(last, sending)
        guard await loop.pause(until: end, cancellation: cancellation) else {
            if cancellation.cause == .task || cancellation.cause == nil { throw CancellationError() }
            let error = NetworkError(
                .cancelled, "the request was cancelled while it waited to be tried again",
                requestMayHaveBeenSent: true, isSafeToRetry: original.head.isRepeatable,
                peer: original.head.origin.description)
            throw noting(RetryHistory(retried, nil), error)
        }
        try await sending.pass()
    }

    private func tell(_ retry: NetworkError.RetriedAttempt, _ sending: Sending) async throws {
        guard let observers = sending.observers else { return }
        let snapshot = sending.snapshot
        observers.events.tell(.retrying(snapshot, retry))
        guard observers.hasHook(\.retrying) else { return }
        try await sending.tell(\.retrying) { await $0(snapshot, retry) }
    }
}
