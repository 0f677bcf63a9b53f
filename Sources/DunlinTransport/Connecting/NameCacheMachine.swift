internal import DunlinTypes

/// The outcome of a look-up.
enum NameAnswer: Sendable {
    case addresses([HTTP.SocketAddress])
    case noSuchName(any Error)
    case failed(any Error)
    /// It took too long; there is no answer.
    case ranOut
}

/// Decides how long the addresses of names are kept, who waits for an answer, and when to ask again.
///
/// Rules:
/// 1. A name is looked up once for all who want it at the same time. A waiter that leaves does not affect the others.
///    When the last one leaves, the look-up is cancelled, so that later callers do not inherit one that hangs.
/// 2. Addresses are kept for their time to live. The first use in the last fifth of it also starts a new look-up; if it
///    fails, the addresses stay until their end.
/// 3. "No such name" is kept for a shorter time. No other failure is: it may not recur.
/// 4. Beyond the capacity, the least recently requested name is forgotten.
/// 5. A flush forgets all addresses and look-ups: current waiters get their answer, but it is not kept, and later
///    callers do not share it.
/// 6. A look-up that exceeded its limit is begun again for the remaining waiters.
/// 7. The machine reads no clock and asks nobody; it returns what to do.
struct NameCacheMachine<Waiter> {
    struct Limits: Sendable {
        /// How long addresses are kept, in nanoseconds; zero keeps nothing.
        var timeToLive: Int64 = 60_000_000_000
        var negativeTimeToLive: Int64 = 5_000_000_000
        var capacity = 1024
    }

    struct Name: Hashable, Sendable {
        var host: String
        var port: UInt16
    }

    enum AskAction {
        case answer(NameAnswer)
        /// The answer, and a look-up to begin that nobody waits for.
        case answerAndRefresh(NameAnswer, lookUp: UInt64)
        /// The name is being looked up; wait.
        case wait(Waiter, Position)
        /// Look the name up, and wait with the others.
        case lookUp(Waiter, Position)
        case refuse
    }

    /// The position of a waiter.
    struct Position: Equatable, Sendable {
        let lookUp: UInt64
        let number: UInt64
    }

    enum EndAction {
        case deliver([Waiter])
        /// There is no answer: look the name up again, with the same number.
        case again
    }

    private struct Entry {
        var answer: NameAnswer
        let refreshAt: HTTP.Instant
        let until: HTTP.Instant
        var isRefreshing = false
    }

    private struct LookUp {
        let name: Name
        let isRefresh: Bool
        var waiters: [(number: UInt64, waiter: Waiter)] = []
    }

    private let limits: Limits
    private var entries: RecentValues<Name, Entry>
    private var lookUps: [UInt64: LookUp] = [:]
    /// The look-up that a new caller shares.
    private var current: [Name: UInt64] = [:]
    private var lastNumber: UInt64 = 0
    private var isClosed = false

    init(limits: Limits) {
        self.limits = limits
        entries = RecentValues(limit: limits.capacity)
    }

    var count: Int { entries.count }
    var lookUpCount: Int { lookUps.count }

    mutating func ask(_ name: Name, at now: HTTP.Instant, _ waiter: () -> Waiter) -> AskAction {
        if isClosed { return .refuse }
        if let known = recall(name, at: now) { return known }
        let isUnderway = current[name] != nil
        let lookUp = current[name] ?? begin(name, isRefresh: false)
        let position = Position(lookUp: lookUp, number: next())
        let waiter = waiter()
        lookUps[lookUp]?.waiters.append((position.number, waiter))
        return isUnderway ? .wait(waiter, position) : .lookUp(waiter, position)
    }

    /// The answer that is kept and still valid; nil if there is none.
    private mutating func recall(_ name: Name, at now: HTTP.Instant) -> AskAction? {
        guard let entry = entries.use(name) else { return nil }
        guard now < entry.until else {
            entries.remove(name)
            return nil
        }
        let isDue = now >= entry.refreshAt && !entry.isRefreshing
        if isDue { entries.change(name) { $0.isRefreshing = true } }
        guard isDue, current[name] == nil else { return .answer(entry.answer) }
        return .answerAndRefresh(entry.answer, lookUp: begin(name, isRefresh: true))
    }

    /// Removes a waiter. Returns true if the look-up must be cancelled, too.
    mutating func leave(_ position: Position) -> Bool {
        lookUps[position.lookUp]?.waiters.removeAll { $0.number == position.number }
        guard let lookUp = lookUps[position.lookUp], !lookUp.isRefresh, lookUp.waiters.isEmpty else { return false }
        end(position.lookUp)
        return true
    }

    /// Notes the end of a look-up; no effect if it was cancelled.
    mutating func ended(_ number: UInt64, _ answer: NameAnswer, at now: HTTP.Instant) -> EndAction {
        guard let lookUp = lookUps[number] else { return .deliver([]) }
        if case .ranOut = answer, !lookUp.waiters.isEmpty { return .again }
        if current[lookUp.name] == number { keep(answer, for: lookUp.name, at: now) }
        end(number)
        return .deliver(lookUp.waiters.map(\.waiter))
    }

    mutating func flush() {
        entries.removeAll()
        current.removeAll()
    }

    /// Closes. Returns the waiters: nobody is asked any more.
    mutating func close() -> [Waiter] {
        isClosed = true
        defer { lookUps.removeAll() }
        flush()
        return lookUps.values.flatMap { $0.waiters.map(\.waiter) }
    }
}

extension NameCacheMachine {
    private mutating func next() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    private mutating func begin(_ name: Name, isRefresh: Bool) -> UInt64 {
        let number = next()
        lookUps[number] = LookUp(name: name, isRefresh: isRefresh)
        current[name] = number
        return number
    }

    private mutating func end(_ number: UInt64) {
        guard let lookUp = lookUps.removeValue(forKey: number) else { return }
        if current[lookUp.name] == number { current[lookUp.name] = nil }
    }

    private mutating func keep(_ answer: NameAnswer, for name: Name, at now: HTTP.Instant) {
        let life: Int64
        switch answer {
        case .addresses: life = limits.timeToLive
        case .noSuchName: life = limits.negativeTimeToLive
        case .failed, .ranOut: return
        }
        entries.remove(name)
        guard life > 0 else { return }
        let until = now.advanced(by: life)
        var refreshAt = until
        if case .addresses = answer { refreshAt = now.advanced(by: life - life / 5) }
        entries.keep(Entry(answer: answer, refreshAt: refreshAt, until: until), for: name)
    }
}
