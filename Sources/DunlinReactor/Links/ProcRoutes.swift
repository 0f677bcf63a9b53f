package import DunlinTypes

/// The routes that /proc/net/route and /proc/net/ipv6_route list, for systems where the kernel does not answer
/// questions.
///
/// Rules: a malformed line is left out. Of the routes that contain an address the narrowest counts, and of equally
/// narrow ones the one with the least metric. A route that says "unreachable" counts as one, and leads nowhere. Routing
/// by policy cannot be seen here.
package struct ProcRoutes: Sendable, Equatable {
    package struct Way: Sendable, Equatable {
        package var interface: String
        var leadsSomewhere: Bool
    }

    private struct Route: Sendable, Equatable {
        /// The network, in network order; an IPv4 address is in the lowest 32 bits.
        var network: (high: UInt64, low: UInt64)
        var bits: Int
        var metric: UInt32
        var interface: String
        var isRejected: Bool

        static func == (left: Route, right: Route) -> Bool {
            left.network == right.network && left.bits == right.bits && left.metric == right.metric
                && left.interface == right.interface && left.isRejected == right.isRejected
        }
    }

    private let four: [Route]
    private let six: [Route]

    package init(four: String, six: String) {
        self.four = four.split(separator: "\n").dropFirst().compactMap { Self.four($0) }
        self.six = six.split(separator: "\n").compactMap { Self.six($0) }
    }

    package func way(to address: HTTP.SocketAddress) -> Way? {
        switch address {
        case .v4(let four, _): Self.way(to: (0, UInt64(four)), among: self.four, width: 32)
        case .v6(let high, let low, _, _): Self.way(to: (high, low), among: six, width: 128)
        case .unix: nil
        }
    }

    private static func way(to address: (high: UInt64, low: UInt64), among routes: [Route], width: Int) -> Way? {
        let containing = routes.filter { route in
            let mask = mask(bits: route.bits, width: width)
            return address.high & mask.high == route.network.high & mask.high
                && address.low & mask.low == route.network.low & mask.low
        }
        let best = containing.min { ($1.bits, $0.metric) < ($0.bits, $1.metric) }
        return best.map { Way(interface: $0.interface, leadsSomewhere: !$0.isRejected) }
    }

    private static func mask(bits: Int, width: Int) -> (high: UInt64, low: UInt64) {
        if width == 32 { return (0, bits == 0 ? 0 : UInt64(UInt32.max) << UInt64(32 - bits) & UInt64(UInt32.max)) }
        let high = bits >= 64 ? UInt64.max : bits == 0 ? 0 : UInt64.max << UInt64(64 - bits)
        let low = bits <= 64 ? 0 : bits >= 128 ? UInt64.max : UInt64.max << UInt64(128 - bits)
        return (high, low)
    }
}

// MARK: - Lines

extension ProcRoutes {
    private static let up: UInt32 = 0x1
    private static let reject: UInt32 = 0x200
    /// The flag of the kernel's own copies of earlier look-ups.
    private static let cache: UInt32 = 0x0100_0000

    /// The columns are interface, destination, gateway, flags, references, use, metric, mask. Numbers are in
    /// hexadecimal, addresses as the machine reads four bytes in network order.
    private static func four(_ line: Substring) -> Route? {
        let cells = line.split { $0 == " " || $0 == "\t" }
        guard cells.count >= 8, let network = UInt32(cells[1], radix: 16), let flags = UInt32(cells[3], radix: 16),
            let metric = UInt32(cells[6]), let mask = UInt32(cells[7], radix: 16), flags & up != 0
        else { return nil }
        let bits = UInt32(bigEndian: mask).leadingOnes
        return Route(
            network: (0, UInt64(UInt32(bigEndian: network))), bits: bits, metric: metric, interface: String(cells[0]),
            isRejected: flags & reject != 0)
    }

    /// The columns are destination and its length, source and its length, next hop, metric, references, use, flags,
    /// interface. All numbers are in hexadecimal.
    private static func six(_ line: Substring) -> Route? {
        let cells = line.split(separator: " ")
        guard cells.count >= 10, cells[0].utf8.count == 32, let high = UInt64(cells[0].prefix(16), radix: 16),
            let low = UInt64(cells[0].dropFirst(16), radix: 16), let bits = Int(cells[1], radix: 16),
            (0...128).contains(bits), let metric = UInt32(cells[5], radix: 16),
            let flags = UInt32(cells[8], radix: 16), flags & up != 0 || flags & reject != 0, flags & cache == 0
        else { return nil }
        return Route(
            network: (high, low), bits: bits, metric: metric, interface: String(cells[9]),
            isRejected: flags & reject != 0)
    }
}

extension UInt32 {
    fileprivate var leadingOnes: Int { (~self).leadingZeroBitCount }
}
