package import DunlinTypes

/// Why the guard refuses a request: which rule, and what it found.
package enum GuardRefusal: Error, Sendable, Hashable {
    case scheme(HTTP.Origin.Scheme)
    case port(UInt16)
    case deniedHost(String, NamePattern)
    /// There is a list of hosts, and this one is not in it.
    case unlistedHost(String)
    case deniedAddress(AddressPurpose, AddressRange)
    /// The address is of a kind that is not allowed, and in no range that is.
    case kind(AddressPurpose)
    case unixSocket
    /// The proxy, without user info: it would resolve the name, and is not listed as one that judges by itself.
    case untrustedProxy(String)
}

extension GuardRefusal: CustomStringConvertible {
    /// Half a sentence for the reason of an error.
    package var description: String {
        switch self {
        case .scheme(let scheme): "the guard does not allow the scheme \(scheme.rawValue)"
        case .port(let port): "the guard does not allow port \(port)"
        case .deniedHost(let host, let pattern):
            "the guard denies \(pattern)" + (host == pattern.description ? "" : ", and so \(Self.shown(host))")
        case .unlistedHost(let host): "the guard has a list of hosts, and \(Self.shown(host)) is not in it"
        case .deniedAddress(let address, let range): "the guard denies \(range), and \(address)"
        case .kind(let address): "the guard does not allow it: \(address)"
        case .unixSocket: "the guard does not allow Unix sockets"
        case .untrustedProxy(let proxy):
            "the guard cannot judge a name that \(proxy) resolves; trust that proxy to judge, or resolve names here by "
                + "socks5"
        }
    }

    private static func shown(_ host: String) -> String { VisibleText.of(host, upTo: 100) }
}
