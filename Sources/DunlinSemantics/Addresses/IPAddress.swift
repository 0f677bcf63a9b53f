package import DunlinTypes

/// The address of a machine: no port, no zone.
package enum IPAddress: Sendable, Hashable {
    case v4(UInt32)
    case v6(UInt128)

    /// Creates the address without its port; nil for a Unix socket.
    package init?(_ address: HTTP.SocketAddress) {
        switch address {
        case .v4(let bits, _): self = .v4(bits)
        case .v6(let high, let low, _, _): self = .v6(UInt128(high) << 64 | UInt128(low))
        case .unix: return nil
        }
    }

    /// Reads an address as `HostLiteral` does: no brackets, no odd forms of IPv4.
    package init?(_ text: some StringProtocol) {
        guard let address = HostLiteral.parse(String(text), port: 0) else { return nil }
        self.init(address)
    }

    /// The number of bits in an address of this family.
    var width: Int {
        switch self {
        case .v4: 32
        case .v6: 128
        }
    }

    /// The IPv4 address if it is mapped into IPv6 (RFC 4291 §2.5.5.2), which the kernel treats as equal.
    var unmapped: IPAddress {
        guard case .v6(let bits) = self, bits >> 32 == 0xFFFF else { return self }
        return .v4(UInt32(truncatingIfNeeded: bits))
    }
}

extension IPAddress: CustomStringConvertible {
    /// The text as in `HTTP.Origin.host`.
    package var description: String {
        switch self {
        case .v4(let bits): HTTP.SocketAddress.v4(bits, port: 0).host
        case .v6(let bits):
            HTTP.SocketAddress.v6(UInt64(truncatingIfNeeded: bits >> 64), UInt64(truncatingIfNeeded: bits), port: 0)
                .host
        }
    }
}
