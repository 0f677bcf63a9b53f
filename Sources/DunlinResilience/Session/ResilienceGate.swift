internal import Dunlin
internal import DunlinReactor
internal import DunlinTypes
internal import Synchronization

/// Drives the machines of the limits and the breakers, for all sessions of one configuration.
///
/// Rules:
/// 1. The breaker is asked first, since a request that it refuses should take no turn of others. Then the request waits
///    for the server's own limit and for those of the session, one after another.
/// 2. A request that tries whether a server is well again takes a retry from the budget, as the retries of others do.
/// 3. A request that ends while it waits leaves its turn, and says nothing of the server.
/// 4. Of very many keys, the least recently used are forgotten. Whoever waits for a limit that is forgotten goes.
final class ResilienceGate: Gate {
    /// A limit: the server's own, by its key, or one of the session's.
    private enum Limit {
        case told
        case rate(Int)
    }

    private struct State {
        var breakers = RecentValues<String, BreakerMachine>(limit: remembered)
        var told = RecentValues<String, RateMachine>(limit: remembered)
        var rates: [RecentValues<String, RateMachine>]
        var refused = 0
    }

    private static let remembered = 1024
    let settings: Resilience
    private let breakerRules: BreakerRules?
    private let state: Mutex<State>
    private let listeners = Mutex<[UInt64: AsyncStream<Resilience.Event>.Continuation]>([:])

    init(_ settings: Resilience) {
        self.settings = settings
        breakerRules = settings.breaker?.rules
        state = Mutex(State(rates: settings.rates.map { _ in RecentValues(limit: Self.remembered) }))
    }

    var problem: String? { settings.problem }

    func pass(_ visit: some GateVisit) async throws -> GatePass {
        let key = settings.key(visit.head)
        let pass = GatePass(key: key, number: try ask(key, visit))
        do {
            if settings.learns { try await turn(of: visit, at: .told, key) }
            for (index, rate) in settings.rates.enumerated() {
                try await turn(of: visit, at: .rate(index), rate.key(visit.head))
            }
        } catch {
            state.withLock { _ = $0.breakers.change(key) { $0.forget(pass.number) } }
            throw error
        }
        return pass
    }

    func ended(_ pass: GatePass, _ visit: some GateVisit, _ outcome: Result<ResponseHead, any Error>) {
        let now = visit.now()
        if case .success(let head) = outcome, settings.learns,
            let limit = RateLimitFields.limit(head.fields, at: WallClock.seconds)
        {
            let chance = visit.chance()
            change(.told, pass.key) { $0.learned(limit, chance: chance, at: now) }
            tell(.learned(key: pass.key))
        }
        guard breakerRules != nil else { return }
        let duration = now.nanoseconds - visit.start.nanoseconds
        let states = state.withLock { state in
            state.breakers.change(pass.key) { breaker in
                let before = breaker.state
                breaker.ended(pass.number, BreakerMachine.Outcome(outcome), after: duration, at: now)
                return (before: before, after: breaker.state)
            }
        }
        guard let states, states.before != states.after else { return }
        switch states.after {
        case .open: tell(.opened(key: pass.key))
        case .closed: tell(.closed(key: pass.key))
        case .halfOpen: break
        }
    }
}

// MARK: - The breaker

extension ResilienceGate {
    private func ask(_ key: String, _ visit: some GateVisit) throws -> UInt64 {
        guard let breakerRules else { return 0 }
        let now = visit.now()
        let answer = state.withLock { state in
            if let answer = state.breakers.change(key, { $0.ask(at: now) }) { return answer }
            var breaker = BreakerMachine(breakerRules)
            let answer = breaker.ask(at: now)
            state.breakers.keep(breaker, for: key)
            return answer
        }
        switch answer {
        case .go(let number, isProbe: false): return number
        case .go(let number, isProbe: true):
            if visit.takeRetry() {
                tell(.probing(key: key))
                return number
            }
            state.withLock { _ = $0.breakers.change(key) { $0.forget(number) } }
            throw refused(
                .circuitOpen, visit, ResilienceRefusal(key: key, reason: .budget, openFor: nil, comesBack: .seconds(1)))
        case .refuse(let since, let until, let reason):
            throw refused(
                .circuitOpen, visit,
                ResilienceRefusal(
                    key: key, reason: ResilienceRefusal.Reason(reason), openFor: now.duration(since: since),
                    comesBack: max(.zero, until.duration(since: now))))
        }
    }
}

// MARK: - The limits

extension ResilienceGate {
    /// Waits for a request's turn at a limit.
    private func turn(of visit: some GateVisit, at limit: Limit, _ key: String) async throws {
        var answer = change(limit, key) { $0.ask(visit.priority, until: visit.deadline, at: visit.now()) }
        while case .wait(let number, let until) = answer {
            tell(.waiting(key: key, for: until.duration(since: visit.now())))
            do {
                try await visit.wait(until: until)
            } catch {
                change(limit, key) { $0.leave(number) }
                throw error
            }
            answer = change(limit, key) { $0.again(number, at: visit.now()) ?? .go }
        }
        guard case .refuse(let until, let why) = answer else { return }
        throw refused(
            .rateLimited, visit,
            ResilienceRefusal(
                key: key, reason: .rate(isServers: why.isServers), openFor: nil,
                comesBack: max(.zero, until.duration(since: visit.now()))))
    }

    @discardableResult
    private func change<Answer: Sendable>(_ limit: Limit, _ key: String, _ change: (inout RateMachine) -> Answer)
        -> Answer
    {
        state.withLock { state in
            switch limit {
            case .told: Self.change(&state.told, key, settings.toldRules, change)
            case .rate(let index): Self.change(&state.rates[index], key, settings.rates[index].rules, change)
            }
        }
    }

    private static func change<Answer>(
        _ machines: inout RecentValues<String, RateMachine>, _ key: String, _ rules: @autoclosure () -> RateRules,
        _ change: (inout RateMachine) -> Answer
    ) -> Answer {
        if let answer = machines.change(key, change) { return answer }
        var machine = RateMachine(rules())
        let answer = change(&machine)
        machines.keep(machine, for: key)
        return answer
    }
}

// MARK: - What is told

extension ResilienceGate {
    private func refused(
        _ code: NetworkError.Code, _ visit: some GateVisit, _ refusal: ResilienceRefusal
    ) -> NetworkError {
        state.withLock { $0.refused += 1 }
        tell(.refused(refusal))
        let what = code == .circuitOpen ? "no request is sent to the server for now" : "the request was not sent"
        return NetworkError(
            code, "\(what): \(refusal)", isSafeToRetry: true, peer: visit.head.origin.description, underlying: refusal)
    }

    private func tell(_ event: @autoclosure () -> Resilience.Event) {
        let listening = listeners.withLock { Array($0.values) }
        if listening.isEmpty { return }
        let event = event()
        for listener in listening { listener.yield(event) }
    }

    var events: AsyncStream<Resilience.Event> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1024)) { continuation in
            let number = listeners.withLock { listeners in
                let number = (listeners.keys.max() ?? 0) + 1
                listeners[number] = continuation
                return number
            }
            continuation.onTermination = { [weak self] _ in
                _ = self?.listeners.withLock { $0.removeValue(forKey: number) }
            }
        }
    }

    var gauges: Resilience.Gauges {
        state.withLock { state in
            var gauges = Resilience.Gauges()
            gauges.refused = state.refused
            for (key, breaker) in state.breakers.latestFirst where breaker.state != .closed {
                gauges.breakers[key] = breaker.state == .open ? .open : .halfOpen
            }
            for machines in [state.told] + state.rates {
                for (key, machine) in machines.latestFirst where machine.waiting > 0 {
                    gauges.waiting[key, default: 0] += machine.waiting
                }
            }
            return gauges
        }
    }
}

extension BreakerMachine.Outcome {
    /// What an exchange says of its server.
    fileprivate init(_ outcome: Result<ResponseHead, any Error>) {
        switch outcome {
        case .success(let head):
            self =
                switch head.status.code {
                case 429: .neither
                case 500, 502, 503, 504: .failure
                default: .success
                }
        case .failure(let error):
            guard let error = error as? NetworkError else {
                self = .neither
                return
            }
            switch error.code {
            case .connectionFailed, .connectionClosed, .nameNotResolved, .proxyFailed, .invalidResponse:
                self = .failure
            // The wait for one of our own connections says nothing of the server.
            case .timedOut: self = error.phase == .pool ? .neither : .failure
            default: self = .neither
            }
        }
    }
}

extension ResilienceRefusal.Reason {
    fileprivate init(_ reason: BreakerReason) {
        self =
            switch reason.kind {
            case .failures: .failures(reason.bad, of: reason.of)
            case .slowness: .slow(reason.bad, of: reason.of)
            case .probe: .probe
            }
    }
}
