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
        var background = 0
        var waiters: [UnsafeContinuation<Void, Never>] = []
    }

    let folder: CacheFolder
    let threads: DiskThreads
    let rules: CacheRules
    private let report: @Sendable (CacheTrouble) -> Void
    private let state: Mutex<State>

    init(
        _ folder: CacheFolder, capacity: Int, rules: CacheRules, threads: DiskThreads,
        report: @escaping @Sendable (CacheTrouble) -> Void
    ) {
        (self.folder, self.rules, self.threads, self.report) = (folder, rules, threads, report)
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
            if let fault { tell(.foreign(fault)) }
            state.withLock { $0.readiness = fault == nil ? .ready : .refused }
            return fault == nil
        } catch {
            tell(.folder(error))
            return false
        }
    }

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
