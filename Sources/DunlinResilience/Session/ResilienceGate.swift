internal import Dunlin
internal import DunlinReactor
internal import DunlinTypes
internal import Synchronization

/// Drives the machines of the limits and the breakers, for all sessions of one configuration.
///
/// Rules:
/// 1. The breaker is asked first, since a request that it refuses should take no turn of others. Then the request waits
///    for the server's own limit and for those of the session, one after another. If it has waited, the breaker is
///    asked once more.
/// 2. A request that tries whether a server is well again takes a retry from the budget, as the retries of others do;
///    but one at a time may always try, since an empty budget may be filled by nothing else.
/// 3. A request that ends while it waits, or is suspended, leaves its turn, and says nothing of the server.
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
        /// Where the numbers of the next machine begin: those of a machine that was forgotten are no other's.
        var numbers: UInt64 = 0

        mutating func takeNumbers() -> UInt64 {
            numbers += 1 << 32
            return numbers
        }
    }

    private static let remembered = 1024
    let settings: Resilience
    private let state: Mutex<State>
    private let listeners = Mutex<[UInt64: AsyncStream<Resilience.Event>.Continuation]>([:])

    init(_ settings: Resilience) {
        self.settings = settings
        state = Mutex(State(rates: settings.rates.map { _ in RecentValues(limit: Self.remembered) }))
    }

    var problem: String? { settings.problem }

    func pass(_ visit: some GateVisit) async throws -> GatePass {
        let key = settings.key(visit.head)
        let number = try ask(key, visit)
        var hasWaited = false
        do {
            if settings.learns { hasWaited = try await turn(of: visit, at: .told, key) }
            for (index, rate) in settings.rates.enumerated() {
                if try await turn(of: visit, at: .rate(index), rate.key(visit.head)) { hasWaited = true }
            }
        } catch {
            forget(number, key)
            throw error
        }
        guard hasWaited else { return GatePass(key: key, number: number) }
        forget(number, key)
        return GatePass(key: key, number: try ask(key, visit))
    }

    func ended(_ pass: GatePass, _ visit: some GateVisit, _ outcome: Result<(ResponseHead, Int64), any Error>) {
        let now = visit.now()
        if case .success((let head, _)) = outcome, settings.learns,
            var limit = RateLimitFields.limit(head.fields, at: WallClock.seconds)
        {
            // With another status it says when there will be news, and not that too much was asked.
            if ![429, 503].contains(head.status.code) { limit.silence = nil }
            let chance = visit.chance()
            change(.told, pass.key) { [limit] in $0.learned(limit, chance: chance, at: now) }
            tell(.learned(key: pass.key))
        }
        guard settings.breaker != nil else { return }
        let duration = if case .success((_, let time)) = outcome { time } else { Int64(0) }
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
        guard let rules = settings.breaker else { return 0 }
        let now = visit.now()
        let (answer, isAlone) = state.withLock { state in
            var breaker = state.breakers.use(key) ?? BreakerMachine(rules, from: state.takeNumbers())
            let answer = breaker.ask(at: now)
            state.breakers.keep(breaker, for: key)
            return (answer, breaker.probesAlone)
        }
        switch answer {
        case .go(let number, isProbe: false): return number
        case .go(let number, isProbe: true):
            if visit.takeRetry() || isAlone {
                tell(.probing(key: key))
                return number
            }
            forget(number, key)
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

extension ResilienceGate {
    private func forget(_ number: UInt64, _ key: String) {
        state.withLock { _ = $0.breakers.change(key) { $0.forget(number) } }
    }
}

// MARK: - The limits

extension ResilienceGate {
    /// Waits for a request's turn at a limit. Returns whether it had to wait.
    private func turn(of visit: some GateVisit, at limit: Limit, _ key: String) async throws -> Bool {
        // Said before the lock is taken: each has locks of its own.
        func ask() -> RateMachine.Answer {
            let (priority, now) = (visit.priority, visit.now())
            return change(limit, key) { $0.ask(priority, until: visit.deadline, at: now) }
        }
        var hasWaited = false
        var answer = ask()
        while case .wait(let number, let until) = answer {
            if !hasWaited { tell(.waiting(key: key, for: until.duration(since: visit.now()))) }
            hasWaited = true
            do {
                try await visit.wait(until: until)
            } catch {
                change(limit, key) { $0.leave(number) }
                throw error
            }
            if visit.isSuspended {
                // Those behind it would wait with it.
                change(limit, key) { $0.leave(number) }
                try await visit.resumed()
                answer = ask()
            } else {
                let now = visit.now()
                answer = change(limit, key) { $0.again(number, at: now) ?? .go }
            }
        }
        guard case .refuse(let until, let why) = answer else { return hasWaited }
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
            case .told:
                var machine = state.told.use(key) ?? RateMachine(settings.toldRules, from: state.takeNumbers())
                defer { state.told.keep(machine, for: key) }
                return change(&machine)
            case .rate(let index):
                let machine = state.rates[index].use(key)
                var known = machine ?? RateMachine(settings.rates[index].rules, from: state.takeNumbers())
                defer { state.rates[index].keep(known, for: key) }
                return change(&known)
            }
        }
    }
}

// MARK: - What is told

extension ResilienceGate {
    private func refused(
        _ code: NetworkError.Code, _ visit: some GateVisit, _ refusal: ResilienceRefusal
    ) -> NetworkError {
        state.withLock { $0.refused += 1 }
        tell(.refused(refusal))
        let what = code == .circuitOpen ? "no request is sent to the server for now" : "the request comes too soon"
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
    fileprivate init(_ outcome: Result<(ResponseHead, Int64), any Error>) {
        switch outcome {
        case .success((let head, _)):
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
            // The server was just closing the connection; or there was no way to any server.
            case .connectionClosed where error.connectionWasReused && error.isSafeToRetry,
                .connectionFailed where error.askedNobody, .nameNotResolved where error.askedNobody:
                self = .neither
            case .connectionFailed, .connectionClosed, .nameNotResolved, .proxyFailed, .invalidResponse:
                self = .failure
            // Neither the wait for one of our own connections nor the caller's own deadline is the server's.
            case .timedOut: self = error.phase == .pool || error.exceeded == .total ? .neither : .failure
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
