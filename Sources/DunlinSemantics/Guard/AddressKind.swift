/// The purpose of an address, by IANA's special-purpose registries (RFC 6890, RFC 8190).
package enum AddressKind: String, Sendable, Hashable, CaseIterable {
    /// Anybody on the internet may use it.
    case `public`
    case `private`
    case loopback
    case linkLocal
    /// It gives out a machine's credentials to any program on that machine.
    case cloudMetadata
    case uniqueLocal
    /// It is used between a provider and its customers.
    case shared
    case multicast
    /// It is no particular address, or this network; connecting there reaches this machine.
    case unspecified
    case broadcast
    case documentation
    case benchmarking
    /// It embeds an address in a way that only the local network's translator knows.
    case localTranslation
    case teredo
    case siteLocal
    case discard
    /// It is for protocols between machines, not for servers.
    case protocolAssignment
    case reserved
}

extension AddressKind: CustomStringConvertible {
    /// The kind with its article: "a loopback address".
    package var description: String {
        switch self {
        case .public: "a public address"
        case .private: "a private address"
        case .loopback: "a loopback address"
        case .linkLocal: "a link-local address"
        case .cloudMetadata: "a cloud's metadata address"
        case .uniqueLocal: "a unique-local address"
        case .shared: "a shared address (carrier-grade NAT)"
        case .multicast: "a multicast address"
        case .unspecified: "an unspecified address"
        case .broadcast: "a broadcast address"
        case .documentation: "an address for documentation"
        case .benchmarking: "an address for benchmarking"
        case .localTranslation: "a local-use NAT64 address"
        case .teredo: "a Teredo address"
        case .siteLocal: "a site-local address"
        case .discard: "an address whose packets are discarded"
        case .protocolAssignment: "an address for protocol assignments"
        case .reserved: "a reserved address"
        }
    }
}
