internal import DunlinReactor
internal import DunlinSemantics

/// The attempts of what is asked for again whenever it ends or breaks: a stream of events, or a WebSocket. Each is a
/// call of its own, with all stages, hooks and limits, and waits in the session's list before it is sent.
/// `ReconnectionMachine` decides whether another follows.
final class Reconnections {
    /// What follows the end of an attempt.
    enum Following {
        case attempt
        case nothing
        /// Nothing, although more was to come.
        case tooLittle(canSendBody: Bool)
    }

    private let session: HTTPSession
    /// What it is, in an error.
    private let name: String
    private let policy: HTTPSession.RetryPolicy
    private let tags: Set<String>
    /// The longest time for all attempts and waits together; nil without such a limit.
    private let total: Duration?
    private let makeMachine: (HTTPSession.Call) -> ReconnectionMachine
    /// What the next attempt waits for; nil before the first.
    var next: HTTPSession.Reconnection?
    /// The rules; nil before the first request is made.
    var machine: ReconnectionMachine?
    /// In the registry, from the first request to the end.
    private var listed: ListedStream?
    /// The last call.
    private(set) var call: HTTPSession.Call?
    /// Whether all that was sent for it, whoever changed it, may be sent again.
    private var isRepeatable = true
    /// The end of all attempts, by `total`.
    private var deadline: InheritedDeadline?
    /// The failed attempts in a row; the newest of very many.
    private var failures: [NetworkError.RetriedAttempt] = []

    init(
        _ name: String, of session: HTTPSession, _ policy: HTTPSession.RetryPolicy, tags: Set<String>,
        within total: Duration?, _ makeMachine: @escaping (HTTPSession.Call) -> ReconnectionMachine
    ) {
        (self.name, self.session, self.policy, self.tags, self.total) = (name, session, policy, tags, total)
        self.makeMachine = makeMachine
    }

    deinit { listed?.end() }

    /// Takes the whole off the registry's list.
    func end() {
        listed?.end()
        listed = nil
    }

    /// Throws if it was cancelled, whichever of its attempts was found, or if its task was. It is listed from now on.
    func check() async throws {
        if listed == nil {
            let stream = ListedStream(tags: tags)
            await session.tasks.list(stream)
            listed = stream
        }
        if Task.isCancelled { throw CancellationError() }
        if listed?.cancellation.cause != nil { throw cancelled }
    }

    private var cancelled: any Error {
        let error = NetworkError(.cancelled, "\(name) was cancelled", requestMayHaveBeenSent: true)
        return call?.named(error) ?? error
    }

    /// Whether the session's jar has become another user's.
    var hasOthersJar: Bool { call.map { $0.jarNumber != session.core.configuration.cookies?.number } ?? false }

    /// Makes an attempt. Nil if it failed and another follows.
    func attempt<Opened>(
        _ makeCall: () throws -> HTTPSession.Call,
        _ open: (HTTPSession.Call, TaskDelegate, HTTPSession.Reconnection?) async throws -> Opened
    ) async throws -> Opened? {
        let call = try begin(makeCall())
        let reconnection = next
        let delegate = TaskDelegate(call, of: listed)
        listed?.begin(delegate)
        do {
            let opened = try await withinDeadline { try await open(call, delegate, reconnection) }
            noteSent(delegate.isRepeatable)
            retries(of: call).succeeded(call.head.origin.description, policy, at: call.loop.now())
            return opened
        } catch {
            noteSent(delegate.isRepeatable)
            _ = try failed(error)
            return nil
        }
    }

    private func begin(_ call: HTTPSession.Call) throws -> HTTPSession.Call {
        // It would go on with what may be another user's session by now.
        if let former = self.call, former.era.closings != call.era.closings { throw cancelled }
        if machine == nil {
            // The call has no policy of its own that would be looked at.
            if let problem = policy.problem {
                throw call.named(NetworkError(.invalidRequest, "the retry policy's \(problem)"))
            }
            machine = makeMachine(call)
            deadline = total.map { total in
                InheritedDeadline(
                    time: call.loop.now().advanced(by: max(0, total.clampedNanoseconds)), loop: call.loop,
                    length: total)
            }
        }
        self.call = call
        return call
    }

    private func noteSent(_ isRepeatable: Bool) {
        self.isRepeatable = isRepeatable && call?.head.isRepeatable == true
        if !isRepeatable { machine?.sentUnrepeatable() }
    }

    /// Has the earlier of the own deadline and an inherited one count for a request.
    private func withinDeadline<Value>(_ work: () async throws -> Value) async throws -> Value {
        guard let deadline, deadline.time < InheritedDeadline.present?.time ?? .never else { return try await work() }
        return try await InheritedDeadline.$present.withValue(deadline) { try await work() }
    }
}

// MARK: - What follows

extension Reconnections {
    /// Says what follows an attempt that failed, or whose stream or connection broke.
    func failed(
        _ error: any Error, _ notes: ReconnectionMachine.Notes = ReconnectionMachine.Notes()
    ) throws -> Following {
        try ended(.broken(outcome(of: error)), notes, error)
    }

    /// Says what follows the end of an attempt. Throws `error`, with the failed attempts before it, if that is the end.
    func ended(
        _ end: ReconnectionMachine.End, _ notes: ReconnectionMachine.Notes, _ error: any Error
    ) throws -> Following {
        guard let call else { return .nothing }
        let now = call.loop.now()
        let circumstances = RetryMachine.Circumstances(
            canSendBody: call.body.canBeSent, timeLeft: (deadline?.time ?? .never).nanoseconds - now.nanoseconds,
            chance: retries(of: call).chance())
        let action = machine?.ended(end, notes, circumstances)
        if machine?.hasSucceeded == true { failures = [] }
        switch action {
        case .finish, nil: return .nothing
        case .fail(let refusal): throw last(error, refusal)
        case .cutShort: return .tooLittle(canSendBody: circumstances.canSendBody)
        case .reconnect(let wait, let isFree):
            // Free, and yet no success: the server has said when to come back.
            let isAsked = isFree && machine?.hasSucceeded == false
            let origin = call.head.origin.description
            if !isFree || isAsked, !retries(of: call).takeRetry(origin, policy, isAsked: isAsked, at: now) {
                throw last(error, .budgetSpent)
            }
            reconnect(after: .nanoseconds(wait), end == .complete ? nil : Self.cause(error), isFree: isFree)
            return .attempt
        }
    }

    private func reconnect(after wait: Duration, _ cause: NetworkError.RetriedAttempt.Cause?, isFree: Bool) {
        guard let machine else { return }
        if !isFree { failures.append(NetworkError.RetriedAttempt(cause ?? Self.emptyCause, wait: wait)) }
        if failures.count > Self.keptFailures { failures.removeFirst() }
        next = HTTPSession.Reconnection(
            attempt: machine.attempt, wait: wait, lastEventID: machine.lastEventID.isEmpty ? nil : machine.lastEventID,
            cause: cause, beginsAnew: machine.beginsAnew)
    }

    private func outcome(of error: any Error) -> RetryMachine.Outcome {
        guard let error = error as? NetworkError, !error.isLastWord else { return .failed(.other, isSafe: false) }
        guard [.unacceptableStatus, .upgradeRefused].contains(error.code), let head = error.response else {
            // A breaker and a limit let it pass later.
            let passes = [.circuitOpen, .rateLimited].contains(error.code)
            return .failed(passes ? .connection : RetryMachine.Failure(error), isSafe: error.isSafeToRetry)
        }
        let retryAfter = RetryAfter.wait(head.fields, at: WallClock.seconds)
        return .answered(
            head.status, isIdempotent: isRepeatable, mayHaveWorked: !isRepeatable,
            retryAfter: retryAfter?.clampedNanoseconds)
    }

    /// The error that is the end, with the failed attempts before it.
    private func last(_ error: any Error, _ refusal: NetworkError.RetryRefusal?) -> any Error {
        guard var error = error as? NetworkError else { return error }
        error.note(RetryHistory(failures, refusal))
        return error
    }

    private func retries(of call: HTTPSession.Call) -> RetrySettings { call.era.chain.settings.retries }

    private static func cause(_ error: any Error) -> NetworkError.RetriedAttempt.Cause {
        guard let error = error as? NetworkError else { return emptyCause }
        if [.unacceptableStatus, .upgradeRefused].contains(error.code), let head = error.response {
            return .status(head.status)
        }
        return .failure(error.code, error.phase)
    }

    private static let emptyCause = NetworkError.RetriedAttempt.Cause.failure(.connectionClosed, .receive)
    private static let keptFailures = 100
}
