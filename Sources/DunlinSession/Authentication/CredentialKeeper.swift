internal import DunlinReactor
internal import DunlinTransport
internal import Synchronization

/// Gives requests the credential of a session's authenticator, and has it refreshed, by the rules of `RefreshMachine`.
protocol CredentialSource: Sendable {
    /// What a request is to go with now. Waits for a refresh if it must, within the call's limits.
    func grant(for call: LiveCall) async throws -> CredentialGrant
    func isRefused(by response: ResponseHead) -> Bool
    /// What to do with a request that went with grant `number` and was refused.
    func refused(_ number: UInt64, at now: MonotonicTime) -> CredentialRefusal
    func accepted(_ number: UInt64)
}

/// The fields of a credential, and its number.
struct CredentialGrant: Sendable {
    let fields: Fields
    let number: UInt64
}

final class CredentialKeeper<Source: HTTPSession.Authenticator>: CredentialSource {
    private typealias Waiter = ValueWaiter<Result<CredentialGrant, any Error>>

    private struct Known: Sendable {
        let credential: Source.Credential
        let fields: Fields

        init(_ credential: Source.Credential, of source: Source) {
            self.credential = credential
            var fields = source.fields(for: credential)
            fields.markAll()
            self.fields = fields
        }
    }

    private let source: Source
    private let chance: @Sendable () -> UInt64
    private let machine: Mutex<RefreshMachine<Known, Waiter>>

    init(_ source: Source, at now: MonotonicTime, chance: @escaping @Sendable () -> UInt64) {
        self.source = source
        self.chance = chance
        let first = source.initialCredential
        machine = Mutex(
            RefreshMachine(
                first.map { Known($0, of: source) },
                lifetime: first.flatMap { source.lifetime(of: $0) }?.clampedNanoseconds, chance: chance(), at: now))
    }

    func isRefused(by response: ResponseHead) -> Bool { source.isRefused(by: response) }

    func refused(_ number: UInt64, at now: MonotonicTime) -> CredentialRefusal {
        machine.withLock { $0.refused(number, at: now) }
    }

    func accepted(_ number: UInt64) { machine.withLock { $0.accepted(number) } }

    func grant(for call: LiveCall) async throws -> CredentialGrant {
        let waiter = Waiter(on: call.loop)
        switch machine.withLock({ $0.ask(waiter, at: call.loop.now()) }) {
        case .use(let held): return Self.grant(held)
        case .useAndRefresh(let held, let refresh):
            begin(refresh, instead: held.credential.credential, call)
            return Self.grant(held)
        case .wait(let number, let begins):
            if let begins { begin(begins, instead: stale, call) }
            return try await wait(waiter, number, call)
        case .fail(let error): throw Self.failure(error)
        }
    }

    private static func grant(_ held: RefreshMachine<Known, Waiter>.Held) -> CredentialGrant {
        CredentialGrant(fields: held.credential.fields, number: held.number)
    }

    private static func failure(_ cause: any Error) -> NetworkError {
        NetworkError(.authenticationFailed, "no new credential could be got", isSafeToRetry: true, underlying: cause)
    }

    private var stale: Source.Credential? { machine.withLock { $0.held?.credential.credential } }

    private func wait(_ waiter: Waiter, _ number: UInt64, _ call: LiveCall) async throws -> CredentialGrant {
        let outcome = await waiter.wait(until: call.request.deadline, cancellation: call.cancellation)
        if case .value(let result) = outcome {
            do { return try result.get() } catch { throw Self.failure(error) }
        }
        machine.withLock { $0.left(number) }
        if case .timedOut = outcome {
            throw NetworkError(
                .timedOut, "no new credential came in time", isSafeToRetry: true, exceeding: .total,
                limit: call.request.timeouts.total)
        }
        if call.cancellation.cause == .task { throw CancellationError() }
        throw NetworkError(.cancelled, "the request was cancelled", isSafeToRetry: true)
    }
}

// MARK: - Refreshing

extension CredentialKeeper {
    private typealias Refreshed = Result<Source.Credential, any Error>

    /// Refreshes in tasks that belong to no request: they have nobody's deadline, and end with nobody. Code that does
    /// not heed its cancellation is not waited for; what it brings later counts all the same.
    private func begin(_ number: UInt64, instead stale: Source.Credential?, _ call: LiveCall) {
        let (core, loop, limit) = (call.session, call.loop, source.refreshTimeout)
        let scope = Refreshing(core)
        let ended = ValueWaiter<Refreshed>(on: loop)
        let work = Task.detached { [self, source] in
            let result: Refreshed
            do {
                result = .success(try await scope.run { try await source.refresh(stale, using: HTTPSession(core)) })
            } catch {
                result = .failure(error)
            }
            if !ended.deliver(result), case .success = result { end(number, result, at: loop.now()) }
        }
        Task.detached { [self] in
            switch await ended.wait(until: loop.now().advanced(by: limit.clampedNanoseconds), cancellation: nil) {
            case .value(let result): end(number, result, at: loop.now())
            case .timedOut, .cancelled:
                work.cancel()
                let error = NetworkError(.timedOut, "the refresh took too long", exceeding: .total, limit: limit)
                end(number, .failure(error), at: loop.now())
            }
        }
    }

    private func end(_ number: UInt64, _ result: Refreshed, at now: MonotonicTime) {
        let outcome: Result<CredentialGrant, any Error>
        let waiters: [Waiter]
        switch result {
        case .success(let credential):
            let known = Known(credential, of: source)
            let lifetime = source.lifetime(of: credential)?.clampedNanoseconds
            let chance = chance()
            let held: RefreshMachine<Known, Waiter>.Held
            (waiters, held) = machine.withLock { $0.refreshed(known, lifetime: lifetime, chance: chance, at: now) }
            outcome = .success(Self.grant(held))
        case .failure(let error):
            waiters = machine.withLock { $0.failed(error, number, at: now) }
            outcome = .failure(error)
        }
        for waiter in waiters { _ = waiter.deliver(outcome) }
    }
}
