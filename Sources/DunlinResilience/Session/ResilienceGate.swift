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
/// 4. Of very many keys, some are forgotten (`RememberedKeys`). Whoever waits for a limit that is forgotten goes.
final class ResilienceGate: Gate {
    /// A limit: the server's own, by its key, or one of the session's.
    private enum Limit {
        case told
        case rate(Int)
    }

    let settings: Resilience
    private let hasBreaker: Bool
    private let rateKeys: [@Sendable (RequestHead) -> String]
    private let state: Mutex<GateState>
    private let listeners = Mutex<[UInt64: AsyncStream<Resilience.Event>.Continuation]>([:])

    init(_ settings: Resilience) {
        self.settings = settings
        hasBreaker = settings.breaker != nil
        rateKeys = settings.rates.map(\.key)
        state = Mutex(GateState(settings))
    }

    var problem: String? { settings.problem }

    func pass(_ visit: some GateVisit) async throws -> GatePass {
        let head = visit.head
        let (pass, isTold) = try ask(settings.hasOwnKey ? settings.key(head) : nil, head.origin, visit, isFirst: true)
        var hasWaited = false
        do {
            if isTold { hasWaited = try await turn(of: visit, at: .told, pass.key) }
            for index in rateKeys.indices {
                let (key, limit) = (rateKeys[index](head), Limit.rate(index))
                // Most need not wait, and a function that may costs more to call.
                let answer = ask(limit, key, visit)
                if case .go = answer { continue }
                if try await turn(of: visit, at: limit, key, answer) { hasWaited = true }
            }
        } catch {
            forget(pass)
            throw error
        }
        guard hasWaited else { return pass }
        forget(pass)
        return try ask(pass.key, head.origin, visit, isFirst: false).pass
    }

    func ended(_ pass: GatePass, _ visit: some GateVisit, _ outcome: Result<(ResponseHead, Int64), any Error>) {
        let now = visit.now()
        switch outcome {
        case .success((let head, let time)):
            if settings.learns { learn(head, pass, visit, at: now) }
            if hasBreaker { note(pass, BreakerMachine.Outcome(head.status), after: time, at: now) }
        case .failure(let error):
            if hasBreaker { note(pass, BreakerMachine.Outcome(error), after: 0, at: now) }
        }
    }

    private func learn(_ head: ResponseHead, _ pass: GatePass, _ visit: some GateVisit, at now: HTTP.Instant) {
        guard var limit = RateLimitFields.limit(head.fields, at: WallClock.seconds) else { return }
        // With another status it says when there will be news, and not that too much was asked.
        if ![429, 503].contains(head.status.code) { limit.silence = nil }
        let chance = visit.chance()
        change(.told, pass.key, at: now) { [limit] in $0.learned(limit, chance: chance, at: now) }
        tell(.learned(key: pass.key))
    }

    private func note(_ pass: GatePass, _ outcome: BreakerMachine.Outcome, after time: Int64, at now: HTTP.Instant) {
        let states = state.withLock { state in
            state.breaker(pass.key) { breaker in
                let before = breaker.state
                breaker.ended(pass.number, outcome, after: time, at: now)
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
    /// Asks the breaker of a key, or of the origin. `isTold`: the server's own limit must be asked, too.
    private func ask(
        _ key: String?, _ origin: HTTP.Origin, _ visit: some GateVisit, isFirst: Bool
    ) throws -> (pass: GatePass, isTold: Bool) {
        let now = visit.now()
        let asked = state.withLock { $0.ask(settings, key, origin, isFirst: isFirst, at: now) }
        let key = asked.key
        switch asked.answer {
        case .go(let number, isProbe: false): return (GatePass(key: key, number: number), asked.isTold)
        case .go(let number, isProbe: true):
            let pass = GatePass(key: key, number: number)
            if visit.takeRetry() || asked.isAlone {
                tell(.probing(key: key))
                return (pass, asked.isTold)
            }
            forget(pass)
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

    private func forget(_ pass: GatePass) {
        state.withLock { _ = $0.breaker(pass.key) { $0.forget(pass.number) } }
    }
}

// MARK: - The limits

extension ResilienceGate {
    private func ask(_ limit: Limit, _ key: String, _ visit: some GateVisit) -> RateMachine.Answer {
        // Said before the lock is taken: each has locks of its own.
        let (priority, deadline, now) = (visit.priority, visit.deadline, visit.now())
        return change(limit, key, at: now) { $0.ask(priority, until: deadline, at: now) }
    }

    /// Waits for a request's turn at a limit. Returns whether it had to wait.
    private func turn(
        of visit: some GateVisit, at limit: Limit, _ key: String, _ asked: RateMachine.Answer? = nil
    ) async throws -> Bool {
        var hasWaited = false
        var answer = asked ?? ask(limit, key, visit)
        while case .wait(let number, let until) = answer {
            if !hasWaited { tell(.waiting(key: key, for: until.duration(since: visit.now()))) }
            hasWaited = true
            do {
                try await visit.wait(until: until)
            } catch {
                change(limit, key, at: visit.now()) { $0.leave(number) }
                throw error
            }
            if visit.isSuspended {
                // Those behind it would wait with it.
                change(limit, key, at: visit.now()) { $0.leave(number) }
                try await visit.resumed()
                answer = ask(limit, key, visit)
            } else {
                let now = visit.now()
                answer = change(limit, key, at: now) { $0.again(number, at: now) ?? .go }
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
    private func change<Answer: Sendable>(
        _ limit: Limit, _ key: String, at now: HTTP.Instant, _ change: @Sendable (inout RateMachine) -> Answer
    ) -> Answer {
        state.withLock { state in
            switch limit {
            case .told: state.told(settings, key, at: now, change)
            case .rate(let index): state.rate(settings, index, key, at: now, change)
            }
        }
    }
}

// MARK: - What is told

extension ResilienceGate {
    private func refused(
        _ code: NetworkError.Code, _ visit: some GateVisit, _ refusal: ResilienceRefusal
    ) -> NetworkError {
        state.withLock { $0.noteRefusal() }
        tell(.refused(refusal))
        let what = code == .circuitOpen ? "no request is sent to the server for now" : "the request comes too soon"
        return NetworkError(
            code, "\(what): \(refusal)", isSafeToRetry: true, peer: visit.head.origin.description, underlying: refusal)
    }

    private func tell(_ event: @autoclosure () -> Resilience.Event) {
        let listening = listeners.withLock { $0.isEmpty ? [] : Array($0.values) }
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

    var gauges: Resilience.Gauges { state.withLock { $0.gauges } }
}

extension BreakerMachine.Outcome {
    /// What an exchange says of its server.
    fileprivate init(_ status: HTTP.Status) {
        self =
            switch status.code {
            case 429: .neither
            case 500, 502, 503, 504: .failure
            default: .success
            }
    }

    fileprivate init(_ error: any Error) {
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
