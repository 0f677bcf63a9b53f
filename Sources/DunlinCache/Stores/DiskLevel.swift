internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTypes
internal import Synchronization

/// The part of a cache that is on a disk. No call fails: what cannot be read is absent, what cannot be written is not
/// stored, and each reason is reported once.
///
/// Methods named for work with files wait for disks and run on disk threads. A key's responses are changed under a lock
/// that all processes share, and read without one, as files are replaced in one step.
///
/// A loop takes only the state's lock, which is held for moments. The index is used on disk threads, with many names in
/// batches.
final class DiskLevel: Sendable {
    private enum Readiness {
        case unknown, ready, refused
    }

    private struct State {
        var readiness = Readiness.unknown
        var reported: Set<CacheTrouble.Kind> = []
        var writeFailures = 0
        var damages = 0
        /// Names that should have been removed and could not be: absent for this process.
        var banned: Set<CacheName> = []
        var isClosed = false
        /// The start times of disk operations that somebody waits for, by their number.
        var waited: [UInt64: HTTP.Instant] = [:]
        var lastWaited: UInt64 = 0
        var background = 0
        var waiters: [UnsafeContinuation<Void, Never>] = []
        /// The lock's file, open; nil while somebody uses it.
        var lockFile: LockFile?
    }

    let folder: CacheFolder
    let threads: DiskThreads
    let rules: CacheRules
    /// The salt; nil if the rules hash without one.
    private let salt: CacheSalt?
    private let report: @Sendable (CacheTrouble) -> Void
    private let state = Mutex(State())
    private let index: Mutex<DiskIndex>
    /// The responses to write after their requests have ended.
    let queue = StoreQueue(capacity: CacheCapacity.mostPending)

    init(
        _ folder: CacheFolder, capacity: Int, rules: CacheRules, salt: CacheSalt?, threads: DiskThreads,
        report: @escaping @Sendable (CacheTrouble) -> Void
    ) {
        (self.folder, self.rules, self.salt, self.threads, self.report) = (folder, rules, salt, threads, report)
        index = Mutex(DiskIndex(capacity: capacity))
    }

    // MARK: - State

    /// Whether nothing is stored here, for good.
    var isRefused: Bool { state.withLock { $0.readiness == .refused || $0.isClosed } }

    /// Whether the folder can be used. Creates it if it is missing.
    func prepare(again: Bool = false) -> Bool {
        switch state.withLock({ again && $0.readiness == .ready ? .unknown : $0.readiness }) {
        case .ready: return true
        case .refused: return false
        case .unknown: break
        }
        do throws(Errno) {
            let fault = try folder.prepare()
            if let fault { tell(.ownedByOthers(fault)) } else { shareSalt() }
            state.withLock { $0.readiness = fault == nil ? .ready : .refused }
            return fault == nil
        } catch {
            tell(.folder(error))
            return false
        }
    }

    private func shareSalt() {
        guard let salt else { return }
        // Without a salt in the folder this process uses its own, and does not find others' secrets.
        do throws(Errno) { salt.bytes = try folder.salt(orElse: salt.bytes) } catch {}
    }

    var isReady: Bool { state.withLock { $0.readiness == .ready } }

    func tell(_ kind: CacheTrouble.Kind) {
        let isNew = state.withLock { state in
            switch kind {
            case .writing, .backlog: state.writeFailures += 1
            case .damage: state.damages += 1
            default: break
            }
            return state.reported.insert(kind).inserted
        }
        if isNew { report(CacheTrouble(kind: kind, folder: folder.path)) }
    }

    var figures: CacheStore.Figures.Disk {
        let failures = state.withLock { ($0.writeFailures, $0.damages) }
        let waiting = queue.waiting
        return index.withLock { index in
            CacheStore.Figures.Disk(
                bytes: index.machine.cost, keys: index.machine.count, evictions: index.machine.evictions,
                writeFailures: failures.0, damages: failures.1, waiting: waiting.count, waitingBytes: waiting.cost)
        }
    }

    func isBanned(_ name: CacheName) -> Bool { state.withLock { $0.banned.contains(name) } }

    /// Bans a name that could not be removed, up to a limit.
    func ban(_ name: CacheName) {
        state.withLock { state in
            state.banned.insert(name)
            if state.banned.count > 10_000 { state.readiness = .refused }
        }
    }

    // MARK: - The lock

    /// Locks a name, so that nobody else changes what is stored under it. Locks one after the other share an open file;
    /// simultaneous ones open a file each.
    func lock(_ name: CacheName) throws(Errno) -> FileLock {
        try folder.lock(name, by: state.withLock { $0.lockFile.take() }) { [weak self] file in self?.keep(file) }
    }

    private func keep(_ file: LockFile) {
        // The file that it replaces is closed outside the lock.
        _ = state.withLock { state in
            defer { state.lockFile = file }
            return state.lockFile
        }
    }

    // MARK: - The index

    func beginFinding(_ name: CacheName) -> DiskIndex.Stamp { index.withLock { $0.beginFinding(name) } }

    /// Notes that a name is there and was used. Returns the names to evict, whether to read the folder again, and
    /// whether to mark the file as used: all under one lock, because simultaneous lookups wait here for each other.
    func noteFound(
        _ name: CacheName, cost: Int, _ stamp: DiskIndex.Stamp
    ) -> (thrown: [CacheName], isReadingDue: Bool, isFirstUse: Bool) {
        index.withLock { index in
            let thrown = index.found(name, cost: cost, stamp)
            return (thrown, index.isReadingDue, index.use(name))
        }
    }

    func notFound(_ name: CacheName, _ stamp: DiskIndex.Stamp) {
        index.withLock { $0.notFound(name, stamp) }
    }

    /// Notes a name that was stored, under its lock, as `removed`. Returns the names to evict.
    func stored(_ name: CacheName, cost: Int) -> [CacheName] {
        state.withLock { state in _ = state.banned.remove(name) }
        return index.withLock { $0.stored(name, cost: cost) }
    }

    func removed(_ name: CacheName, wasThere: Bool = true) {
        state.withLock { state in _ = state.banned.remove(name) }
        index.withLock { $0.removed(name, wasThere: wasThere) }
    }

    func removedAll() {
        index.withLock { $0.removedAll() }
    }

    func isLeaving(_ name: CacheName) -> Bool { index.withLock { $0.isLeaving(name) } }
    func stays(_ name: CacheName) { index.withLock { $0.stays(name) } }

    /// Notes a use. Returns whether the file is to be marked as used.
    func use(_ name: CacheName) -> Bool { index.withLock { $0.use(name) } }
    func isUsed(_ name: CacheName) -> Bool { index.withLock { $0.machine.isUsed(name) } }

    var isReadingDue: Bool { index.withLock(\.isReadingDue) }

    /// Notes a use in memory.
    func noteUse(_ name: CacheName) {
        background { if self.use(name) { self.mark(name) } }
    }

    // MARK: - Waiting

    /// Runs `work` on a disk thread and returns its outcome; nil if that takes too long or the call is over. The work
    /// is still done then, and `late` gets its outcome. With `key`, it is done after everything that waits to be
    /// written for that key.
    ///
    /// While an operation takes too long no other is begun, except with `always`, and then nobody waits for it: so a
    /// disk that hangs does not delay requests.
    func run<Value: Sendable>(
        within wait: StoreWait?, always: Bool = false, behind key: CacheKey? = nil,
        late: @escaping @Sendable (Value) -> Void = { _ in }, _ work: @escaping @Sendable () -> Value
    ) async -> Value? {
        guard let wait else { return await run(behind: key, work) }
        let begun = wait.loop.now()
        let (number, isStuck) = begin(at: begun)
        if isStuck, !always {
            ended(number)
            return nil
        }
        let waiter = ValueWaiter<Value>(on: wait.loop)
        start(behind: key) {
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

    private func start(behind key: CacheKey?, _ work: @escaping DiskThreads.Work) {
        if let key, queue.follow(key, work) { return }
        threads.start(work)
    }

    private func run<Value: Sendable>(behind key: CacheKey?, _ work: @escaping @Sendable () -> Value) async -> Value {
        await threads.run(work) { start(behind: key, $0) }
    }

    /// Returns when everything that waits to be written now is written, or at the wait's deadline.
    func written(within wait: StoreWait?) async {
        guard let wait else { return await runBehindAll {} }
        let waiter = ValueWaiter<Void>(on: wait.loop)
        guard queue.follow({ _ = waiter.deliver(()) }) else { return }
        _ = await wait.value(of: waiter, until: wait.deadline)
    }

    /// Runs work once everything that waits to be written now is written. Returns its outcome.
    func runBehindAll<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await threads.run(work) { if !queue.follow($0) { threads.start($0) } }
    }

    /// Begins an operation. `isStuck`: whether an earlier one takes too long.
    private func begin(at now: HTTP.Instant) -> (number: UInt64, isStuck: Bool) {
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

    /// Runs work that only `close` waits for. Returns false, without running it, if that was called.
    @discardableResult
    func background(_ work: @escaping @Sendable () -> Void) -> Bool {
        let mayBegin = state.withLock { state in
            if state.isClosed { return false }
            state.background += 1
            return true
        }
        guard mayBegin else { return false }
        threads.start {
            work()
            let waiters = self.state.withLock { state in
                state.background -= 1
                defer { if state.background == 0 { state.waiters = [] } }
                return state.background == 0 ? state.waiters : []
            }
            for waiter in waiters { waiter.resume() }
        }
        return true
    }

    /// Reads the folder, removes files that are nobody's, and evicts what exceeds the capacity.
    func readFolder(isDueOnly: Bool = false) {
        let begins = index.withLock { (!isDueOnly || $0.isReadingDue) && $0.beginReading() }
        guard begins else { return }
        let known = index.withLock(\.machine)
        let found =
            prepare() ? CacheSweep(self, now: Int(WallClock.seconds), known: known).run { self.isClosed } : nil
        let thrown = found.map { read($0) } ?? []
        index.withLock { $0.endReading() }
        // Whoever opens the folder next evicts the rest.
        for name in thrown where !isClosed { removeAll(name, .thrownOut) }
    }

    private var isClosed: Bool { state.withLock(\.isClosed) }

    /// The number of names that are compared while the index is locked.
    private static var step: Int { 256 }

    /// Updates the index from the folder. Returns the names to evict.
    private func read(_ outcome: CacheSweep.Outcome) -> [CacheName] {
        let found = outcome.new
        let gone = index.withLock { Array($0.machine.names) }.filter { !outcome.there.contains($0) }
        for start in stride(from: 0, to: gone.count, by: Self.step) {
            index.withLock { $0.notRead(gone[start...].prefix(Self.step)) }
        }
        var thrown: [CacheName] = []
        for start in stride(from: 0, to: found.count, by: Self.step) {
            thrown += index.withLock { $0.read(found[start...].prefix(Self.step)) }
        }
        return thrown
    }

    /// Returns when everything that waited is written and no work is under way in the background; nothing is stored or
    /// found after that.
    func close() async {
        await runBehindAll {}
        state.withLock { $0.isClosed = true }
        await finished()
        _ = state.withLock { $0.lockFile.take() }
    }

    /// Returns when no work is under way in the background.
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
