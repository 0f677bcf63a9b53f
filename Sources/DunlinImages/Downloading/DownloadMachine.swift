internal import Dunlin

/// Records who waits for which download, and which downloads run.
///
/// Waiters for the same image share a download. It waits for one of `maximum` slots, by the highest priority of its
/// waiters, and holds its slot from its start until the driver reports its end, even after it was stopped: at most
/// `maximum` run at any time. A download without waiters is stopped, unless it is to be finished for the cache; one
/// that has not begun is always forgotten and never sent.
///
/// A stopped download answers nobody. Another one for the same image may be requested at once and begins when the
/// stopped one has ended: it can continue where that stopped, and the two never run at the same time.
///
/// A download that has begun may be retired: it continues for its waiters, but nobody joins it any more. Another one
/// for the same image does not depend on it and runs in parallel.
///
/// Code within a download, such as a filter, may ask too, and the download keeps its slot meanwhile. So that none waits
/// for itself, that code waits for nothing that is done for others: its download is its alone, and begins without a
/// slot. The slots limit only the other downloads.
///
/// Each waiter has its own time limit, and a download has none: the rules are in `DownloadMachine+Time.swift`.
struct DownloadMachine<Identity: Hashable> {
    enum Action: Equatable {
        case start(UInt64)
        case stop(UInt64)
    }

    enum State {
        case queued
        /// Its turn has come, but a stopped download for the same image has not ended.
        case held
        case running
        case stopped
    }

    struct Download {
        let identity: Identity
        var state = State.queued
        /// The waiters, in order of arrival.
        var waiters: [UInt64] = []
        /// When the time limits began.
        var begun: HTTP.Instant?
        var hasSlot = false
        /// Whether everything that can be late has arrived.
        var hasArrived = false
        /// The last waiter of a download that continues only for the cache.
        var last: Waiter?
    }

    struct Waiter {
        let download: UInt64
        var priority: Int
        let limit: HTTPSession.WaitLimit
        /// When its time began: with the download, or when it joined.
        var start: HTTP.Instant?
        /// When its time is up.
        var end = HTTP.Instant.never
    }

    private let maximum: Int
    let finishesForCache: Bool
    private var queue: DownloadQueue
    var downloads: [UInt64: Download] = [:]
    /// The download that can be joined, for each identity.
    private var joinable: [Identity: UInt64] = [:]
    /// The stopped downloads that have not ended, for each identity: their number, and the download that waits for
    /// their end.
    private var stopping: [Identity: (count: Int, held: UInt64?)] = [:]
    var waiters: [UInt64: Waiter] = [:]
    /// A time before which nobody's time is up.
    var look = HTTP.Instant.never
    private var last: UInt64 = 0
    /// The number of downloads that have begun and not ended, and of those that hold a slot.
    private(set) var active = 0
    private var slots = 0

    init(maximum: Int, order: DownloadQueue.Order, finishesForCache: Bool = false) {
        self.maximum = max(1, maximum)
        self.finishesForCache = finishesForCache
        queue = DownloadQueue(order)
    }

    var waiting: Int { waiters.count }
    /// The number of downloads that have not begun.
    var queued: Int { downloads.count - active }
    var isIdle: Bool {
        downloads.isEmpty && joinable.isEmpty && stopping.isEmpty && waiters.isEmpty && active == 0 && slots == 0
            && queue.count == 0
    }

    /// Adds a waiter to an existing download; nil if there is none.
    mutating func join(
        _ waiter: UInt64, _ identity: Identity, _ priority: Int, _ limit: HTTPSession.WaitLimit, at now: HTTP.Instant
    ) -> UInt64? {
        guard let id = joinable[identity] else { return nil }
        add(waiter, Waiter(download: id, priority: priority, limit: limit))
        if downloads[id]?.begun != nil { begin(waiter, at: now) }
        return id
    }

    /// Begins a download with its first waiter. One that is its alone waits for no slot, and nobody joins it.
    mutating func begin(
        _ waiter: UInt64, _ identity: Identity, _ priority: Int, _ limit: HTTPSession.WaitLimit, isAlone: Bool = false
    ) -> (id: UInt64, actions: [Action]) {
        if downloads.isEmpty { look = .never }
        last += 1
        let id = last
        downloads[id] = Download(identity: identity)
        let waiting = Waiter(download: id, priority: priority, limit: limit)
        if isAlone {
            let action = start(id)
            add(waiter, waiting)
            return (id, [action])
        }
        joinable[identity] = id
        queue.add(id, priority)
        add(waiter, waiting)
        return (id, startMore())
    }

    /// Removes a waiter; no effect if it was answered. Returns the download that it left.
    mutating func leave(_ waiter: UInt64) -> (download: UInt64?, actions: [Action]) {
        guard let left = waiters.removeValue(forKey: waiter) else { return (nil, []) }
        let id = left.download
        downloads[id]?.waiters.removeAll { $0 == waiter }
        guard let download = downloads[id], download.waiters.isEmpty else {
            update(id)
            return (id, [])
        }
        switch download.state {
        case .queued, .held:
            forget(id, download)
            return (id, [])
        case .running where finishesForCache:
            downloads[id]?.last = left
            return (id, [])
        case .running: return (id, [stop(id, download)])
        case .stopped: return (id, [])
        }
    }

    mutating func setPriority(_ priority: Int, of waiter: UInt64) {
        guard let id = waiters[waiter]?.download else { return }
        waiters[waiter]?.priority = priority
        update(id)
    }

    /// The highest priority of a download's waiters; nil if there are none.
    func priority(of download: UInt64) -> Int? { waiters(of: download).compactMap { waiters[$0]?.priority }.max() }

    /// Whether a download has not ended.
    func knows(_ download: UInt64) -> Bool { downloads[download] != nil }

    /// The waiters of a download, in order of arrival.
    func waiters(of download: UInt64) -> [UInt64] { downloads[download]?.waiters ?? [] }

    /// Retires a download: nobody joins it any more, and its waiters stay. Returns false, without any effect, for one
    /// that has not begun: its result will be as new as another's.
    mutating func retire(_ id: UInt64) -> Bool {
        guard let download = downloads[id], download.state == .running || download.state == .stopped else {
            return false
        }
        if joinable[download.identity] == id { joinable[download.identity] = nil }
        return true
    }

    /// Ends a download that was started, with any outcome. Returns the waiters to answer, in order of arrival.
    mutating func end(_ id: UInt64) -> (answered: [UInt64], actions: [Action]) {
        guard let download = downloads[id], download.state == .running || download.state == .stopped else {
            return ([], [])
        }
        downloads[id] = nil
        active -= 1
        if download.hasSlot { slots -= 1 }
        for waiter in download.waiters { waiters[waiter] = nil }
        if joinable[download.identity] == id { joinable[download.identity] = nil }
        if download.state == .stopped { endStop(download.identity) }
        return (download.waiters, startMore())
    }

    /// Stops everything. Returns all waiters, in order of their numbers.
    mutating func close() -> (answered: [UInt64], actions: [Action]) {
        let answered = waiters.keys.sorted()
        waiters = [:]
        var actions: [Action] = []
        for (id, var download) in downloads.sorted(by: { $0.key < $1.key }) {
            download.waiters = []
            downloads[id] = download
            switch download.state {
            case .queued, .held: forget(id, download)
            case .running: actions.append(stop(id, download))
            case .stopped: break
            }
        }
        return (answered, actions)
    }

    private mutating func add(_ number: UInt64, _ waiter: Waiter) {
        let id = waiter.download
        downloads[id]?.waiters.append(number)
        downloads[id]?.last = nil
        waiters[number] = waiter
        bound(number)
        update(id)
    }

    /// Updates a download's priority to the highest of its waiters'.
    private mutating func update(_ id: UInt64) {
        guard let download = downloads[id], case .queued = download.state else { return }
        guard let highest = priority(of: id) else { return }
        queue.change(id, to: highest)
    }

    private mutating func forget(_ id: UInt64, _ download: Download) {
        downloads[id] = nil
        if joinable[download.identity] == id { joinable[download.identity] = nil }
        if stopping[download.identity]?.held == id { stopping[download.identity]?.held = nil }
        _ = queue.remove(id)
    }

    mutating func stop(_ id: UInt64, _ download: Download) -> Action {
        downloads[id]?.state = .stopped
        if joinable[download.identity] == id { joinable[download.identity] = nil }
        stopping[download.identity, default: (0, nil)].count += 1
        return .stop(id)
    }

    /// Ends a stop. A download that was held for it comes next.
    private mutating func endStop(_ identity: Identity) {
        guard var state = stopping[identity] else { return }
        state.count -= 1
        stopping[identity] = state.count > 0 ? state : nil
        guard state.count == 0, let held = state.held, let download = downloads[held] else { return }
        downloads[held]?.state = .queued
        queue.putBack(held, download.waiters.compactMap { waiters[$0]?.priority }.max() ?? 0)
    }

    private mutating func startMore() -> [Action] {
        var actions: [Action] = []
        while slots < maximum, let id = queue.next() {
            guard let identity = downloads[id]?.identity else { continue }
            if stopping[identity] != nil {
                downloads[id]?.state = .held
                stopping[identity]?.held = id
                continue
            }
            downloads[id]?.hasSlot = true
            slots += 1
            actions.append(start(id))
        }
        return actions
    }

    private mutating func start(_ id: UInt64) -> Action {
        downloads[id]?.state = .running
        active += 1
        return .start(id)
    }
}

extension DownloadMachine: Sendable where Identity: Sendable {}
extension DownloadMachine.Download: Sendable where Identity: Sendable {}
extension DownloadMachine.Waiter: Sendable {}
