internal import Dunlin

/// Records who waits for which download, and which downloads run.
///
/// Waiters for the same image share a download. It waits for one of `maximum` slots, by the highest priority of its
/// waiters, and holds its slot from its start until the driver reports its end, even after it was stopped: at most
/// `maximum` run at any time. A download without waiters is stopped, unless it is to be finished for the cache; one
/// that has not begun is always forgotten and never sent.
///
/// A stopped download answers nobody, and nobody joins it: another one for the same image begins beside it.
///
/// Code within a download, such as a filter, may ask too, and the download keeps its slot meanwhile. So that none waits
/// for itself, that code waits for nothing that is done for others: its download is its alone, and begins without a
/// slot. The slots limit only the other downloads.
///
/// Each waiter has its own time limit, and a download has none: the rules are in `ImageDownloadMachine+Time.swift`.
struct ImageDownloadMachine<Identity: Hashable> {
    enum Action: Equatable {
        case start(UInt64)
        case stop(UInt64)
    }

    enum State {
        case queued
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
    private var queue: ImageDownloadQueue
    var downloads: [UInt64: Download] = [:]
    /// The download that can be joined, for each identity.
    private var joinable: [Identity: UInt64] = [:]
    var waiters: [UInt64: Waiter] = [:]
    /// A time before which nobody's time is up.
    var look = HTTP.Instant.never
    private var last: UInt64 = 0
    /// The number of downloads that have begun and not ended, and of those that hold a slot.
    private(set) var active = 0
    private var slots = 0

    init(maximum: Int, order: ImageDownloadQueue.Order, finishesForCache: Bool = false) {
        self.maximum = max(1, maximum)
        self.finishesForCache = finishesForCache
        queue = ImageDownloadQueue(order)
    }

    var waiting: Int { waiters.count }
    /// The number of downloads that have not begun.
    var queued: Int { downloads.count - active }
    var isIdle: Bool {
        downloads.isEmpty && joinable.isEmpty && waiters.isEmpty && active == 0 && slots == 0
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
        case .queued:
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

    /// The download that can be joined; nil if there is none.
    func joinable(_ identity: Identity) -> UInt64? { joinable[identity] }

    /// Retires a download: it continues for its waiters, and nobody joins it any more.
    mutating func retire(_ id: UInt64) {
        if let identity = downloads[id]?.identity, joinable[identity] == id { joinable[identity] = nil }
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
            case .queued: forget(id, download)
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
        _ = queue.remove(id)
    }

    mutating func stop(_ id: UInt64, _ download: Download) -> Action {
        downloads[id]?.state = .stopped
        if joinable[download.identity] == id { joinable[download.identity] = nil }
        return .stop(id)
    }

    private mutating func startMore() -> [Action] {
        var actions: [Action] = []
        while slots < maximum, let id = queue.next() {
            guard downloads[id] != nil else { continue }
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

extension ImageDownloadMachine: Sendable where Identity: Sendable {}
extension ImageDownloadMachine.Download: Sendable where Identity: Sendable {}
extension ImageDownloadMachine.Waiter: Sendable {}
