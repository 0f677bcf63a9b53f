internal import DunlinTypes

/// What a look-up came to.
enum NameAnswer: Sendable {
    case addresses([HTTP.SocketAddress])
    case noSuchName(any Error)
    case failed(any Error)
    /// It took too long; there is no answer.
    case ranOut
}

/// What is known of names, for how long, who waits for an answer, and when to ask again.
///
/// Rules:
/// 1. A name is looked up once for all who want it meanwhile. Whoever leaves takes nothing from the others; when the
///    last one has left, the look-up is given up, so that one that hangs is not inherited by those who come later.
/// 2. Addresses are kept for their time to live. Asked for in the last fifth of it, they are handed out and looked up
///    anew behind that use, once: should this fail, they stay until their end.
/// 3. "No such name" is kept for a shorter time. No other failure is: it may be gone with the next question.
/// 4. Beyond the capacity, what was asked for longest ago is forgotten.
/// 5. A flush forgets what is known and whom is being asked: those who wait get their answer, it is not kept, and
///    whoever comes later does not share it.
/// 6. A look-up that has run out of its time is begun afresh for those who still wait.
/// 7. Never reads a clock, asks nobody: the answer says what to do.
struct NameCacheMachine<Waiter> {
    struct Limits: Sendable {
        /// Nanoseconds; zero remembers nothing.
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
        /// The answer, and a look-up to begin behind it.
        case answerAndRefresh(NameAnswer, lookUp: UInt64)
        /// Somebody looks the name up already.
        case wait(Waiter, Position)
        /// Look it up, and wait with the others.
        case lookUp(Waiter, Position)
        case refuse
    }

    /// A waiter's place.
    struct Position: Equatable, Sendable {
        let lookUp: UInt64
        let number: UInt64
    }

    enum EndAction {
        case deliver([Waiter])
        /// Nobody has an answer: look the name up again, under the same number.
        case again
    }

    private struct Entry {
        var answer: NameAnswer
        let refreshAt: MonotonicTime
        let until: MonotonicTime
        var lastUse: UInt64
        var isRefreshing = false
    }

    private struct LookUp {
        let name: Name
        let isRefresh: Bool
        var waiters: [(number: UInt64, waiter: Waiter)] = []
    }

    private let limits: Limits
    private var entries: [Name: Entry] = [:]
    private var lookUps: [UInt64: LookUp] = [:]
    /// The look-up that whoever asks now shares.
    private var current: [Name: UInt64] = [:]
    private var lastNumber: UInt64 = 0
    private var isClosed = false

    init(limits: Limits) {
        self.limits = limits
    }

    var count: Int { entries.count }
    var lookUpCount: Int { lookUps.count }

    mutating func ask(_ name: Name, at now: MonotonicTime, _ waiter: () -> Waiter) -> AskAction {
        if isClosed { return .refuse }
        if let known = recall(name, at: now) { return known }
        let isUnderway = current[name] != nil
        let lookUp = current[name] ?? begin(name, isRefresh: false)
        let position = Position(lookUp: lookUp, number: next())
        let waiter = waiter()
        lookUps[lookUp]?.waiters.append((position.number, waiter))
        return isUnderway ? .wait(waiter, position) : .lookUp(waiter, position)
    }

    /// What is remembered and still good.
    private mutating func recall(_ name: Name, at now: MonotonicTime) -> AskAction? {
        guard var entry = entries[name] else { return nil }
        guard now < entry.until else {
            entries[name] = nil
            return nil
        }
        let isDue = now >= entry.refreshAt && !entry.isRefreshing
        entry.lastUse = next()
        if isDue { entry.isRefreshing = true }
        entries[name] = entry
        guard isDue, current[name] == nil else { return .answer(entry.answer) }
        return .answerAndRefresh(entry.answer, lookUp: begin(name, isRefresh: true))
    }

    /// The waiter gave up; true if the look-up is to be given up with it.
    mutating func leave(_ position: Position) -> Bool {
        lookUps[position.lookUp]?.waiters.removeAll { $0.number == position.number }
        guard let lookUp = lookUps[position.lookUp], !lookUp.isRefresh, lookUp.waiters.isEmpty else { return false }
        end(position.lookUp)
        return true
    }

    /// A look-up has ended; one that was given up is news to nobody.
    mutating func ended(_ number: UInt64, _ answer: NameAnswer, at now: MonotonicTime) -> EndAction {
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

    /// Those who wait are given back: nobody is asked any more.
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

    private mutating func keep(_ answer: NameAnswer, for name: Name, at now: MonotonicTime) {
        let life: Int64
        switch answer {
        case .addresses: life = limits.timeToLive
        case .noSuchName: life = limits.negativeTimeToLive
        case .failed, .ranOut: return
        }
        entries[name] = nil
        guard life > 0, limits.capacity > 0 else { return }
        makeRoom()
        let until = now.advanced(by: life)
        var refreshAt = until
        if case .addresses = answer { refreshAt = now.advanced(by: life - life / 5) }
        entries[name] = Entry(answer: answer, refreshAt: refreshAt, until: until, lastUse: next())
    }

    /// A look at every entry, which costs little beside the look-up that made it necessary.
    private mutating func makeRoom() {
        guard entries.count >= limits.capacity else { return }
        guard let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
        entries[oldest.key] = nil
    }
}
