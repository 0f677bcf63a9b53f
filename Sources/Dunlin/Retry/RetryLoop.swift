internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport

/// Tries a request as often as its policy says: sends it through the hop loop, and asks its machine what an attempt
/// came to. Each attempt begins with the request as it was asked for, whatever redirects made of it.
///
/// A request without a policy goes to the hop loop by itself.
struct RetryLoop {
    private let hops: HopLoop
    private let delegate: TaskDelegate
    private let loop: Reactor
    private let policy: HTTPSession.RetryPolicy

    init(_ hops: HopLoop, _ delegate: TaskDelegate, on loop: Reactor) {
        self.hops = hops
        self.delegate = delegate
        self.loop = loop
        policy = delegate.settings?.options.retry ?? hops.carrier.settings.retries.policy
    }

    /// A request, from its first attempt to its last.
    private struct Course {
        let original: TransportRequest
        let beginning: Trail?
        var machine: RetryMachine
        /// Of every hop of the tries that others followed.
        var attempts: [Attempt] = []
        var retried: [RetriedAttempt] = []

        init(_ request: TransportRequest, _ trail: Trail?, _ policy: HTTPSession.RetryPolicy) {
            original = request
            beginning = trail
            machine = RetryMachine(policy, hasKey: request.head.fields.contains("idempotency-key"))
        }

        mutating func note(_ cause: RetriedAttempt.Cause, _ attempt: Attempt?, _ trail: Trail?, wait: Int64) {
            attempts += (trail?.attempts ?? []) + [attempt].compactMap(\.self)
            retried.append(RetriedAttempt(cause, wait: .nanoseconds(wait), attempt: attempt))
        }
    }

    private enum Verdict {
        case retry(after: Int64)
        case settle(Tries?)
    }

    /// The head of the response that is to be delivered: nothing is tried again once somebody has that.
    func head(
        _ request: inout TransportRequest, since start: MonotonicTime, _ trail: inout Trail?
    ) async throws -> TransportResponse {
        try await run(&request, since: start, &trail) { response, _, _ in response }
    }

    /// What `take` makes of the response that is to be delivered. What it throws is what the attempt came to.
    func run<Value>(
        _ request: inout TransportRequest, since start: MonotonicTime, _ trail: inout Trail?,
        _ take: (TransportResponse, TransportRequest, Trail?) async throws -> Value
    ) async throws -> Value {
        var start = start
        var course = Course(request, trail, policy)
        settings.requested(request.head.origin.description, policy, at: start)
        while true {
            do {
                let response = try await hops.run(&request, delegate, since: start, on: loop, &trail)
                switch judge(outcome(of: response, to: request, trail), &course) {
                case .settle(let tries):
                    let whole = tries.map { trail.after($0, course.attempts) } ?? trail
                    let value = try await take(response, request, whole)
                    trail = whole
                    return value
                case .retry(let wait):
                    let attempt = try await hops.carrier.letGo(of: response, to: request, delegate, on: loop)
                    course.note(.status(response.head.status), attempt, trail, wait: wait)
                }
            } catch {
                switch judge(outcome(of: error), isUnsent: error.isUnsent, &course) {
                case .settle(let tries):
                    if let tries { trail = trail.after(tries, course.attempts) }
                    throw noting(tries, error)
                case .retry(let wait):
                    let failure = error as? NetworkError
                    course.note(
                        .failure(failure?.code ?? .connectionClosed, failure?.phase), failure?.attempt, trail,
                        wait: wait)
                }
            }
            trail = Tries(course.retried, nil).map { course.beginning.after($0, course.attempts) }
            try await pause(course)
            (request, trail, start) = (course.original, course.beginning, loop.now())
        }
    }
}

// MARK: - What an attempt came to

extension RetryLoop {
    private var settings: RetrySettings { hops.carrier.settings.retries }

    private func outcome(
        of response: TransportResponse, to request: TransportRequest, _ trail: Trail?
    ) -> RetryMachine.Outcome {
        let head = response.head
        let redirects = trail?.redirects ?? []
        let isIdempotent = request.head.method.isIdempotent && redirects.allSatisfy(\.method.isIdempotent)
        let asked = head.status.isSuccess ? nil : RetryAfter.seconds(head.fields, at: WallClock.seconds)
        return .answered(
            head.status, isIdempotent: isIdempotent, isRedirected: !redirects.isEmpty,
            retryAfter: asked.map { Duration.seconds($0).clampedNanoseconds })
    }

    private func outcome(of error: any Error) -> RetryMachine.Outcome {
        guard delegate.interrupt.cause == nil else { return .failed(.other, isSafe: false) }
        return .failed(RetryMachine.Failure(error), isSafe: (error as? NetworkError)?.isSafeToRetry ?? false)
    }

    /// `isUnsent`: not even the body's first byte was asked for.
    private func judge(
        _ outcome: RetryMachine.Outcome, isUnsent: Bool = false, _ course: inout Course
    ) -> Verdict {
        // Chance costs a system call, which a request that went well has no use for.
        guard course.machine.isCovered(outcome) else { return .settle(Tries(course.retried, nil)) }
        let (now, request) = (loop.now(), course.original)
        let circumstances = RetryMachine.Circumstances(
            canSendBody: request.body.isReplayable || isUnsent && request.body.canBeSent,
            timeLeft: request.deadline.nanoseconds - now.nanoseconds,
            chance: settings.chance())
        switch course.machine.ended(outcome, circumstances) {
        case .settle(let refusal): return .settle(Tries(course.retried, refusal))
        case .retry(let wait, let isAsked):
            // The budget is there for servers that cannot say how much they can take.
            guard isAsked || settings.takeRetry(request.head.origin.description, policy, at: now) else {
                return .settle(Tries(course.retried, .budgetSpent))
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

extension RetryLoop {
    /// Holds no connection meanwhile, but its turn in a queue. Throws if the request may not go on.
    private func pause(_ course: Course) async throws {
        guard let last = course.retried.last else { return }
        let end = loop.now().advanced(by: last.wait.clampedNanoseconds)
        _ = delegate.pause()
        try await tell(last, course.original)
        guard await loop.pause(until: end, interrupt: delegate.interrupt) else {
            if delegate.interrupt.cause != .handle { throw CancellationError() }
            let error = NetworkError(
                .cancelled, "the request was cancelled while it waited to be tried again",
                requestMayHaveBeenSent: true, isSafeToRetry: course.original.head.method.isIdempotent,
                peer: course.original.head.origin.description)
            throw noting(Tries(course.retried, nil), error)
        }
        if let watch = delegate.audience?.watch {
            try await delegate.pass(watch, until: course.original.deadline)
        }
    }

    private func tell(_ retry: RetriedAttempt, _ request: TransportRequest) async throws {
        guard let audience = delegate.audience else { return }
        let snapshot = delegate.snapshot(at: loop.now())
        audience.events.tell(.retrying(snapshot, retry))
        guard audience.hasHook(\.retrying) else { return }
        let asking = HookAsking(carrier: hops.carrier, request: request, delegate: delegate, loop: loop)
        try await asking.tell(\.retrying) { await $0(snapshot, retry) }
    }
}

extension Error {
    /// A body that can be sent once may be about to begin as long as anything of its request was sent.
    fileprivate var isUnsent: Bool { (self as? NetworkError).map { !$0.requestMayHaveBeenSent } ?? false }
}
