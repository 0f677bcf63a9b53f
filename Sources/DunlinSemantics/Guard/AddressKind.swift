/// What an address is for, by the registries of IANA for special purposes (RFC 6890, RFC 8190).
package enum AddressKind: String, Sendable, Hashable, CaseIterable {
    /// Anybody on the internet may have it.
    case `public`
    case `private`
    case loopback
    case linkLocal
    /// Hands out the credentials of a machine to whoever asks on it.
    case cloudMetadata
    case uniqueLocal
    /// Between a provider and its customers.
    case shared
    case multicast
    /// No address in particular, or this network; connecting there reaches this machine.
    case unspecified
    case broadcast
    case documentation
    case benchmarking
    /// The translator of a network of its own has the address inside, and nobody else knows where.
    case localTranslation
    case teredo
    case siteLocal
    case discard
    /// For protocols between machines, not for servers.
    case protocolAssignment
    case reserved
}

extension AddressKind: CustomStringConvertible {
    /// With its article: "a loopback address".
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
