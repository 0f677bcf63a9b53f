/// The rules for which servers a session trusts, in addition to the rules for every certificate.
///
/// ```swift
/// let policy = try SecurityPolicy(
///     mode: .publicKey, pins: [.init("sha256/RhJ0zCbdbdlj3rUd8PEcLlzpVz5SUQzzGHKXFzvLP6M=")],
///     backupPins: [.init("sha256/qWMNA9iWOZa2ulmXeA7XQyfGK1V7tQKUCbJXJHFfvtM=")])
/// ```
///
/// By default a chain must lead to one of the session's roots, and the certificate must name the host in its subject
/// alternative name (RFC 9525). Settings that weaken this have names that say so, and are reported once to
/// `HTTPSession.Configuration.securityWarningHandler`.
///
/// - Pins are compared with the verified path, never with what a server merely sends along.
/// - Have a backup pin: the key of a certificate that is kept in a safe place, in case the first one is lost.
/// - A pinned authority vouches for all its customers. Pin the server's own key, or an authority of your own.
/// - A key outlives the renewal of its certificate, a pinned certificate does not.
/// - The decision is made for each new connection. It is not made again when a connection is reused.
public struct SecurityPolicy: Sendable, Hashable {
    public enum PinningMode: String, Sendable, Hashable, CaseIterable, Codable {
        /// There are no pins; the roots decide.
        case none
        /// The roots decide, and a public key on the path must be pinned.
        case publicKey
        /// The roots decide, and a certificate on the path must be pinned, byte for byte. The path must also verify
        /// with the pinned certificates as its only roots.
        case certificate
    }

    public enum PinPosition: String, Sendable, Hashable, CaseIterable, Codable {
        /// Only the server's own certificate counts.
        case leaf
        /// Any certificate on the verified path counts.
        case any
    }

    public enum CertificateRules: String, Sendable, Hashable, CaseIterable, Codable {
        /// Every certificate below a root must follow RFC 5280.
        case strict
        /// Certificates may lack what verification does not need, such as key identifiers, which hand-made authorities
        /// often omit. Signatures, dates, names, purposes and keys are checked as usual.
        case compatible
    }

    public var pinningMode: PinningMode
    /// The pins for all hosts that `hosts` does not name.
    public var pins: Set<Pin>
    /// Pins with the same effect as `pins`, kept apart to show whether there are any.
    public var backupPins: Set<Pin> = []
    /// Pins for certain hosts, by pattern: `api.test` for that host only, `*.api.test` for all with one more label,
    /// `**.api.test` for it and all below. Only the most specific pattern for a host applies.
    public var hosts: [String: Set<Pin>] = [:]
    public var pinPosition = PinPosition.any
    /// Whether hosts without pins are refused. If not, they are verified as if there were no policy.
    public var requiresPinningForAllHosts = false
    /// **Lowers security.** Whether certificates that lead to no root are trusted: with pinned keys regardless of their
    /// dates, with pinned certificates only within their dates. Without pins nothing would be left to verify, so the
    /// server is refused, unless names are not checked either, which requires `insecure`.
    public var allowsInvalidCertificates = false
    /// **Lowers security when false.** Whether the certificate must name the host.
    public var validatesDomainName = true
    /// How strictly certificates must follow RFC 5280.
    public var certificateRules = CertificateRules.strict
    /// True only for `insecure`.
    package internal(set) var isDeclaredInsecure = false

    /// Creates a policy by which the roots decide, and the certificate must name the host.
    public init() {
        pinningMode = .none
        pins = []
    }

    /// Creates a policy with exactly these pins.
    public init(mode: PinningMode, pins: Set<Pin>, backupPins: Set<Pin> = []) {
        pinningMode = mode
        self.pins = pins
        self.backupPins = backupPins
    }

    /// **Turns security off.** Trusts every server, whoever it is, so that everything can be read and changed on the
    /// way. For a laboratory, never for production.
    public static var insecure: SecurityPolicy {
        var policy = SecurityPolicy()
        policy.allowsInvalidCertificates = true
        policy.validatesDomainName = false
        policy.isDeclaredInsecure = true
        return policy
    }

    /// Whether anything is pinned, or should be.
    public var isPinning: Bool { pinningMode != .none }
}
