extension HTTP {
    /// The address that a socket connects to.
    public enum SocketAddress: Sendable, Hashable {
        /// Four bytes in network order, and the port.
        case v4(UInt32, port: UInt16)
        /// Sixteen bytes in network order as two halves, the port and the scope of a link-local address.
        case v6(UInt64, UInt64, port: UInt16, scope: UInt32 = 0)
        /// A Unix socket; a leading NUL means an abstract name.
        case unix(String)
    }
}

extension HTTP.SocketAddress {
    /// Compares paths byte by byte, as the kernel does.
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.v4(let one, let port), .v4(let other, let otherPort)): one == other && port == otherPort
        case (.v6(let high, let low, let port, let scope), .v6(let otherHigh, let otherLow, let otherPort, let other)):
            high == otherHigh && low == otherLow && port == otherPort && scope == other
        case (.unix(let path), .unix(let other)): path.hasSameBytes(as: other)
        case (.v4, _), (.v6, _), (.unix, _): false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .v4(let address, let port):
            hasher.combine(address)
            hasher.combine(port)
        case .v6(let high, let low, let port, let scope):
            hasher.combine(high)
            hasher.combine(low)
            hasher.combine(port)
            hasher.combine(scope)
        case .unix(let path): hasher.combine(bytesOf: path)
        }
    }
}

extension HTTP.SocketAddress {
    /// The address alone, as `HTTP.Origin.host` spells it: no brackets, port or zone. For a Unix socket, its path.
    public var host: String {
        switch self {
        case .v4(let address, _):
            [24, 16, 8, 0].map { String((address >> UInt32($0)) & 0xFF) }.joined(separator: ".")
        case .v6(let high, let low, _, _): Self.text(high, low)
        case .unix(let path): path
        }
    }
}

extension HTTP.SocketAddress: CustomStringConvertible {
    public var description: String {
        switch self {
        case .v4(_, let port):
            return "\(host):\(port)"
        case .v6(_, _, let port, let scope):
            let zone = scope == 0 ? "" : "%\(scope)"
            return "[\(host)\(zone)]:\(port)"
        case .unix(let path):
            return path.utf8.first == 0 ? "unix:@\(path.dropFirst())" : "unix:\(path)"
        }
    }

    /// An IPv6 address as RFC 5952 writes it: lower case, the longest run of two or more zero groups as `::`.
    private static func text(_ high: UInt64, _ low: UInt64) -> String {
        let groups = [high, low].flatMap { half in [48, 32, 16, 0].map { UInt16((half >> UInt64($0)) & 0xFFFF) } }
        var best = 0..<0
        var start = 0
        while start < groups.count {
            let end = groups[start...].firstIndex { $0 != 0 } ?? groups.count
            if end - start > max(best.count, 1) { best = start..<end }
            start = max(end, start) + 1
        }
        let hex = { (slice: ArraySlice<UInt16>) in slice.map { String($0, radix: 16) }.joined(separator: ":") }
        if best.isEmpty { return hex(groups[...]) }
        return "\(hex(groups[..<best.lowerBound]))::\(hex(groups[best.upperBound...]))"
    }
}
