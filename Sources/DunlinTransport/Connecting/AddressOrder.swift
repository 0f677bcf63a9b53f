internal import DunlinTypes

/// The order in which addresses are tried: families alternate, beginning with that of the first address (RFC 8305 §4).
enum AddressOrder {
    /// How many addresses of a name are kept and tried. A resolver may return thousands, and each takes a socket during
    /// a race, and memory while the name is cached.
    static let most = 64

    /// The addresses to keep of too many: the first ones of both families, alternating, so that neither displaces the
    /// other.
    static func kept(_ addresses: [HTTP.SocketAddress]) -> [HTTP.SocketAddress] {
        addresses.count <= most ? addresses : Array(interleaved(addresses).prefix(most))
    }

    /// The addresses with alternating families. `turn` rotates each family's addresses by this many places.
    static func interleaved(_ addresses: [HTTP.SocketAddress], turn: Int = 0) -> [HTTP.SocketAddress] {
        guard let first = addresses.first, addresses.count > 1 else { return addresses }
        let preferred = rotated(addresses.filter { $0.isSix == first.isSix }, by: turn)
        let others = rotated(addresses.filter { $0.isSix != first.isSix }, by: turn)
        var order: [HTTP.SocketAddress] = []
        for position in 0..<max(preferred.count, others.count) {
            if position < preferred.count { order.append(preferred[position]) }
            if position < others.count { order.append(others[position]) }
        }
        return order
    }

    private static func rotated(_ addresses: [HTTP.SocketAddress], by turn: Int) -> [HTTP.SocketAddress] {
        guard addresses.count > 1 else { return addresses }
        let start = turn % addresses.count
        return Array(addresses[start...] + addresses[..<start])
    }
}

/// Counts the connections opened to each name, so that they spread over its addresses. With a single count for all
/// names, two names that are always used together would see the same addresses again and again.
struct Turns {
    /// The number of names that are counted. Beyond it, counting starts over, which does no harm.
    private static let capacity = 1024

    private var counts: [String: Int] = [:]

    mutating func next(for host: String) -> Int {
        if counts.count >= Self.capacity, counts[host] == nil { counts.removeAll() }
        let turn = counts[host] ?? 0
        counts[host] = turn &+ 1 & .max
        return turn
    }
}

extension HTTP.SocketAddress {
    var isSix: Bool {
        if case .v6 = self { true } else { false }
    }
}
