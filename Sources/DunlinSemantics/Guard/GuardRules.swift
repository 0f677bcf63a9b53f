package import DunlinTypes

/// Where requests may go, judged on what is dialled.
///
/// Rules:
/// 1. A request is judged twice: by its scheme, port and host's name before anybody looks the name up, and by each
///    address before it is dialled. Both must allow it. A name that stands for another address the next time gains
///    nothing, nor does an odd spelling: an address that is dialled has no spelling.
/// 2. A host that is denied is refused, whatever else allows it. If any hosts are allowed, only those are.
/// 3. An address in a denied range is refused, an address in an allowed range is not; any other is judged by its kind.
/// 4. A range around a cloud's metadata address does not allow it; the address by itself does.
/// 5. What has an IPv4 address inside is denied if that one is. It is not allowed because that one is, unless the two
///    are the same to the kernel: what forwards to it may stand in another network, whose 10.0.0.1 is another machine.
/// 6. A Unix socket is refused unless they are allowed.
/// 7. Where a proxy resolves names nobody here sees what is dialled. Names are refused there unless the proxy is listed
///    as one that judges by itself. The proxy's own address is judged by the list for proxies, and then as any other.
/// 8. The rules that count besides must allow it too.
///
/// Two sets of rules are equal if they judge alike by what they list; a connection is for those who have equal ones.
package struct GuardRules: Sendable, Hashable {
    /// The kinds of addresses that are allowed.
    package var allowedKinds: Set<AddressKind>
    package var allowedRanges: Set<AddressRange> = []
    package var deniedRanges: Set<AddressRange> = []
    /// The allowed schemes; nil for both.
    package var schemes: Set<HTTP.Origin.Scheme>?
    /// The allowed ports; nil for all.
    package var ports: Set<UInt16>?
    /// The allowed hosts; empty for all.
    package var allowedHosts: Set<NamePattern> = []
    package var deniedHosts: Set<NamePattern> = []
    package var allowsUnixSockets = false
    /// The ranges where a proxy may be, whatever the kind of its address.
    package var proxyRanges: Set<AddressRange> = []
    /// The proxies that judge by themselves what they connect to.
    package var trustedProxies: Set<TrustedProxy> = []
    /// The rules that count besides.
    package var other = Other.none

    package indirect enum Other: Sendable, Hashable {
        case none
        case rules(GuardRules)
    }

    /// A proxy as named in the settings.
    package struct TrustedProxy: Sendable, Hashable {
        package let host: String
        package let port: UInt16

        package init(_ address: ProxyAddress) {
            host = address.host
            port = address.port
        }
    }

    package init(allowing kinds: Set<AddressKind>) {
        allowedKinds = kinds
    }

    /// The rules that allow public addresses only.
    package static let publicInternet = GuardRules(allowing: [.public])
    /// The rules that allow only what is listed.
    package static let nothing = GuardRules(allowing: [])
}

// MARK: - Judging

extension GuardRules {
    /// Judges a request before its name is looked up. Returns nil if it passes; its addresses are judged later.
    ///
    /// A host that is an address is judged as one, so that a request fails before it waits for anything.
    package func refusal(of origin: HTTP.Origin) -> GuardRefusal? {
        if let schemes, !schemes.contains(origin.scheme) { return .scheme(origin.scheme) }
        if let ports, !ports.contains(origin.port) { return .port(origin.port) }
        let host = origin.host
        if let pattern = deniedHosts.first(where: { $0.matches(host) }) { return .deniedHost(host, pattern) }
        if !allowedHosts.isEmpty, !allowedHosts.contains(where: { $0.matches(host) }) { return .unlistedHost(host) }
        return IPAddress(host).flatMap { refusal(of: $0) } ?? byOther { $0.refusal(of: origin) }
    }

    /// Judges a request without looking a name up: its origin, the address given for that, and its proxy. Returns nil
    /// if it passes.
    package func refusal(of origin: HTTP.Origin, through proxy: ProxyAddress?) -> GuardRefusal? {
        if let refusal = refusal(of: origin) { return refusal }
        if let address = origin.route?.address, let refusal = refusal(dialling: address) { return refusal }
        guard let proxy else { return nil }
        if let refusal = refusal(of: origin.host, through: proxy) { return refusal }
        return IPAddress(proxy.host).flatMap { refusal(ofProxyAt: $0) }
    }

    /// Judges an origin's address that is about to be dialled. Returns nil if it is allowed.
    package func refusal(dialling address: HTTP.SocketAddress) -> GuardRefusal? {
        let own = IPAddress(address).map { refusal(of: $0) } ?? (allowsUnixSockets ? nil : .unixSocket)
        return own ?? byOther { $0.refusal(dialling: address) }
    }

    /// Judges a proxy's address that is about to be dialled. Returns nil if it is allowed.
    package func refusal(diallingProxyAt address: HTTP.SocketAddress) -> GuardRefusal? {
        if let ip = IPAddress(address) { return refusal(ofProxyAt: ip) }
        return allowsUnixSockets ? byOther { $0.refusal(diallingProxyAt: address) } : .unixSocket
    }

    private func refusal(ofProxyAt address: IPAddress) -> GuardRefusal? {
        let own = proxyRanges.contains { $0.contains(address) } ? nil : refusal(of: address)
        return own ?? byOther { $0.refusal(ofProxyAt: address) }
    }

    private func byOther(_ judge: (GuardRules) -> GuardRefusal?) -> GuardRefusal? {
        if case .rules(let rules) = other { judge(rules) } else { nil }
    }

    /// Judges a request that a proxy is to forward, after `refusal(of:)`. Returns nil if it is allowed.
    ///
    /// If the proxy gets an address, from the URL or resolved here, that is judged itself.
    package func refusal(of host: String, through proxy: ProxyAddress) -> GuardRefusal? {
        guard proxy.scheme.resolvesNames, IPAddress(host) == nil else { return nil }
        guard trustedProxies.contains(TrustedProxy(proxy)) else { return .untrustedProxy(proxy.description) }
        return byOther { $0.refusal(of: host, through: proxy) }
    }

    private func refusal(of address: IPAddress) -> GuardRefusal? {
        let purpose = AddressPurpose(address)
        let both = [address] + (purpose.inner.map { [$0] } ?? [])
        if let range = deniedRanges.first(where: { both.contains(where: $0.contains) }) {
            return .deniedAddress(purpose, range)
        }
        let isOneAddress = purpose.kind == .cloudMetadata
        let isListed = allowedRanges.contains { range in
            range.contains(address) && (!isOneAddress || range.isOneAddress)
        }
        return isListed || allowedKinds.contains(purpose.kind) ? nil : .kind(purpose)
    }
}

extension GuardRules: CustomStringConvertible {
    package var description: String {
        let kinds = allowedKinds.isEmpty ? "no kind of address" : Self.list(allowedKinds.map { "\($0)" })
        let sentences: [String?] = [
            kinds,
            Self.sentence("also", allowedRanges), Self.sentence("not", deniedRanges),
            schemes.map { "only " + Self.list($0.map(\.rawValue)) },
            ports.map { ports in "only ports " + ports.sorted().map { "\($0)" }.joined(separator: ", ") },
            Self.sentence("only hosts", allowedHosts), Self.sentence("not hosts", deniedHosts),
            allowsUnixSockets ? "Unix sockets" : nil,
            Self.sentence("proxies at", proxyRanges), Self.sentence("names through", trustedProxies),
        ]
        let own = sentences.compactMap(\.self).joined(separator: "; ")
        return if case .rules(let rules) = other { "\(own); and besides (\(rules))" } else { own }
    }

    private static func sentence<Element: CustomStringConvertible>(_ word: String, _ list: Set<Element>) -> String? {
        list.isEmpty ? nil : "\(word) \(Self.list(list.map(\.description)))"
    }

    /// Lists texts in a fixed order, since sets have none.
    private static func list(_ texts: [String]) -> String { texts.sorted().joined(separator: ", ") }
}

extension GuardRules.TrustedProxy: CustomStringConvertible {
    package var description: String {
        host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
