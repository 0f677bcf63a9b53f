internal import DunlinReactor
internal import DunlinTransport
internal import Synchronization

/// Gives requests the credential of a session's authenticator, and has it refreshed, by the rules of `RefreshMachine`.
protocol CredentialSource: Sendable {
    /// What a request is to go with now. Waits for a refresh if it must, within the call's limits.
    func grant(for call: LiveCall) async throws -> CredentialGrant
    func isRefused(by response: ResponseHead) -> Bool
    /// Whether the request is to be sent again, which went with grant `number` and was refused.
    func refused(_ number: UInt64, at now: MonotonicTime) -> Bool
    func accepted(_ number: UInt64)
}

/// The fields of a credential, and its number.
struct CredentialGrant: Sendable {
    let fields: Fields
    let number: UInt64
}

final class CredentialKeeper<Source: HTTPSession.Authenticator>: CredentialSource {
    private typealias Waiter = ValueWaiter<Void>

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

    private struct State {
        var machine: RefreshMachine<Known, Waiter>
        var refresh: Task<Void, Never>?
    }

    private let source: Source
    private let chance: @Sendable () -> UInt64
    private let state: Mutex<State>

    init(_ source: Source, at now: MonotonicTime, chance: @escaping @Sendable () -> UInt64) {
        self.source = source
        self.chance = chance
        let first = source.initialCredential
        let machine = RefreshMachine<Known, Waiter>(
            first.map { Known($0, of: source) },
            lifetime: first.flatMap { source.lifetime(of: $0) }?.clampedNanoseconds, chance: chance(), at: now)
        state = Mutex(State(machine: machine))
    }

    deinit {
        state.withLock { $0.refresh }?.cancel()
    }

    func isRefused(by response: ResponseHead) -> Bool { source.isRefused(by: response) }

    func refused(_ number: UInt64, at now: MonotonicTime) -> Bool {
        state.withLock { $0.machine.refused(number, at: now) } == .sendAgain
    }

    func accepted(_ number: UInt64) { state.withLock { $0.machine.accepted(number) } }

    func grant(for call: LiveCall) async throws -> CredentialGrant {
        while true {
            let waiter = Waiter(on: call.loop)
            switch state.withLock({ $0.machine.ask(waiter, at: call.loop.now()) }) {
            case .use(let held): return Self.grant(held)
            case .useAndRefresh(let held, let refresh):
                begin(refresh, instead: held.credential.credential, call)
                return Self.grant(held)
            case .wait(let number, let begins):
                if let begins { begin(begins, instead: stale, call) }
                try await wait(waiter, number, call)
            case .fail(let error):
                throw NetworkError(
                    .authenticationFailed, "no new credential could be got", isSafeToRetry: true, underlying: error)
            }
        }
    }

    private static func grant(_ held: RefreshMachine<Known, Waiter>.Held) -> CredentialGrant {
        CredentialGrant(fields: held.credential.fields, number: held.number)
    }

    private var stale: Source.Credential? { state.withLock { $0.machine.held?.credential.credential } }

    private func wait(_ waiter: Waiter, _ number: UInt64, _ call: LiveCall) async throws {
        let outcome = await waiter.wait(until: call.request.deadline, cancellation: call.cancellation)
        if case .value = outcome { return }
        let unneeded = state.withLock { state in
            guard state.machine.left(number) else { return Task<Void, Never>?.none }
            defer { state.refresh = nil }
            return state.refresh
        }
        unneeded?.cancel()
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
    /// Refreshes in a task that belongs to no request: it has nobody's deadline, and ends with nobody.
    private func begin(_ number: UInt64, instead stale: Source.Credential?, _ call: LiveCall) {
        let (core, loop) = (call.session, call.loop)
        let refresh = Task.detached { [weak self, source] in
            let result: Result<Source.Credential, any Error>
            do {
                result = .success(try await Self.refreshed(source, stale, core, loop))
            } catch {
                result = .failure(error)
            }
            self?.end(number, result, at: loop.now())
        }
        state.withLock { $0.refresh = refresh }
    }

    private static func refreshed(
        _ source: Source, _ stale: Source.Credential?, _ core: SessionCore, _ loop: Reactor
    ) async throws -> Source.Credential {
        let limit = source.refreshTimeout
        do {
            return try await Refreshing.of(core) {
                try await Race.run(
                    until: loop.now().advanced(by: limit.clampedNanoseconds), Cancellation(), on: loop
                ) {
                    try await source.refresh(stale, using: HTTPSession(core))
                }
            }
        } catch Race.Lost.timedOut {
            throw NetworkError(.timedOut, "the refresh took too long", exceeding: .total, limit: limit)
        }
    }

    private func end(_ number: UInt64, _ result: Result<Source.Credential, any Error>, at now: MonotonicTime) {
        let waiters: [Waiter]
        switch result {
        case .success(let credential):
            let known = Known(credential, of: source)
            let lifetime = source.lifetime(of: credential)?.clampedNanoseconds
            let chance = chance()
            waiters = state.withLock { $0.machine.refreshed(known, lifetime: lifetime, chance: chance, at: now) }
        case .failure(let error): waiters = state.withLock { $0.machine.failed(error, number, at: now) }
        }
        for waiter in waiters { _ = waiter.deliver(()) }
    }
}
