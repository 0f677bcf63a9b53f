internal import DunlinTypes

/// The order in which addresses are tried: families take turns, beginning with that of the first address (RFC 8305 §4).
enum AddressOrder {
    /// How many addresses of one name are kept and tried. The resolver may find thousands. Each would take a socket
    /// while a race is on, and memory for as long as the name is kept.
    static let most = 64

    /// The addresses to keep of more: the first of either family, in turns, so that neither crowds out the other.
    static func kept(_ addresses: [HTTP.SocketAddress]) -> [HTTP.SocketAddress] {
        addresses.count <= most ? addresses : Array(interleaved(addresses).prefix(most))
    }

    /// `turn` moves each family's addresses round by so many places.
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

/// Counts the connections opened to each name, so that they spread over its addresses. A count for each: with one for
/// all, two names that are always used together would keep step and each see the same addresses again and again.
struct Turns {
    /// How many names are counted. Beyond that, counting starts over, which does no harm.
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
