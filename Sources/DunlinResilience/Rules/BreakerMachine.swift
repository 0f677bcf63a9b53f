package import DunlinTypes

/// Decides whether requests may go to a server that has failed, or was slow, often.
///
/// Rules:
/// 1. A closed breaker lets all requests through. It opens when the share of failures, or of slow requests, among the
///    latest outcomes reaches what the rules say.
/// 2. An open breaker refuses all requests, and says until when. The next request after that finds it half open.
/// 3. A half-open breaker lets a few requests through, whichever come first: they are probes. It begins with one at
///    once; when all of a round have succeeded, twice as many may go, up to the most. The breaker closes after a round
///    of the most. A probe that fails or is slow opens it again: for twice as long if none before it has succeeded, or
///    else for the shortest time, since a server that answers some is not down.
/// 4. A probe whose outcome is neither success nor failure, or which was not sent, makes room for another. So does one
///    that has been under way for as long as the breaker was open, should its outcome never come.
/// 5. A request that is under way is never stopped. If it began before the breaker last changed its state, its outcome
///    changes nothing.
/// 6. The machine reads no clock. What it remembers has a bounded size.
package struct BreakerMachine: Sendable {
    package enum Outcome: Sendable {
        case success
        case failure
        /// Says nothing about the server: the request was cancelled, was wrong, or came too often (429).
        case neither
    }

    package enum Answer: Sendable, Equatable {
        case go(number: UInt64, isProbe: Bool)
        /// Open or half open since `since`. Before `until` there is no use in asking again.
        case refuse(since: HTTP.Instant, until: HTTP.Instant, BreakerReason)
    }

    package enum State: Sendable, Equatable {
        case closed, open, halfOpen
    }

    private struct Opening {
        let since: HTTP.Instant
        let until: HTTP.Instant
        let reason: BreakerReason
    }

    private struct Probing {
        /// Why and until when the breaker was open.
        let opening: Opening
        /// How many may be under way at once in this round, and how many of it have succeeded.
        var round = 1
        var succeeded = 0
        /// All that have succeeded.
        var total = 0
        /// The probes under way, and until when each is waited for.
        var underWay: [(number: UInt64, until: HTTP.Instant)] = []
    }

    private enum Phase {
        case closed
        case open(Opening)
        case halfOpen(Probing)
    }

    private let rules: Resilience.Breaker
    private var phase = Phase.closed
    /// The outcomes since it was closed. They are no part of the phase, or each new one would copy those before.
    private var window: OutcomeWindow
    private var next: UInt64 = 0
    /// The first number that was given since the state last changed.
    private var first: UInt64 = 0
    /// How long the breaker is open the next time.
    private var openFor: Duration

    /// Creates a closed breaker, whose numbers begin at `number`.
    package init(_ rules: Resilience.Breaker, from number: UInt64 = 0) {
        self.rules = rules
        (next, first) = (number, number)
        openFor = rules.openFor
        window = OutcomeWindow(outcomes: rules.outcomes, window: rules.window)
    }

    package var state: State {
        switch phase {
        case .closed: .closed
        case .open: .open
        case .halfOpen: .halfOpen
        }
    }

    /// Whether it is half open, and one probe alone is under way.
    package var probesAlone: Bool {
        if case .halfOpen(let probing) = phase { probing.underWay.count == 1 } else { false }
    }

    /// Asks for a request, which must then have `ended`, or be forgotten.
    package mutating func ask(at now: HTTP.Instant) -> Answer {
        switch phase {
        case .closed:
            return .go(number: takeNumber(), isProbe: false)
        case .open(let opening) where now < opening.until:
            return .refuse(since: opening.since, until: opening.until, opening.reason)
        case .open(let opening):
            first = next
            return probe(Probing(opening: opening), at: now)
        case .halfOpen(let probing):
            return probe(probing, at: now)
        }
    }

    /// Notes what came of a request.
    package mutating func ended(_ number: UInt64, _ outcome: Outcome, after duration: Int64, at now: HTTP.Instant) {
        guard number >= first else { return }
        if outcome == .neither { return forget(number) }
        let isSlow = rules.slowAfter.map { duration > $0.clampedNanoseconds } ?? false
        switch phase {
        case .closed: count(failed: outcome == .failure, slow: isSlow, at: now)
        case .halfOpen(let probing): probed(probing, number, isGood: outcome == .success && !isSlow, at: now)
        case .open: break
        }
    }

    /// Forgets a request that was not sent, or whose outcome says nothing.
    package mutating func forget(_ number: UInt64) {
        guard case .halfOpen(var probing) = phase else { return }
        probing.underWay.removeAll { $0.number == number }
        phase = .halfOpen(probing)
    }
}

extension BreakerMachine {
    private mutating func takeNumber() -> UInt64 {
        next += 1
        return next - 1
    }

    private mutating func probe(_ probing: Probing, at now: HTTP.Instant) -> Answer {
        var probing = probing
        let opening = probing.opening
        probing.underWay.removeAll { $0.until <= now }
        guard probing.underWay.count + probing.succeeded < probing.round else {
            phase = .halfOpen(probing)
            let until = probing.underWay.map(\.until).min() ?? now
            return .refuse(since: opening.since, until: until, opening.reason)
        }
        let number = takeNumber()
        probing.underWay.append((number, now.advanced(by: opening.until.duration(since: opening.since))))
        phase = .halfOpen(probing)
        return .go(number: number, isProbe: true)
    }

    private mutating func probed(_ probing: Probing, _ number: UInt64, isGood: Bool, at now: HTTP.Instant) {
        var probing = probing
        guard probing.underWay.contains(where: { $0.number == number }) else { return }
        guard isGood else {
            if probing.total > 0 { openFor = rules.openFor }
            open(BreakerReason(.probe, bad: 1, of: probing.total + 1), at: now)
            return
        }
        probing.underWay.removeAll { $0.number == number }
        probing.succeeded += 1
        probing.total += 1
        if probing.succeeded >= probing.round {
            if probing.round >= rules.probes {
                close()
                return
            }
            probing.round = min(probing.round * 2, rules.probes)
            probing.succeeded = 0
        }
        phase = .halfOpen(probing)
    }

    private mutating func count(failed: Bool, slow: Bool, at now: HTTP.Instant) {
        window.add(failed: failed, slow: slow, at: now)
        let counts = window.counts
        guard counts.failed + counts.slow > 0, counts.all >= rules.minimum else { return }
        let failures = BreakerReason(.failures, bad: counts.failed, of: counts.all)
        let slowness = BreakerReason(.slowness, bad: counts.slow, of: counts.all)
        if failures.rate >= rules.failureRate {
            open(failures, at: now)
        } else if rules.slowAfter != nil, slowness.rate >= rules.slowRate {
            open(slowness, at: now)
        }
    }

    private mutating func open(_ reason: BreakerReason, at now: HTTP.Instant) {
        phase = .open(Opening(since: now, until: now.advanced(by: openFor), reason: reason))
        openFor = min(openFor * 2, rules.longestOpen)
        first = next
    }

    private mutating func close() {
        phase = .closed
        window = OutcomeWindow(outcomes: rules.outcomes, window: rules.window)
        openFor = rules.openFor
        first = next
    }
}
