internal import DunlinTypes

/// Counts the connections beyond the caps, and holds the queues for them.
///
/// Requests may wait for a request that their code makes: their authentication handler, an interceptor, the reader of
/// a stream. If they hold all connections that the caps allow, it would wait for them in turn.
///
/// Rules:
/// 1. Each request has a level: 0 if no other waits for it. Requests of one level do not wait for each other, unless
///    they are very deep within others.
/// 2. A request of another level that has to wait may also use a connection beyond the caps. It takes what comes first.
/// 3. Each level has as many of these connections: an eighth of what one origin may have, but at least one. So requests
///    of one level cannot keep those of another from theirs.
/// 4. They are given in order of arrival, and each is for one request only.
struct PoolExtras<Waiter> {
    private struct Level {
        var open = 0
        var queue = WaiterQueue<(waiter: Waiter, origin: HTTP.Origin)>()
    }

    private let limit: Int
    private var levels: [Int: Level] = [:]

    init(beyond connectionsPerOrigin: Int) {
        limit = max(1, connectionsPerOrigin / 8)
    }

    /// Takes the right to open a connection; false if there is none left.
    mutating func take(at level: Int) -> Bool {
        guard levels[level, default: Level()].open < limit else { return false }
        levels[level, default: Level()].open += 1
        return true
    }

    mutating func wait(_ waiter: Waiter, _ number: UInt64, for origin: HTTP.Origin, at level: Int) {
        levels[level, default: Level()].queue.insert((waiter, origin), number: number)
    }

    /// Removes a waiter that needs none any more.
    mutating func leave(_ number: UInt64, at level: Int) {
        _ = levels[level]?.queue.leave(number)
    }

    /// Notes that a connection was closed or could not be opened, or that who should open it does not wait any more.
    /// The returned waiter may open one, to the returned origin.
    mutating func gone(at level: Int) -> (waiter: Waiter, origin: HTTP.Origin)? {
        if let next = levels[level]?.queue.popFirst() { return next }
        levels[level]?.open -= 1
        return nil
    }
}
