internal import Dunlin

/// The time limits of waiters.
///
/// A waiter's total time begins with its download's turn, or when it joins one that has begun. An inherited deadline
/// counts from when it asked. A waiter whose time is up leaves, and the others go on: a download has no limit but
/// theirs. One that continues only for the cache has the time of its last waiter. Once all bytes are there, no time
/// limit applies, however long decoding takes.
extension ImageDownloadMachine {
    struct Late: Equatable {
        let waiter: UInt64
        let download: UInt64
        let limit: HTTPSession.WaitLimit
        /// When its total time began; nil if it had not begun.
        let start: HTTP.Instant?
        /// Whether the download has a slot: something may have been sent, though its turn is not known yet.
        let isRunning: Bool
    }

    /// When to call `expire`: no later than anybody's time is up, perhaps earlier. Nil for never.
    var nextLook: HTTP.Instant? { downloads.isEmpty || look == .never ? nil : look }

    /// Notes a download's turn: its waiters' total times begin. Only the first turn counts.
    mutating func turn(of id: UInt64, at now: HTTP.Instant) {
        guard let download = downloads[id], download.begun == nil else { return }
        downloads[id]?.begun = now
        for waiter in download.waiters { begin(waiter, at: now) }
        guard var last = download.last else { return }
        (last.start, last.end) = (now, last.limit.end(from: now))
        downloads[id]?.last = last
        look = min(look, last.end)
    }

    /// Notes that everything that can be late has arrived.
    mutating func arrived(_ id: UInt64) {
        guard let download = downloads[id], !download.hasArrived else { return }
        downloads[id]?.hasArrived = true
        downloads[id]?.last?.end = .never
        for waiter in download.waiters { waiters[waiter]?.end = .never }
    }

    mutating func begin(_ waiter: UInt64, at now: HTTP.Instant) {
        waiters[waiter]?.start = now
        bound(waiter)
    }

    mutating func bound(_ number: UInt64) {
        guard let waiter = waiters[number], downloads[waiter.download]?.hasArrived == false else { return }
        let end = waiter.limit.end(from: waiter.start)
        waiters[number]?.end = end
        look = min(look, end)
    }

    /// The waiters whose time is up, in order of their numbers. They must `leave` before anything is stopped.
    func late(at now: HTTP.Instant) -> [Late] {
        if look > now { return [] }
        return waiters.filter { $0.value.end <= now }.sorted { $0.key < $1.key }.map { number, waiter in
            let isRunning = downloads[waiter.download]?.state == .running
            return Late(
                waiter: number, download: waiter.download, limit: waiter.limit, start: waiter.start,
                isRunning: isRunning)
        }
    }

    /// Stops downloads that continue only for the cache and have no time left.
    mutating func stopLate(at now: HTTP.Instant) -> [Action] {
        if look > now { return [] }
        let ends = downloads.compactMap { id, download in download.last.map { (id: id, end: $0.end) } }
        look = (waiters.values.map(\.end) + ends.map(\.end)).filter { $0 > now }.min() ?? .never
        return ends.filter { $0.end <= now }.map(\.id).sorted().compactMap { id in
            guard let download = downloads[id], case .running = download.state else { return nil }
            downloads[id]?.last = nil
            return stop(id, download)
        }
    }
}
