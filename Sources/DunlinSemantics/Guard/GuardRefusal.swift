package import DunlinTypes

/// The reason why the guard refuses a request: the rule, and what it found.
package enum GuardRefusal: Error, Sendable, Hashable {
    case scheme(HTTP.Origin.Scheme)
    case port(UInt16)
    case deniedHost(String, NamePattern)
    /// There is a list of hosts, and this host is not in it.
    case unlistedHost(String)
    case deniedAddress(AddressPurpose, AddressRange)
    /// The address is of a kind that is not allowed, and in no allowed range.
    case kind(AddressPurpose)
    case unixSocket
    /// The proxy, without user info: it would resolve the name, and is not listed as one that judges by itself.
    case untrustedProxy(String)
}

extension GuardRefusal: CustomStringConvertible {
    /// Half a sentence for an error's reason.
    package var description: String {
        switch self {
        case .scheme(let scheme): "refused by the guard: the scheme \(scheme.rawValue) is not in `schemes`"
        case .port(let port): "refused by the guard: port \(port) is not in `ports`"
        case .deniedHost(let host, let pattern):
            "refused by the guard: \(Self.shown(host)) is denied by "
                + (host == pattern.description ? "" : "\(pattern) in ") + "`deniedHosts`"
        case .unlistedHost(let host): "refused by the guard: \(Self.shown(host)) is not in `allowedHosts`"
        case .deniedAddress(let address, let range):
            "refused by the guard: \(address), and \(range) in `deniedAddresses` denies it"
        case .kind(let address): "refused by the guard: \(address); `allowedAddresses` can allow it"
        case .unixSocket: "refused by the guard: Unix sockets are not allowed; set `allowsUnixSockets` to allow them"
        case .untrustedProxy(let proxy):
            "refused by the guard: \(proxy) resolves the name, so its addresses cannot be checked; add that proxy to "
                + "`trustedProxies`, or use socks5://"
        }
    }

    private static func shown(_ host: String) -> String { VisibleText.of(host, upTo: 100) }
}
