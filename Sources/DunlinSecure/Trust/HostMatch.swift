package import DunlinTypes

/// An entry of a certificate's subject alternative name.
package enum PresentedName: Sendable, Hashable {
    case dns(Bytes)
    case address(Bytes)
}

/// Whether a certificate is for a host (RFC 9525).
///
/// Rules:
/// 1. Only the subject alternative name counts, never a common name (§2): a caller has nothing else to give.
/// 2. A host that is an address is named by its exact octets and by nothing else (§6.4); a host that is a name, by no
///    address.
/// 3. Names are compared label by label, without regard to the case of ASCII letters (§6.3). Both sides are A-labels.
///    The host's dot at the end is gone before; a presented name has none.
/// 4. `*` stands for one whole label, and only for the left-most (§6.3). What stands otherwise matches nothing.
/// 5. At least two labels follow it. The RFC leaves it to us (§7.1), and no one runs all of `*.test`: a wildcard over a
///    whole top-level domain is somebody's mistake or attack.
/// 6. A presented name with bytes that no host has (NUL above all) matches nothing.
///
/// Must not know: certificates and OpenSSL.
package enum HostMatch {
    package static func matches(_ host: HostIdentity, _ names: some Sequence<PresentedName>) -> Bool {
        names.contains { matches(host, $0) }
    }

    package static func matches(_ host: HostIdentity, _ name: PresentedName) -> Bool {
        switch (host, name) {
        case (.address(let wanted), .address(let octets)): wanted == octets
        case (.name(let wanted), .dns(let presented)): matches(Array(wanted.utf8), presented)
        case (.address, .dns), (.name, .address): false
        }
    }

    private static func matches(_ host: [UInt8], _ presented: Bytes) -> Bool {
        guard isName(host[...]), !isNumeric(host) else { return false }
        guard presented.first == UInt8(ascii: "*") else {
            return isName(presented.array[...]) && isEqual(host[...], presented.array[...])
        }
        // After the star there is a dot and labels, which must be the host's.
        let parent = presented.array.dropFirst()
        guard let dot = host.firstIndex(of: UInt8(ascii: ".")), parent.first == UInt8(ascii: "."),
            isName(parent.dropFirst()), parent.dropFirst().contains(UInt8(ascii: "."))
        else { return false }
        return isEqual(host[dot...], parent)
    }

    /// Whether a name consists of labels of letters, digits, hyphens and underscores, with one dot between them.
    private static func isName(_ name: ArraySlice<UInt8>) -> Bool {
        guard (1...253).contains(name.count) else { return false }
        let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.allSatisfy { (1...63).contains($0.count) && $0.allSatisfy(isOfLabel) }
    }

    /// Whether a name is an oddly spelled address, which `HostIdentity` took for a name: no host is called that.
    private static func isNumeric(_ name: [UInt8]) -> Bool {
        let label = name.split(separator: UInt8(ascii: ".")).last ?? []
        return label.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    private static func isOfLabel(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func isEqual(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        left.elementsEqual(right) { lowered($0) == lowered($1) }
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
