package import DunlinTypes

/// An address and what it is for.
///
/// Rules:
/// 1. Some IPv6 addresses embed an IPv4 address, to which they are forwarded: they have its purpose.
/// 2. A translator's address in `64:ff9b:1::/48` has it at a place that its network alone knows, and a Teredo address
///    leads to where its server says: they are never public, whatever is inside.
/// 3. An IPv4 address after 96 zeros was meant for tunnels that are gone (RFC 4291 §2.5.5.1): it is what the one inside
///    is, and reserved where that would be public.
package struct AddressPurpose: Sendable, Hashable {
    /// How an address embeds another.
    package enum Form: Sendable, Hashable {
        /// RFC 4291 §2.5.5.2
        case mapped
        /// RFC 4291 §2.5.5.1
        case compatible
        /// RFC 6052
        case translated
        /// RFC 3056
        case sixToFour
    }

    package let address: IPAddress
    package let kind: AddressKind
    /// The embedded address, if it decides the kind.
    package let inner: IPAddress?
    package let form: Form?
    /// The RFC that defines the purpose, or the owner of a metadata address; nil for a public address.
    let source: String?

    package init(_ address: IPAddress) {
        self.address = address
        guard let (form, inner) = Self.inside(address) else {
            let row = SpecialAddresses.row(of: address)
            (self.inner, self.form, kind, source) = (nil, nil, row?.kind ?? .public, row?.source)
            return
        }
        let row = SpecialAddresses.row(of: inner)
        self.inner = inner
        self.form = form
        let isGone = form == .compatible && row == nil
        kind = isGone ? .reserved : row?.kind ?? .public
        source = isGone ? "RFC 4291" : row?.source
    }

    /// Judges an address; nil for a Unix socket.
    package init?(_ address: HTTP.SocketAddress) {
        guard let address = IPAddress(address) else { return nil }
        self.init(address)
    }

    private static func inside(_ address: IPAddress) -> (Form, IPAddress)? {
        guard case .v6(let bits) = address else { return nil }
        let last = IPAddress.v4(UInt32(truncatingIfNeeded: bits))
        switch bits >> 32 {
        case 0xFFFF: return (.mapped, last)
        // `::` and `::1` have purposes of their own.
        case 0 where bits > 1: return (.compatible, last)
        case 0x0064_FF9B_0000_0000_0000_0000: return (.translated, last)
        default: break
        }
        return bits >> 112 == 0x2002 ? (.sixToFour, .v4(UInt32(truncatingIfNeeded: bits >> 80))) : nil
    }
}

extension AddressPurpose: CustomStringConvertible {
    /// The text, such as "127.0.0.1 is a loopback address (RFC 1122)".
    package var description: String {
        let subject = inner.flatMap { inner in form.map { "\(address), \(inner) \($0)," } } ?? "\(address)"
        return "\(subject) is \(kind)" + (source.map { " (\($0))" } ?? "")
    }
}

extension AddressPurpose.Form: CustomStringConvertible {
    /// The text, such as "127.0.0.1 in the form of IPv6".
    package var description: String {
        switch self {
        case .mapped: "in the form of IPv6"
        case .compatible: "in an old form of IPv6"
        case .translated: "behind NAT64"
        case .sixToFour: "behind 6to4"
        }
    }
}
