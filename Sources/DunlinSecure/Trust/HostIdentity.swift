internal import COpenSSL
package import DunlinTypes

/// The host that a certificate must name: by name or address.
package enum HostIdentity: Sendable, Hashable {
    /// A name in lower-case ASCII, without a final dot.
    case name(String)
    /// An address of four or sixteen bytes in network order.
    case address(Bytes)

    /// `host` as `HTTP.Origin.host` spells it: A-labels, no brackets. An address in any but its usual spelling is taken
    /// for a name, and no certificate names it.
    package init(_ host: String) {
        if let address = Self.octets(of: host) {
            self = .address(address)
        } else {
            let name = host.utf8.last == UInt8(ascii: ".") ? String(host.dropLast()) : host
            self = .name(name.lowercased())
        }
    }

    /// The text for people.
    package var text: String {
        switch self {
        case .name(let name): name
        case .address(let octets): Self.text(of: octets) ?? "an address of \(octets.count) bytes"
        }
    }

    /// Returns the text of an address; nil unless it has four or sixteen bytes.
    static func text(of octets: Bytes) -> String? {
        func number(_ range: Range<Int>) -> UInt64 { octets[range].reduce(0) { $0 << 8 | UInt64($1) } }
        return switch octets.count {
        case 4: HTTP.SocketAddress.v4(UInt32(number(0..<4)), port: 0).host
        case 16: HTTP.SocketAddress.v6(number(0..<8), number(8..<16), port: 0).host
        default: nil
        }
    }

    private static func octets(of host: String) -> Bytes? {
        // OpenSSL also reads other spellings; only a text that is written back the same is an address.
        let isCandidate = host.utf8.allSatisfy { "0123456789abcdef.:".utf8.contains($0) }
        guard isCandidate, let parsed = a2i_IPADDRESS(host) else {
            OpenSSLErrors.clear()
            return nil
        }
        defer { ASN1_OCTET_STRING_free(parsed) }
        let octets = Bytes(
            UnsafeBufferPointer(start: ASN1_STRING_get0_data(parsed), count: Int(ASN1_STRING_length(parsed))))
        return text(of: octets) == host ? octets : nil
    }
}
