internal import DunlinTypes

// Which sessions are kept, and for how long. Knows nothing of OpenSSL and reads no clock; time is Unix time in seconds.
//
// - A TLS 1.3 ticket is handed out once (RFC 8446 §C.4), and several are kept, for as many connections at once.
// - A TLS 1.2 session may be used again, so the latest is enough.
// - Nobody keeps a ticket for more than the server's lifetime, nor beyond `limits.age` (RFC 8446 §4.6.1: seven days).
// - When there are too many, the key that was used longest ago loses all of its own.

/// A session's properties that the rules need.
protocol Ticket {
    var isForOneUse: Bool { get }
    var made: Int64 { get }
    var lifetime: Int64 { get }
}

struct TicketLimits: Sendable {
    var keys = 256
    /// The sessions kept for a key: as many connections may open at once without a full handshake. A server sends two
    /// for each.
    var perKey = 16
    /// The age limit, a day: tickets that last a week reveal more of a client's past for little gain.
    var age: Int64 = 86_400
}

struct TicketMachine<Key: Hashable, Item: Ticket> {
    private let limits: TicketLimits
    /// The sessions of each key, the latest last.
    private var itemsByKey: RecentValues<Key, [Item]>

    init(_ limits: TicketLimits = TicketLimits()) {
        self.limits = limits
        itemsByKey = RecentValues(limit: limits.keys)
    }

    var count: Int { itemsByKey.latestFirst.reduce(0) { $0 + $1.value.count } }

    mutating func keep(_ item: Item, for key: Key) {
        // A 1.3 ticket without a lifetime is to be dropped at once (RFC 8446 §4.6.1).
        if item.isForOneUse, item.lifetime == 0 { return }
        var items = itemsByKey[key] ?? []
        if let last = items.last, !item.isForOneUse || !last.isForOneUse { items = [] }
        items.append(item)
        if items.count > limits.perKey { items.removeFirst() }
        itemsByKey.keep(items, for: key)
    }

    /// Returns the latest session that is still good.
    mutating func take(_ key: Key, at now: Int64) -> Item? {
        guard var items = itemsByKey.remove(key) else { return nil }
        items.removeAll { !isFresh($0, at: now) }
        guard let item = items.last else { return nil }
        if item.isForOneUse { items.removeLast() }
        if !items.isEmpty { itemsByKey.keep(items, for: key) }
        return item
    }

    /// Removes the sessions of a key, as they proved to be bad.
    mutating func discard(_ key: Key) {
        itemsByKey.remove(key)
    }

    /// Whether a session is fresh. If the clock was set back, it seems to be from the future and is dropped too.
    private func isFresh(_ item: Item, at now: Int64) -> Bool {
        let life = item.lifetime > 0 ? min(item.lifetime, limits.age) : limits.age
        return now >= item.made - 1 && now - item.made < life
    }
}
