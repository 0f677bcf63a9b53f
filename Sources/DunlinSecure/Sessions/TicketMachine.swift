// Which sessions are kept, and for how long. Knows nothing of OpenSSL and reads no clock; time is Unix time in seconds.
//
// - A TLS 1.3 ticket is handed out once (RFC 8446 §C.4), and several are kept, for as many connections at once.
// - A TLS 1.2 session may be used again, so the latest is enough.
// - Nobody keeps a ticket for more than the server's lifetime, nor beyond `limits.age` (RFC 8446 §4.6.1: seven days).
// - When there are too many, the key that waited longest loses all of its own.

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
    private struct Shelf {
        /// The latest last.
        var items: [Item]
        var touched: UInt64
    }

    private let limits: TicketLimits
    private var shelves: [Key: Shelf] = [:]
    private var turn: UInt64 = 0

    init(_ limits: TicketLimits = TicketLimits()) {
        self.limits = limits
    }

    var count: Int { shelves.values.reduce(0) { $0 + $1.items.count } }

    mutating func keep(_ item: Item, for key: Key) {
        // A 1.3 ticket without a lifetime is to be dropped at once (RFC 8446 §4.6.1).
        if item.isForOneUse, item.lifetime == 0 { return }
        turn += 1
        var shelf = shelves.removeValue(forKey: key) ?? Shelf(items: [], touched: turn)
        shelf.touched = turn
        if let last = shelf.items.last, !item.isForOneUse || !last.isForOneUse { shelf.items = [] }
        shelf.items.append(item)
        if shelf.items.count > limits.perKey { shelf.items.removeFirst() }
        if shelves.count >= limits.keys, let oldest = shelves.min(by: { $0.value.touched < $1.value.touched }) {
            shelves[oldest.key] = nil
        }
        shelves[key] = shelf
    }

    /// The latest session that is still good.
    mutating func take(_ key: Key, at now: Int64) -> Item? {
        guard var shelf = shelves.removeValue(forKey: key) else { return nil }
        turn += 1
        shelf.touched = turn
        shelf.items.removeAll { !isFresh($0, at: now) }
        guard let item = shelf.items.last else { return nil }
        if item.isForOneUse { shelf.items.removeLast() }
        if !shelf.items.isEmpty { shelves[key] = shelf }
        return item
    }

    /// Forgets what was kept for the key: it was no good after all.
    mutating func discard(_ key: Key) {
        shelves[key] = nil
    }

    /// A clock that was set back makes a session look as if it came from the future: it goes too.
    private func isFresh(_ item: Item, at now: Int64) -> Bool {
        let life = item.lifetime > 0 ? min(item.lifetime, limits.age) : limits.age
        return now >= item.made - 1 && now - item.made < life
    }
}
