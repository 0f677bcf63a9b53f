public import DunlinTypes

// Public, as it is asked for each request with a credential: what is not is neither inlined nor specialised elsewhere.

/// Decides which credential a request goes with, and when another is got.
///
/// Rules:
/// 1. There is one refresh at a time; whoever needs its result joins it, and gets just that, whatever else happens. It
///    goes on when all of those have left: what a server gave for an old credential must not be lost.
/// 2. Each credential has a number. A refusal counts for the credential that was sent: a request that was refused with
///    an older one than there is goes on with that, and nothing is refreshed.
/// 3. After a refresh that failed, and one whose credential is refused before it is accepted, there is a rest: a
///    second, twice as long each time, a minute at most. Until then requests fail with what the refresh failed with,
///    or go with what there is. A credential whose first verdict is good ends the doubling. A refresh that has asked
///    nobody, for want of a network or because it was ended, is followed by none. Every rest counts, and two may follow
///    one refresh: it was given up, and what it brought later was refused. Who asks in a rest makes none longer. A
///    request that fails so has had an attempt of its retry policy all the same; policies are not known here.
/// 4. Refresh ahead begins in the last tenth of a credential's lifetime, at most a minute before its end, and earlier
///    by as much again as chance says: many processes that began together do not ask together.
/// 5. A credential that has expired is used all the same for a second after it was got: a server that gives such ones
///    is not asked for more of them without end.
public struct RefreshMachine<Credential, Waiter> {
    public struct Held {
        public var credential: Credential
        public var number: UInt64
        public var refreshesFrom = HTTP.Instant.never
        public var expires = HTTP.Instant.never
        public var isRefused = false
        /// Whether a server has said yet what it thinks of it, and whether it has ever accepted it.
        public var isJudged = false
        public var isGood = false
    }

    public enum Answer {
        case use(Held)
        /// The credential is good, and the caller has to begin a refresh of this number.
        case useAndRefresh(Held, UInt64)
        /// `begins`: the number of the refresh that the caller waits for and has to begin, unless somebody has.
        case wait(UInt64, begins: UInt64?)
        case fail(any Error)
    }

    private struct Refresh {
        let number: UInt64
        var waiters: [UInt64: Waiter] = [:]
    }

    private struct Rest {
        /// What the last refresh failed with; nil if its credential was refused.
        let error: (any Error)?
        let until: HTTP.Instant
    }

    public private(set) var held: Held?
    private var refresh: Refresh?
    private var rest: Rest?
    private var failures = 0
    /// Until when a credential that has expired is used.
    private var graceEnd = HTTP.Instant(nanoseconds: 0)
    private var lastNumber: UInt64 = 0
    private var lastWaiter: UInt64 = 0
    private var lastRefresh: UInt64 = 0

    public init(_ credential: Credential? = nil, lifetime: Int64? = nil, chance: UInt64 = 0, at now: HTTP.Instant) {
        guard let credential else { return }
        hold(credential, lifetime: lifetime, chance: chance, at: now)
    }

    /// What a request is to go with.
    public mutating func ask(_ waiter: Waiter, at now: HTTP.Instant) -> Answer {
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
        }
        lastWaiter += 1
        refresh?.waiters[lastWaiter] = waiter
        return .wait(lastWaiter, begins: begins)
    }

    /// A request that went with credential `number` was refused.
    public mutating func refused(_ number: UInt64, at now: HTTP.Instant) -> CredentialRefusal {
        guard let held, held.number == number else { return held == nil ? .deliver(.resting) : .sendWithNewer }
        if refresh == nil, isResting(now) { return .deliver(.resting) }
        self.held?.isRefused = true
        self.held?.isJudged = true
        // The first one may be of any age.
        guard !held.isJudged, number > 1, refresh == nil else { return .sendAgain(wasGood: held.isGood) }
        beginRest(nil, now)
        return .deliver(.neverAccepted)
    }

    public mutating func accepted(_ number: UInt64) {
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

    /// A refresh succeeded, perhaps one that nobody waited for any more. Returns those who wait, and what they get.
    public mutating func refreshed(
        _ credential: Credential, lifetime: Int64?, chance: UInt64, at now: HTTP.Instant
    ) -> (waiters: [Waiter], held: Held) {
        rest = nil
        // A first credential that was got is no better known than a later one.
        lastNumber = max(lastNumber, 1)
        let held = hold(credential, lifetime: lifetime, chance: chance, at: now)
        graceEnd = now.advanced(by: Self.shortestRest)
        return (endRefresh(), held)
    }

    /// Refresh `number` failed. Returns those who wait.
    public mutating func failed(
        _ error: any Error, _ number: UInt64, askedNobody: Bool = false, at now: HTTP.Instant
    ) -> [Waiter] {
        guard refresh?.number == number else { return [] }
        if !askedNobody { beginRest(error, now) }
        return endRefresh()
    }

    /// A waiter gives up.
    public mutating func left(_ waiter: UInt64) {
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

/// What is to become of a request whose credential was refused.
public enum CredentialRefusal: Equatable {
    /// There is a newer credential, which the request has not been tried with.
    case sendWithNewer
    /// It is to be sent again after a refresh. `wasGood`: others were accepted with the credential, so it has expired.
    case sendAgain(wasGood: Bool)
    /// Nothing better can be had, for this reason.
    case deliver(NetworkError.RefreshRefusal)
}
