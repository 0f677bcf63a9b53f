internal import DunlinReactor
internal import DunlinTransport
internal import Synchronization

/// A credential and its number.
struct CredentialGrant: Sendable {
    let credential: KnownCredential
    let number: UInt64
}

/// Supplies requests with the credential of a session's authenticator, and refreshes it by the rules of
/// `RefreshMachine`.
final class RefreshDriver: Sendable {
    private typealias Waiter = ValueWaiter<Result<CredentialGrant, any Error>>
    private typealias Machine = RefreshMachine<KnownCredential, Waiter>

    /// A refresh whose code runs, and the waiters for its end.
    private struct Work {
        let cancellation: Cancellation
        var endWaiters: [ValueWaiter<Void>] = []
    }

    private struct State {
        var machine: Machine
        var works: [UInt64: Work] = [:]
    }

    private let method: any CredentialMethod
    private let chance: @Sendable () -> UInt64
    private let state: Mutex<State>

    init(_ method: any CredentialMethod, at now: HTTP.Instant, chance: @escaping @Sendable () -> UInt64) {
        self.method = method
        self.chance = chance
        let first = method.initialCredential
        state = Mutex(State(machine: Machine(first, lifetime: first?.lifetime, chance: chance(), at: now)))
    }

    func isRefused(by response: ResponseHead) -> Bool { method.isRefused(by: response) }

    /// What to do with a request that was sent with grant `number` and refused.
    func refused(_ number: UInt64, at now: HTTP.Instant) -> CredentialRefusal {
        state.withLock { $0.machine.refused(number, at: now) }
    }

    func accepted(_ number: UInt64) { state.withLock { $0.machine.accepted(number) } }

    /// The credential for a request now. Waits for a refresh if necessary, within the call's limits.
    func grant(for sending: Sending) async throws -> CredentialGrant {
        let answer = state.withLock {
            $0.machine.ask(
                Waiter(on: sending.loop), mayWait: sending.session.owner.mayBeAwaitedForAnswers,
                at: sending.loop.now())
        }
        switch answer {
        case .use(let held): return Self.grant(held)
        case .useAndRefresh(let held, let refresh):
            begin(refresh, instead: held.credential, sending)
            return Self.grant(held)
        case .wait(let waiter, let number, let begins):
            if let begins { begin(begins, instead: stale, sending) }
            return try await wait(waiter, number, sending)
        case .mustNotWait:
            throw NetworkError(
                .authenticationFailed,
                "the credential is being refreshed, and a request of code that other requests wait for must not wait",
                isSafeToRetry: true)
        case .fail(let error):
            var failure = Self.failure(error)
            failure.refreshRefusal = .resting
            throw failure
        }
    }

    private static func grant(_ held: Machine.Held) -> CredentialGrant {
        CredentialGrant(credential: held.credential, number: held.number)
    }

    private static func failure(_ cause: any Error) -> NetworkError {
        NetworkError(
            .authenticationFailed, "a new credential could not be fetched", isSafeToRetry: true, underlying: cause)
    }

    private var stale: KnownCredential? { state.withLock { $0.machine.held?.credential } }

    private func wait(_ waiter: Waiter, _ number: UInt64, _ sending: Sending) async throws -> CredentialGrant {
        let result: Result<CredentialGrant, any Error>
        do {
            result = try await sending.value(of: waiter, isUnsent: true, late: "timed out waiting for a new credential")
        } catch {
            state.withLock { $0.machine.left(number) }
            throw error
        }
        do { return try result.get() } catch { throw Self.failure(error) }
    }
}

// MARK: - Refreshing

extension RefreshDriver {
    private typealias Refreshed = Result<KnownCredential, any Error>

    /// Refreshes in tasks that belong to no request: they inherit no deadline and end with their session. Requests do
    /// not wait for code that ignores its cancellation; what it brings later still counts.
    private func begin(_ number: UInt64, instead stale: KnownCredential?, _ sending: Sending) {
        let (core, loop, limit) = (sending.session, sending.loop, method.refreshTimeout)
        // The refresh waits for nothing that the code which needs it may not wait for.
        let around = Enclosure.alive.map(\.withoutName)
        let (ended, cancellation) = (ValueWaiter<Refreshed>(on: loop), Cancellation())
        state.withLock { $0.works[number] = Work(cancellation: cancellation) }
        let work = Task.detached { [self, method] in
            let result: Refreshed
            do {
                let credential = try await Enclosure.enter(
                    .refresh(of: ObjectIdentifier(core)), of: core.owner, around: around
                ) {
                    let client = HTTPSession(core)
                    if let stale { return try await stale.successor(client) }
                    return try await method.fetch(using: client)
                }
                result = .success(credential)
            } catch {
                result = .failure(error)
            }
            if !ended.deliver(result), case .success = result { end(number, result, at: loop.now()) }
            let endWaiters = state.withLock { $0.works.removeValue(forKey: number)?.endWaiters ?? [] }
            for endWaiter in endWaiters { _ = endWaiter.deliver(()) }
        }
        Task.detached { [self] in
            let deadline = loop.now().advanced(by: limit.clampedNanoseconds)
            switch await ended.wait(until: deadline, cancellation: cancellation) {
            case .value(let result): end(number, result, at: loop.now())
            // The refresh is over before its code is cancelled: requests that ask after the code has ended begin
            // another.
            case .timedOut:
                // No limit of `Timeouts` was exceeded, so it names none.
                let error = NetworkError(
                    .timedOut, "the refresh of the credential timed out: `refreshTimeout` is \(limit.readable)",
                    limit: limit)
                end(number, .failure(error), at: loop.now())
                work.cancel()
            case .cancelled:
                end(number, .failure(TaskRegistry.closed), askedNobody: true, at: loop.now())
                work.cancel()
            }
        }
    }

    /// Cancels the refreshes, and waits until their code has ended.
    func endRefreshes(on loop: Reactor, isAwaited: Bool) async {
        let works = state.withLock { state in
            state.works.keys.map { number in
                let endWaiter = ValueWaiter<Void>(on: loop)
                state.works[number]?.endWaiters.append(endWaiter)
                return (state.works[number]?.cancellation, endWaiter)
            }
        }
        for (cancellation, _) in works { cancellation?.cancel(.handle) }
        guard isAwaited else { return }
        let cancellation = Cancellation()
        await withTaskCancellationHandler {
            for (_, endWaiter) in works { _ = await endWaiter.wait(until: .never, cancellation: cancellation) }
        } onCancel: {
            cancellation.cancel(.task)
        }
    }

    private func end(_ number: UInt64, _ result: Refreshed, askedNobody: Bool = false, at now: HTTP.Instant) {
        let outcome: Result<CredentialGrant, any Error>
        let waiters: [Waiter]
        switch result {
        case .success(let credential):
            let chance = chance()
            let grant: CredentialGrant
            (waiters, grant) = state.withLock {
                let (waiters, held) = $0.machine.refreshed(
                    credential, lifetime: credential.lifetime, chance: chance, at: now)
                return (waiters, Self.grant(held))
            }
            outcome = .success(grant)
        case .failure(let error):
            let askedNobody = askedNobody || (error as? NetworkError)?.beneathRefresh.askedNobody == true
            waiters = state.withLock { $0.machine.failed(error, number, askedNobody: askedNobody, at: now) }
            outcome = .failure(error)
        }
        for waiter in waiters { _ = waiter.deliver(outcome) }
    }
}
