internal import DunlinReactor
internal import DunlinSemantics
internal import Synchronization

/// What of a cache is on a disk. Nothing of it fails: what cannot be read is not there, what cannot be written is not
/// stored, and each reason is told once.
///
/// Methods that are named for what they do with files wait for disks, and run on disk threads. What is stored under a
/// key is changed under a lock that all processes share, and read without one: a file is replaced in one step.
final class DiskLevel: Sendable {
    private enum Readiness {
        case unknown, ready, refused
    }

    private struct State {
        var index: DiskIndex
        var readiness = Readiness.unknown
        var told: Set<CacheTrouble.Kind> = []
        var writeFailures = 0
        var damages = 0
        /// What should have been removed and could not be: it is not there any more for this process.
        var banned: Set<CacheName> = []
        var isClosed = false
        /// When that began which somebody waits for, by the order in which it did.
        var waited: [UInt64: MonotonicTime] = [:]
        var lastWaited: UInt64 = 0
        var background = 0
        var waiters: [UnsafeContinuation<Void, Never>] = []
    }

    let folder: CacheFolder
    let threads: DiskThreads
    let rules: CacheRules
    /// Nil if the rules hash without one.
    private let salt: CacheSalt?
    private let report: @Sendable (CacheTrouble) -> Void
    private let state: Mutex<State>

    init(
        _ folder: CacheFolder, capacity: Int, rules: CacheRules, salt: CacheSalt?, threads: DiskThreads,
        report: @escaping @Sendable (CacheTrouble) -> Void
    ) {
        (self.folder, self.rules, self.salt, self.threads, self.report) = (folder, rules, salt, threads, report)
        state = Mutex(State(index: DiskIndex(capacity: capacity)))
    }

    // MARK: - State

    /// Whether nothing is stored here, for good.
    var isRefused: Bool { state.withLock { $0.readiness == .refused || $0.isClosed } }

    /// Whether the folder can be used. It is made if it is not there.
    func prepare(again: Bool = false) -> Bool {
        switch state.withLock({ again && $0.readiness == .ready ? .unknown : $0.readiness }) {
        case .ready: return true
        case .refused: return false
        case .unknown: break
        }
        do throws(Errno) {
            let fault = try folder.prepare()
            if let fault { tell(.foreign(fault)) } else { shareSalt() }
            state.withLock { $0.readiness = fault == nil ? .ready : .refused }
            return fault == nil
        } catch {
            tell(.folder(error))
            return false
        }
    }

    private func shareSalt() {
        guard let salt else { return }
        // Without one in the folder this process has its own, and secrets of others are not found.
        do throws(Errno) { salt.bytes = try folder.salt(orElse: salt.bytes) } catch {}
    }

    var isReady: Bool { state.withLock { $0.readiness == .ready } }

    func tell(_ kind: CacheTrouble.Kind) {
        let isNew = state.withLock { state in
            switch kind {
            case .writing: state.writeFailures += 1
            case .damage: state.damages += 1
            default: break
            }
            return state.told.insert(kind).inserted
        }
        if isNew { report(CacheTrouble(kind: kind, folder: folder.path)) }
    }

    var figures: CacheStore.Figures.Disk {
        state.withLock { state in
            CacheStore.Figures.Disk(
                bytes: state.index.machine.cost, keys: state.index.machine.count,
                evictions: state.index.machine.evictions, writeFailures: state.writeFailures, damages: state.damages)
        }
    }

    func isBanned(_ name: CacheName) -> Bool { state.withLock { $0.banned.contains(name) } }

    /// A name that could not be removed. So many of them are too many.
    func ban(_ name: CacheName) {
        state.withLock { state in
            state.banned.insert(name)
            if state.banned.count > 10_000 { state.readiness = .refused }
        }
    }

    // MARK: - The index

    /// Returns what is to be thrown out.
    func stored(_ name: CacheName, cost: Int, isWritten: Bool) -> [CacheName] {
        state.withLock { state in
            if isWritten { state.banned.remove(name) }
            return state.index.put(name, cost: cost, isWritten: isWritten)
        }
    }

    func removed(_ name: CacheName) {
        state.withLock { state in
            state.index.remove(name)
            state.banned.remove(name)
        }
    }

    func removedAll() {
        state.withLock { $0.index.removeAll() }
    }

    /// Whether it is to be marked as used.
    func use(_ name: CacheName) -> Bool { state.withLock { $0.index.use(name) } }
    func isUsed(_ name: CacheName) -> Bool { state.withLock { $0.index.machine.isUsed(name) } }

    var isReadingDue: Bool { state.withLock { $0.index.isReadingDue } }

    /// It was used in memory.
    func noteUse(_ name: CacheName) {
        if use(name) { background { self.mark(name) } }
    }

    // MARK: - Waiting

    /// The outcome of `work` on a disk thread. Nil if that takes too long or the call is over; the work is done all the
    /// same, and `late` gets its outcome.
    ///
    /// While something takes too long nothing else is begun here, unless it has to be done `always`, and then nobody
    /// waits for it: a disk that hangs costs the requests meanwhile nothing.
    func run<Value: Sendable>(
        within wait: StoreWait?, always: Bool = false, late: @escaping @Sendable (Value) -> Void = { _ in },
        _ work: @escaping @Sendable () -> Value
    ) async -> Value? {
        guard let wait else { return await threads.run(work) }
        let begun = wait.loop.now()
        let (number, isStuck) = begin(at: begun)
        if isStuck, !always {
            ended(number)
            return nil
        }
        let waiter = ValueWaiter<Value>(on: wait.loop)
        threads.start {
            let value = work()
            self.ended(number)
            if !waiter.deliver(value) { late(value) }
        }
        if isStuck {
            waiter.cancel()
            return nil
        }
        let value = await wait.value(of: waiter, until: wait.end)
        if value == nil, wait.loop.now() >= begun.advanced(by: StoreWait.limit.clampedNanoseconds) { tell(.slowness) }
        return value
    }

    /// Whether something that began before takes too long already.
    private func begin(at now: MonotonicTime) -> (number: UInt64, isStuck: Bool) {
        state.withLock { state in
            let isStuck = state.waited.values.contains { $0.advanced(by: StoreWait.limit.clampedNanoseconds) <= now }
            state.lastWaited += 1
            state.waited[state.lastWaited] = now
            return (state.lastWaited, isStuck)
        }
    }

    private func ended(_ number: UInt64) {
        state.withLock { state in _ = state.waited.removeValue(forKey: number) }
    }

    // MARK: - In the background

    /// Does work that nobody waits for but `close`.
    func background(_ work: @escaping @Sendable () -> Void) {
        let mayBegin = state.withLock { state in
            if state.isClosed { return false }
            state.background += 1
            return true
        }
        guard mayBegin else { return }
        threads.start {
            work()
            let waiters = self.state.withLock { state in
                state.background -= 1
                defer { if state.background == 0 { state.waiters = [] } }
                return state.background == 0 ? state.waiters : []
            }
            for waiter in waiters { waiter.resume() }
        }
    }

    /// Reads the folder, removes what belongs to nobody any more, and throws out what is too much.
    func readFolder(isDueOnly: Bool = false) {
        let begins = state.withLock { state in
            (!isDueOnly || state.index.isReadingDue) && state.index.beginReading()
        }
        guard begins else { return }
        guard prepare() else {
            _ = state.withLock { $0.index.endReading(nil) }
            return
        }
        let sweep = CacheSweep(self, now: Int(WallClock.seconds))
        let found = sweep.run { self.state.withLock { $0.isClosed } }
        throwOut(state.withLock { $0.index.endReading(found) })
    }

    /// Returns when nothing is done in the background any more; nothing is stored or found from then on.
    func close() async {
        state.withLock { $0.isClosed = true }
        await finished()
    }

    /// Returns when nothing is done in the background.
    func finished() async {
        await withUnsafeContinuation { continuation in
            let isDone = state.withLock { state in
                if state.background > 0 { state.waiters.append(continuation) }
                return state.background == 0
            }
            if isDone { continuation.resume() }
        }
    }
}
