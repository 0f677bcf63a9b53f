/// Decides which credential a request goes with, and when another is got.
///
/// Rules:
/// 1. There is one refresh at a time; whoever needs its result joins it. It is stopped when the last of those has left,
///    unless it was begun ahead of need.
/// 2. Each credential has a number. A refusal counts for the credential that was sent: a request that was refused with
///    an older one than there is goes on with that, and nothing is refreshed.
/// 3. A refresh that failed, and one whose credential is refused before anything was accepted with it, has the next
///    wait: a second, twice as long each time, a minute at most. Until then nobody waits.
/// 4. Refresh ahead begins in the last tenth of a credential's lifetime, at most a minute before its end, and earlier
///    by as much again as chance says: many processes that began together do not ask together.
struct RefreshMachine<Credential, Waiter> {
    struct Held {
        var credential: Credential
        var number: UInt64
        var refreshesFrom = MonotonicTime.never
        var expires = MonotonicTime.never
        var isRefused = false
        /// Whether something was accepted with it.
        var isProven = false
    }

    enum Answer {
        case use(Held)
        /// The credential is good, and the caller has to begin a refresh of this number.
        case useAndRefresh(Held, UInt64)
        /// `begins`: the number of the refresh that the caller waits for and has to begin, unless somebody has.
        case wait(UInt64, begins: UInt64?)
        case fail(any Error)
    }

    enum Refusal: Equatable {
        /// It is to be sent again; what it goes with is asked for then.
        case sendAgain
        /// Nothing better can be had.
        case deliver
    }

    private struct Refresh {
        let number: UInt64
        let isAhead: Bool
        var waiters: [UInt64: Waiter] = [:]
    }

    private struct Failure {
        let error: (any Error)?
        let until: MonotonicTime
    }

    private(set) var held: Held?
    private var refresh: Refresh?
    private var failure: Failure?
    private var failures = 0
    private var lastNumber: UInt64 = 0
    private var lastWaiter: UInt64 = 0
    private var lastRefresh: UInt64 = 0

    init(_ credential: Credential? = nil, lifetime: Int64? = nil, chance: UInt64 = 0, at now: MonotonicTime) {
        guard let credential else { return }
        hold(credential, lifetime: lifetime, chance: chance, at: now)
    }

    /// What a request is to go with.
    mutating func ask(_ waiter: Waiter, at now: MonotonicTime) -> Answer {
        if let held, !held.isRefused, now < held.expires {
            guard refresh == nil, held.refreshesFrom <= now, !isResting(now) else { return .use(held) }
            return .useAndRefresh(held, beginRefresh(isAhead: true))
        }
        var begins: UInt64?
        if refresh == nil {
            if let failure, now < failure.until, let error = failure.error { return .fail(error) }
            // Refused though it was new: there is nothing better, and no error to fail with.
            if let failure, now < failure.until, let held { return .use(held) }
            begins = beginRefresh(isAhead: false)
        }
        lastWaiter += 1
        refresh?.waiters[lastWaiter] = waiter
        return .wait(lastWaiter, begins: begins)
    }

    /// A request that went with credential `number` was refused.
    mutating func refused(_ number: UInt64, at now: MonotonicTime) -> Refusal {
        guard var held, held.number == number else { return held == nil ? .deliver : .sendAgain }
        if !held.isRefused {
            held.isRefused = true
            self.held = held
            // The first one may be of any age.
            if !held.isProven, number > 1 { rest(nil, now) }
        }
        return refresh == nil && isResting(now) ? .deliver : .sendAgain
    }

    mutating func accepted(_ number: UInt64) {
        guard let held, held.number == number, !held.isProven else { return }
        self.held?.isProven = true
        (failure, failures) = (nil, 0)
    }

    private mutating func beginRefresh(isAhead: Bool) -> UInt64 {
        lastRefresh += 1
        refresh = Refresh(number: lastRefresh, isAhead: isAhead)
        return lastRefresh
    }

    /// A refresh succeeded; one that nobody waited for any more did not cost less. Returns those who wait.
    mutating func refreshed(
        _ credential: Credential, lifetime: Int64?, chance: UInt64, at now: MonotonicTime
    ) -> [Waiter] {
        failure = nil
        // A first credential that was got is no better known than a later one.
        lastNumber = max(lastNumber, 1)
        hold(credential, lifetime: lifetime, chance: chance, at: now)
        return endRefresh()
    }

    /// Refresh `number` failed. Returns those who wait; each asks again, and learns of the error.
    mutating func failed(_ error: any Error, _ number: UInt64, at now: MonotonicTime) -> [Waiter] {
        guard refresh?.number == number else { return [] }
        rest(error, now)
        return endRefresh()
    }

    /// A waiter gives up. Returns whether nobody needs the refresh any more, which is over then.
    mutating func left(_ waiter: UInt64) -> Bool {
        guard refresh?.waiters.removeValue(forKey: waiter) != nil, let refresh else { return false }
        guard refresh.waiters.isEmpty, !refresh.isAhead else { return false }
        self.refresh = nil
        return true
    }

    private mutating func endRefresh() -> [Waiter] {
        defer { refresh = nil }
        return refresh.map { Array($0.waiters.values) } ?? []
    }

    private mutating func hold(_ credential: Credential, lifetime: Int64?, chance: UInt64, at now: MonotonicTime) {
        lastNumber += 1
        var new = Held(credential: credential, number: lastNumber)
        if let lifetime {
            let lifetime = max(0, lifetime)
            let margin = min(lifetime / 10, Self.longestMargin)
            let jitter = Int64(chance.multipliedFullWidth(by: UInt64(margin) + 1).high)
            new.expires = now.advanced(by: lifetime)
            new.refreshesFrom = new.expires.advanced(by: -margin - jitter)
        }
        held = new
    }

    private func isResting(_ now: MonotonicTime) -> Bool { failure.map { now < $0.until } ?? false }

    private mutating func rest(_ error: (any Error)?, _ now: MonotonicTime) {
        let pause = min(Self.shortestRest << min(failures, 10), Self.longestRest)
        failures += 1
        failure = Failure(error: error, until: now.advanced(by: pause))
    }

    private static var longestMargin: Int64 { 60_000_000_000 }
    private static var shortestRest: Int64 { 1_000_000_000 }
    private static var longestRest: Int64 { 60_000_000_000 }
}
