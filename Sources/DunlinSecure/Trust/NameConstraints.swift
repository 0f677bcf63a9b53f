internal import DunlinTypes

/// For which hosts an authority may vouch (RFC 5280 §4.2.1.10).
///
/// OpenSSL holds the names in a certificate against it. That is not enough: `*.test` is no name below an excluded
/// `bar.test`, and yet a certificate with it is one for `bar.test`. So the host that is wanted is asked about as well.
///
/// Rules:
/// 1. Where trees of a host's kind are permitted, one of them must hold it; one that is excluded must not.
/// 2. A domain's tree is that domain and all below it, and all there is if it is empty. One that begins with a dot is
///    only what is below: the RFC says it of URIs alone, but authorities write it, and everybody reads it so.
/// 3. A network is an address and its mask. What is neither four nor sixteen bytes of each can be compared with
///    nothing: it permits no address, and excludes every one.
///
/// Must not know: certificates and OpenSSL.
struct NameConstraints: Sendable, Equatable {
    enum Tree: Sendable, Equatable {
        case domain(Bytes)
        /// A network's address followed by its mask.
        case network(Bytes)
    }

    var permitted: [Tree] = []
    var excluded: [Tree] = []

    func permits(_ host: HostIdentity) -> Bool {
        if excluded.contains(where: { Self.holds($0, host) ?? $0.isOfKind(of: host) }) { return false }
        let trees = permitted.filter { $0.isOfKind(of: host) }
        return trees.isEmpty || trees.contains { Self.holds($0, host) == true }
    }

    /// Whether a tree contains a host; nil if the two cannot be compared.
    private static func holds(_ tree: Tree, _ host: HostIdentity) -> Bool? {
        switch (tree, host) {
        case (.domain(let domain), .name(let name)): isBelow(Array(name.utf8), domain.array)
        case (.network(let network), .address(let address)): isWithin(address.array, network.array)
        case (.domain, .address), (.network, .name): nil
        }
    }

    private static func isBelow(_ name: [UInt8], _ domain: [UInt8]) -> Bool {
        guard !domain.isEmpty else { return true }
        guard name.count >= domain.count, name.suffix(domain.count).elementsEqual(domain, by: isSameLetter) else {
            return false
        }
        let dot = UInt8(ascii: ".")
        guard name.count > domain.count else { return domain.first != dot }
        return domain.first == dot || name[name.count - domain.count - 1] == dot
    }

    private static func isSameLetter(_ left: UInt8, _ right: UInt8) -> Bool {
        lowered(left) == lowered(right)
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    private static func isWithin(_ address: [UInt8], _ network: [UInt8]) -> Bool? {
        guard network.count == 8 || network.count == 32 else { return nil }
        guard network.count == 2 * address.count else { return false }
        return address.indices.allSatisfy { index in
            let mask = network[address.count + index]
            return network[index] & mask == address[index] & mask
        }
    }
}

extension NameConstraints.Tree {
    fileprivate func isOfKind(of host: HostIdentity) -> Bool {
        switch (self, host) {
        case (.domain, .name), (.network, .address): true
        case (.domain, .address), (.network, .name): false
        }
    }
}
