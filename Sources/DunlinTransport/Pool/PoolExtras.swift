internal import DunlinTypes

/// Counts the connections beyond the caps, and holds the queues for them.
///
/// Requests may wait for a request that their code makes: their authentication handler, an interceptor, the reader of
/// a stream. If they hold all connections that the caps allow, it would wait for them in turn.
///
/// Rules:
/// 1. Such a request, if it has to wait, may also use a connection beyond the caps. It takes what comes first.
/// 2. Each depth of requests within requests has as many of these connections: an eighth of what one origin may have,
///    but at least one. So those of one depth cannot keep the next from theirs.
/// 3. They are given in order of arrival, and each is for one request only.
struct PoolExtras<Waiter> {
    private struct Depth {
        var open = 0
        var queue = WaiterQueue<(waiter: Waiter, origin: HTTP.Origin)>()
    }

    /// Requests that are within more others than this are treated alike.
    static var greatestDepth: Int { 8 }

    private let limit: Int
    private var depths: [Depth] = []

    init(beyond connectionsPerOrigin: Int) {
        limit = max(1, connectionsPerOrigin / 8)
    }

    /// Whether a connection may be opened at once; if not, the waiter is queued.
    mutating func ask(_ waiter: Waiter, _ number: UInt64, for origin: HTTP.Origin, at depth: Int) -> Bool {
        let index = index(of: depth)
        while depths.count <= index { depths.append(Depth()) }
        guard depths[index].open < limit else {
            depths[index].queue.insert((waiter, origin), number: number)
            return false
        }
        depths[index].open += 1
        return true
    }

    /// Removes a waiter that needs none any more.
    mutating func leave(_ number: UInt64, at depth: Int) {
        guard depths.indices.contains(index(of: depth)) else { return }
        _ = depths[index(of: depth)].queue.leave(number)
    }

    /// Notes that a connection was closed or could not be opened. The returned waiter may open one, to the returned
    /// origin.
    mutating func gone(at depth: Int) -> (waiter: Waiter, origin: HTTP.Origin)? {
        let index = index(of: depth)
        guard let next = depths[index].queue.popFirst() else {
            depths[index].open -= 1
            return nil
        }
        return next
    }

    private func index(of depth: Int) -> Int { min(depth, Self.greatestDepth) - 1 }
}
