package import DunlinTypes

/// Decides when requests may be sent: at the rate of the rules, and within what the server said of its own limit.
///
/// Rules:
/// 1. The rate is a token bucket's. A request that finds a token goes at once.
/// 2. The others wait, higher priorities first, and within a priority in order of arrival. Each is told until when, and
///    asks again then: by then one of a higher priority may have come, and it waits on.
/// 3. A request whose turn would come after its deadline, or after the longest wait, is refused at once, as is one that
///    finds too many waiting. It is told when its turn would come.
/// 4. The server's word delays all requests from then on, those that wait included (see `ServerLimit`).
/// 5. Who leaves makes those behind it no earlier: they ask when they were told to.
/// 6. The machine reads no clock, takes no random number and wakes nobody. What it remembers has a bounded size.
package struct RateMachine: Sendable {
    package enum Answer: Sendable, Equatable {
        case go
        /// Ask `again` with this number at `until`.
        case wait(number: UInt64, until: HTTP.Instant)
        case refuse(until: HTTP.Instant, RateRefusal)
    }

    private struct Waiter {
        let number: UInt64
        var priority: HTTP.Priority
        let deadline: HTTP.Instant
        /// When it has waited for as long as one may.
        let latest: HTTP.Instant

        /// Whether it is served before one of this priority and number.
        func isBefore(_ priority: HTTP.Priority, _ number: UInt64) -> Bool {
            self.priority == priority ? self.number < number : self.priority > priority
        }
    }

    private let rules: RateRules
    private var bucket: TokenBucket
    private var server: ServerLimit
    /// In the order of their turns.
    private var waiters: [Waiter] = []
    private var next: UInt64 = 0

    /// Creates a machine, whose numbers begin at `number`. `sent`: how many requests went before it was there.
    package init(_ rules: RateRules, from number: UInt64 = 0, sent: Int = 0) {
        self.rules = rules
        next = number
        server = ServerLimit(sent: sent)
        bucket = TokenBucket(
            interval: rules.per.clampedNanoseconds / Int64(max(1, rules.requests)), burst: rules.burst,
            from: HTTP.Instant(nanoseconds: .min))
    }

    package var waiting: Int { waiters.count }

    /// Whether it would let a new machine's requests go no later: nobody waits, all tokens are there, and nothing that
    /// the server said is still in force.
    package func isIdle(at now: HTTP.Instant) -> Bool {
        waiters.isEmpty && bucket.isFull(at: now) && server.isIdle(at: now)
    }

    /// Asks for a request that must be sent before `deadline`.
    package mutating func ask(
        _ priority: HTTP.Priority, until deadline: HTTP.Instant, at now: HTTP.Instant
    ) -> Answer {
        server.pass(to: now, isAwaited: !waiters.isEmpty)
        if waiters.isEmpty, now < deadline, time(at: now) <= now {
            take(at: now)
            return .go
        }
        let waiter = Waiter(
            number: next, priority: priority, deadline: deadline,
            latest: now.advanced(by: rules.longestWait.clampedNanoseconds))
        let index = index(of: priority, next)
        let answer = answer(waiter, after: index, at: now)
        guard case .wait(_, let until) = answer else { return answer }
        if waiters.count >= rules.mostWaiting {
            return .refuse(until: until, refusal(.tooManyWaiting, after: index, at: now))
        }
        next += 1
        waiters.insert(waiter, at: index)
        return answer
    }

    /// Asks for a request that has waited; nil if it does not wait any more.
    package mutating func again(_ number: UInt64, at now: HTTP.Instant) -> Answer? {
        guard let index = waiters.firstIndex(where: { $0.number == number }) else { return nil }
        server.pass(to: now, isAwaited: !waiters.isEmpty)
        let answer = answer(waiters[index], after: index, at: now)
        if case .wait = answer { return answer }
        waiters.remove(at: index)
        return answer
    }

    /// Ends a wait; no effect if there is none.
    package mutating func leave(_ number: UInt64) {
        waiters.removeAll { $0.number == number }
    }

    /// Changes the priority of a waiting request, which should then ask `again`; no effect on others.
    package mutating func move(_ number: UInt64, to priority: HTTP.Priority) {
        guard let index = waiters.firstIndex(where: { $0.number == number }) else { return }
        var waiter = waiters.remove(at: index)
        waiter.priority = priority
        waiters.insert(waiter, at: self.index(of: priority, number))
    }

    /// Takes what the server said. `chance` is random, so that clients that wait for one reset do not come together.
    package mutating func learned(_ limit: LearnedLimit, chance: UInt64, at now: HTTP.Instant) {
        server.pass(to: now, isAwaited: !waiters.isEmpty)
        server.learned(limit, chance, at: now)
    }

    /// When a request could go that nobody is before.
    package func time(at now: HTTP.Instant) -> HTTP.Instant {
        max(bucket.time(after: 0, at: now), server.time(after: 0, at: now))
    }
}

extension RateMachine {
    /// The index of the first waiter that is not served before one of this priority and number.
    private func index(of priority: HTTP.Priority, _ number: UInt64) -> Int {
        var (low, high) = (0, waiters.count)
        while low < high {
            let middle = (low + high) / 2
            if waiters[middle].isBefore(priority, number) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private mutating func answer(_ waiter: Waiter, after others: Int, at now: HTTP.Instant) -> Answer {
        let time = max(bucket.time(after: others, at: now), server.time(after: others, at: now))
        if time <= now, now < waiter.deadline {
            take(at: now)
            return .go
        }
        if time >= waiter.deadline { return .refuse(until: time, refusal(.pastDeadline, after: others, at: now)) }
        if time > waiter.latest { return .refuse(until: time, refusal(.tooLong, after: others, at: now)) }
        return .wait(number: waiter.number, until: time)
    }

    private mutating func take(at now: HTTP.Instant) {
        bucket.take(at: now)
        server.take(at: now)
    }

    private func refusal(_ kind: RateRefusal.Kind, after others: Int, at now: HTTP.Instant) -> RateRefusal {
        let isServers = server.time(after: others, at: now) > bucket.time(after: others, at: now)
        return RateRefusal(kind, isServers: isServers)
    }
}
