internal import Dunlin

/// Who waits for which download, and which downloads run.
///
/// Waiters for the same thing share a download. It waits for one of `maximum` slots, by the highest priority of its
/// waiters, and holds its slot from its start until the driver says that it has ended, also after it was stopped: no
/// more than `maximum` run at any time. A download without waiters is stopped, and one that had not begun is forgotten
/// and never sent; unless it is to be finished for the cache, which only counts for those that have begun.
///
/// A download that was stopped answers nobody any more. Another one for the same thing may be asked for at once, and
/// begins when the stopped one has ended: it can go on where that stopped, and the two are never on the wire together.
///
/// A download that has begun may be retired: it goes on for those who wait for it, and is joined by nobody any more.
/// Another one for the same thing has nothing to expect of it, and runs beside it.
///
/// Each waiter has time of its own, and a download has none: the rules are in `DownloadMachine+Time.swift`.
struct DownloadMachine<Identity: Hashable> {
    enum Action: Equatable {
        case start(UInt64)
        case stop(UInt64)
    }

    enum State {
        case queued
        /// Its turn has come, but a stopped download for the same thing has not ended.
        case held
        case running
        case stopped
    }

    struct Download {
        let identity: Identity
        var state = State.queued
        /// In order of arrival.
        var waiters: [UInt64] = []
        /// When the limits of time began.
        var begun: HTTP.Instant?
        /// Whether all that can come late is there.
        var hasArrived = false
        /// The last who waited, of one that goes on for the cache alone.
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
    /// The download that may be joined, of each identity.
    private var joinable: [Identity: UInt64] = [:]
    /// Stopped downloads that have not ended, of each identity: how many, and who waits for their end.
    private var stopping: [Identity: (count: Int, held: UInt64?)] = [:]
    var waiters: [UInt64: Waiter] = [:]
    /// Nobody's time is up before.
    var look = HTTP.Instant.never
    private var last: UInt64 = 0
    /// Downloads that hold a slot.
    private(set) var active = 0

    init(maximum: Int, order: DownloadQueue.Order, finishesForCache: Bool = false) {
        self.maximum = max(1, maximum)
        self.finishesForCache = finishesForCache
        queue = DownloadQueue(order)
    }

    var waiting: Int { waiters.count }
    /// Downloads that have not begun.
    var queued: Int { downloads.count - active }
    var isIdle: Bool {
        downloads.isEmpty && joinable.isEmpty && stopping.isEmpty && waiters.isEmpty && active == 0 && queue.count == 0
    }

    /// Adds a waiter to a download that is there already. Nil if there is none.
    mutating func join(
        _ waiter: UInt64, _ identity: Identity, _ priority: Int, _ limit: HTTPSession.WaitLimit,
        at now: HTTP.Instant
    ) -> UInt64? {
        guard let id = joinable[identity] else { return nil }
        add(waiter, Waiter(download: id, priority: priority, limit: limit))
        if downloads[id]?.begun != nil { begin(waiter, at: now) }
        return id
    }

    /// A new download and its first waiter.
    mutating func begin(
        _ waiter: UInt64, _ identity: Identity, _ priority: Int, _ limit: HTTPSession.WaitLimit
    ) -> (id: UInt64, actions: [Action]) {
        if downloads.isEmpty { look = .never }
        last += 1
        let id = last
        downloads[id] = Download(identity: identity)
        joinable[identity] = id
        queue.add(id, priority)
        add(waiter, Waiter(download: id, priority: priority, limit: limit))
        return (id, startMore())
    }

    /// Has no effect for a waiter that was answered. Returns the download it left.
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

    /// The highest of those who wait for a download; nil if nobody does.
    func priority(of download: UInt64) -> Int? { waiters(of: download).compactMap { waiters[$0]?.priority }.max() }

    /// Whether a download has not ended.
    func knows(_ download: UInt64) -> Bool { downloads[download] != nil }

    /// Who waits for a download, in order of arrival.
    func waiters(of download: UInt64) -> [UInt64] { downloads[download]?.waiters ?? [] }

    /// Nobody joins a download from now on; those who wait for it stay. False for one that has not begun, which has no
    /// effect: what it will bring is as new as what another would.
    mutating func retire(_ id: UInt64) -> Bool {
        guard let download = downloads[id], download.state == .running || download.state == .stopped else {
            return false
        }
        if joinable[download.identity] == id { joinable[download.identity] = nil }
        return true
    }

    /// A download that was started has ended, whatever came of it. Returns who is to be answered, in order of arrival.
    mutating func end(_ id: UInt64) -> (answered: [UInt64], actions: [Action]) {
        guard let download = downloads[id], download.state == .running || download.state == .stopped else {
            return ([], [])
        }
        downloads[id] = nil
        active -= 1
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

    /// The priority of a download is the highest of its waiters'.
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

    /// One that was held for it is the next.
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
        while active < maximum, let id = queue.next() {
            guard let identity = downloads[id]?.identity else { continue }
            if stopping[identity] != nil {
                downloads[id]?.state = .held
                stopping[identity]?.held = id
                continue
            }
            downloads[id]?.state = .running
            active += 1
            actions.append(.start(id))
        }
        return actions
    }
}

extension DownloadMachine: Sendable where Identity: Sendable {}
extension DownloadMachine.Download: Sendable where Identity: Sendable {}
extension DownloadMachine.Waiter: Sendable {}
