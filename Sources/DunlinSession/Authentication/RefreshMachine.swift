/// Decides which credential a request carries, and when it is refreshed.
///
/// Rules:
/// 1. There is one refresh at a time. Requests that need its result wait for it and get exactly that, whatever else
///    happens. It continues if all of them leave, since the credential that a server gives in exchange for an old one
///    must not be lost. A request that may not wait carries the credential that there is, unless it was refused.
/// 2. Each credential has a number. A refusal counts for the credential that was sent: a request refused with an older
///    one than the current continues with the current, and nothing is refreshed.
/// 3. After a failed refresh, and after one whose credential is refused before it was accepted, there is a rest: a
///    second, then twice as long each time, at most a minute. During it requests fail with the refresh's error, or
///    carry the credential that there is. A credential that is first accepted ends the doubling. A refresh that asked
///    nobody, for lack of a network or because it was ended, is followed by no rest. Two rests may follow one refresh,
///    if it was given up and the credential that it brought later was refused. Asking during a rest does not lengthen
///    it. A request that fails in this way has still used an attempt of its retry policy, which is not known here.
/// 4. Refreshing ahead begins in the last tenth of a credential's lifetime, at most a minute before its end, and up to
///    as much earlier at random, so that processes that began together do not ask together.
/// 5. An expired credential is still used for a second after it was obtained, so that a server which issues such ones
///    is not asked endlessly.
struct RefreshMachine<Credential, Waiter> {
    struct Held {
        var credential: Credential
        var number: UInt64
        var refreshesFrom = HTTP.Instant.never
        var expires = HTTP.Instant.never
        var isRefused = false
        /// Whether a server has accepted or refused it yet, and whether one has ever accepted it.
        var isJudged = false
        var isGood = false
    }

    enum Answer {
        case use(Held)
        /// The credential is good, and the caller must begin the refresh with this number.
        case useAndRefresh(Held, UInt64)
        /// Wait for a refresh, with the waiter that was made for it and its number. `begins`: the number of the refresh
        /// that the caller must also begin; nil if it has begun.
        case wait(Waiter, UInt64, begins: UInt64?)
        /// There is no credential that may get in, and the one that comes may not be waited for.
        case mustNotWait
        case fail(any Error)
    }

    private struct Refresh {
        let number: UInt64
        var waiters: [UInt64: Waiter] = [:]
    }

    private struct Rest {
        /// The error of the last refresh; nil if its credential was refused.
        let error: (any Error)?
        let until: HTTP.Instant
    }

    private(set) var held: Held?
    private var refresh: Refresh?
    private var rest: Rest?
    private var failures = 0
    /// The time until which an expired credential is used.
    private var graceEnd = HTTP.Instant(nanoseconds: 0)
    private var lastNumber: UInt64 = 0
    private var lastWaiter: UInt64 = 0
    private var lastRefresh: UInt64 = 0

    init(_ credential: Credential? = nil, lifetime: Int64? = nil, chance: UInt64 = 0, at now: HTTP.Instant) {
        guard let credential else { return }
        hold(credential, lifetime: lifetime, chance: chance, at: now)
    }

    /// What a request should carry. `waiter` is made if it must wait. `mayWait`: whether it may wait for a refresh that
    /// others have begun.
    mutating func ask(
        _ waiter: @autoclosure () -> Waiter, mayWait: @autoclosure () -> Bool = true, at now: HTTP.Instant
    ) -> Answer {
        if let held, !held.isRefused, now < held.expires || now < graceEnd {
            guard refresh == nil, held.refreshesFrom <= now, now >= graceEnd, !isResting(now) else { return .use(held) }
            return .useAndRefresh(held, beginRefresh())
        }
        var begins: UInt64?
        if refresh == nil {
            if let rest, now < rest.until {
                if let error = rest.error { return .fail(error) }
                if let held { return .use(held) }
            }
            begins = beginRefresh()
        } else if !mayWait() {
            if let held, !held.isRefused { return .use(held) }
            return .mustNotWait
        }
        let waiter = waiter()
        lastWaiter += 1
        refresh?.waiters[lastWaiter] = waiter
        return .wait(waiter, lastWaiter, begins: begins)
    }

    /// What to do with a request that carried credential `number` and was refused.
    mutating func refused(_ number: UInt64, at now: HTTP.Instant) -> CredentialRefusal {
        guard let held, held.number == number else { return held == nil ? .deliver(.resting) : .sendWithNewer }
        if refresh == nil, isResting(now) { return .deliver(.resting) }
        self.held?.isRefused = true
        self.held?.isJudged = true
        // The first credential may be of any age.
        guard !held.isJudged, number > 1, refresh == nil else { return .sendAgain(wasGood: held.isGood) }
        beginRest(nil, now)
        return .deliver(.neverAccepted)
    }

    mutating func accepted(_ number: UInt64) {
        guard let held, held.number == number else { return }
        if !held.isJudged { failures = 0 }
        self.held?.isJudged = true
        self.held?.isGood = true
        self.held?.isRefused = false
    }

    private mutating func beginRefresh() -> UInt64 {
        lastRefresh += 1
        refresh = Refresh(number: lastRefresh)
        return lastRefresh
    }

    /// Notes that a refresh succeeded, perhaps one that nobody waits for. Returns the waiters, and what they get.
    mutating func refreshed(
        _ credential: Credential, lifetime: Int64?, chance: UInt64, at now: HTTP.Instant
    ) -> (waiters: [Waiter], held: Held) {
        rest = nil
        // A first credential that was refreshed is as unknown as a later one.
        lastNumber = max(lastNumber, 1)
        let held = hold(credential, lifetime: lifetime, chance: chance, at: now)
        graceEnd = now.advanced(by: Self.shortestRest)
        return (endRefresh(), held)
    }

    /// Notes that refresh `number` failed. Returns the waiters.
    mutating func failed(
        _ error: any Error, _ number: UInt64, askedNobody: Bool = false, at now: HTTP.Instant
    ) -> [Waiter] {
        guard refresh?.number == number else { return [] }
        if !askedNobody { beginRest(error, now) }
        return endRefresh()
    }

    /// Removes a waiter.
    mutating func left(_ waiter: UInt64) {
        refresh?.waiters[waiter] = nil
    }

    private mutating func endRefresh() -> [Waiter] {
        defer { refresh = nil }
        return refresh.map { Array($0.waiters.values) } ?? []
    }

    @discardableResult
    private mutating func hold(
        _ credential: Credential, lifetime: Int64?, chance: UInt64, at now: HTTP.Instant
    ) -> Held {
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
        return new
    }

    private func isResting(_ now: HTTP.Instant) -> Bool { rest.map { now < $0.until } ?? false }

    private mutating func beginRest(_ error: (any Error)?, _ now: HTTP.Instant) {
        let pause = min(Self.shortestRest << min(failures, 10), Self.longestRest)
        failures += 1
        rest = Rest(error: error, until: now.advanced(by: pause))
    }

    private static var longestMargin: Int64 { 60_000_000_000 }
    private static var shortestRest: Int64 { 1_000_000_000 }
    private static var longestRest: Int64 { 60_000_000_000 }
}

/// What to do with a request whose credential was refused.
enum CredentialRefusal: Equatable {
    /// There is a newer credential, which the request has not tried.
    case sendWithNewer
    /// Send it again after a refresh. `wasGood`: the credential was accepted before, so it has expired.
    case sendAgain(wasGood: Bool)
    /// There is nothing better, for this reason.
    case deliver(NetworkError.RefreshRefusal)
}
