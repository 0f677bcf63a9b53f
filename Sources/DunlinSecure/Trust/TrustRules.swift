package import DunlinTypes

/// A security policy, compiled: who must be pinned, by what, and what else is asked.
///
/// Rules, in the order they count:
/// 1. Pins of the most specific matching pattern count before those for all hosts.
/// 2. Nothing pinned anywhere, though the mode asks for pins: refused.
/// 3. A host without pins: refused if each host must have some; otherwise verified as if there were no policy. That
///    invalid certificates are allowed does not reach it: it was said of pinned hosts.
/// 4. Invalid certificates allowed, the name to be checked, and nothing pinned: refused, since the name would be
///    compared with what anybody can write.
///
/// Must not know: OpenSSL.
package struct TrustRules: Sendable, Hashable {
    package enum Mode: String, Sendable, Hashable {
        case none
        case publicKey
        case certificate
    }

    package enum Position: String, Sendable, Hashable {
        /// Only the server's own certificate.
        case leaf
        /// Any certificate of the verified path.
        case any
    }

    /// The pins for a host.
    package struct Pins: Sendable, Hashable {
        /// The digests of SubjectPublicKeyInfo, including those of the certificates below.
        package var keys: Set<Certificate.Fingerprint>
        /// The pinned certificates.
        package var certificates: Set<Certificate>

        package init(keys: Set<Certificate.Fingerprint> = [], certificates: Set<Certificate> = []) {
            self.keys = keys.union(certificates.map(\.details.publicKey))
            self.certificates = certificates
        }

        package var isEmpty: Bool { keys.isEmpty && certificates.isEmpty }
    }

    package var mode = Mode.none
    package var pins = Pins()
    package var hosts: [HostPattern: Pins] = [:]
    package var position = Position.any
    package var requiresPins = false
    package var allowsInvalid = false
    package var checksHost = true
    /// Whether RFC 5280 is applied to the letter.
    package var isStrict = true
    package var revocation = RevocationRules()
    /// The most authorities between the server's certificate and the anchor.
    var maximumIntermediates = 8

    package init() {}

    /// The requirement for one host.
    package enum Demand: Sendable, Hashable {
        /// A path to one of the roots.
        case roots
        /// A path to one of the roots with a pin on it; or, where invalid certificates are allowed, to a pin.
        case pins(Pins)
        case nothing
        case refusal(NetworkError.TrustRefusal.Reason)
    }

    package func demand(for host: HostIdentity) -> Demand {
        guard mode != .none else {
            guard allowsInvalid else { return .roots }
            return checksHost ? .refusal(.nameNeedsPin) : .nothing
        }
        let own = hosts.filter { $0.key.matches(host) }.max { $0.key.precedes($1.key) }?.value ?? pins
        if !own.isEmpty { return .pins(own) }
        if allowsInvalid, checksHost, hosts.isEmpty { return .refusal(.nameNeedsPin) }
        if hosts.isEmpty { return .refusal(.noPins) }
        return requiresPins ? .refusal(.hostNotPinned) : .roots
    }
}
