internal import DunlinTypes

// Which sessions are kept, and for how long. Knows nothing of OpenSSL and reads no clock; time is Unix time in seconds.
//
// - A TLS 1.3 ticket is handed out once (RFC 8446 §C.4), and several are kept, for as many connections at once.
// - A TLS 1.2 session may be used again, so the latest is enough.
// - Nobody keeps a ticket for more than the server's lifetime, nor beyond `limits.age` (RFC 8446 §4.6.1: seven days).
// - When there are too many, the key that was used longest ago loses all of its own.

/// What the rules must know of a session.
protocol Ticket {
    var isForOneUse: Bool { get }
    var made: Int64 { get }
    var lifetime: Int64 { get }
}

struct TicketLimits: Sendable {
    var keys = 256
    /// As many connections may open at once, each without a full handshake. A server sends two for each.
    var perKey = 16
    /// A day: tickets that last a week show little of a client's past for little gain.
    var age: Int64 = 86_400
}

struct TicketMachine<Key: Hashable, Item: Ticket> {
    private let limits: TicketLimits
    /// The latest of a key last.
    private var shelves: RecentValues<Key, [Item]>

    init(_ limits: TicketLimits = TicketLimits()) {
        self.limits = limits
        shelves = RecentValues(limit: limits.keys)
    }

    var count: Int { shelves.latestFirst.reduce(0) { $0 + $1.value.count } }

    mutating func keep(_ item: Item, for key: Key) {
        // A 1.3 ticket without a lifetime is to be dropped at once (RFC 8446 §4.6.1).
        if item.isForOneUse, item.lifetime == 0 { return }
        var items = shelves[key] ?? []
        if let last = items.last, !item.isForOneUse || !last.isForOneUse { items = [] }
        items.append(item)
        if items.count > limits.perKey { items.removeFirst() }
        shelves.keep(items, for: key)
    }

    /// The latest session that is still good.
    mutating func take(_ key: Key, at now: Int64) -> Item? {
        guard var items = shelves.remove(key) else { return nil }
        items.removeAll { !isFresh($0, at: now) }
        guard let item = items.last else { return nil }
        if item.isForOneUse { items.removeLast() }
        if !items.isEmpty { shelves.keep(items, for: key) }
        return item
    }

    /// Forgets what was kept for the key: it was no good after all.
    mutating func discard(_ key: Key) {
        shelves.remove(key)
    }

    /// A clock that was set back makes a session look as if it came from the future: it goes too.
    private func isFresh(_ item: Item, at now: Int64) -> Bool {
        let life = item.lifetime > 0 ? min(item.lifetime, limits.age) : limits.age
        return now >= item.made - 1 && now - item.made < life
    }
}
