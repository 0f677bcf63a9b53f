import Dunlin
import DunlinTesting
import Testing

/// A server, a session, and what comes of the two.
struct TrustCase: Sendable, CustomTestStringConvertible {
    enum Verdict: Sendable {
        case believed
        /// For this reason, and the error's own words contain these.
        case refused(NetworkError.TrustRefusal.Reason, String)
        /// TLS itself comes to nothing.
        case failed(String)
    }

    typealias Server = @Sendable (inout LoopbackServer.TLS, SecureStage.Cast) throws -> Void
    typealias Client = @Sendable (inout HTTPSession.TLS, SecureStage.Cast) throws -> Void

    let name: String
    let scene: SecureStage.Scene
    let verdict: Verdict
    private(set) var server: Server = { _, _ in }
    private(set) var client: Client = { _, _ in }

    var testDescription: String { name }

    init(
        _ name: String, _ verdict: Verdict = .believed, at host: String = "api.test",
        showing template: CertificateTemplate = .server("api.test")
    ) {
        self.init(name, verdict, at: host) { try $0.issue(template) }
    }

    /// `make` says what the server shows.
    init(
        _ name: String, _ verdict: Verdict = .believed, at host: String = "api.test",
        _ make: @escaping @Sendable (CertificateAuthority) throws -> IssuedCertificate
    ) {
        self.name = name
        self.verdict = verdict
        scene = SecureStage.Scene(host: host, issue: make)
    }

    /// The server is set up in a way of its own.
    func server(_ change: @escaping Server) -> TrustCase {
        var other = self
        other.server = change
        return other
    }

    /// The session is.
    func client(_ change: @escaping Client) -> TrustCase {
        var other = self
        other.client = change
        return other
    }

    /// Both versions of TLS come to the same.
    func play(_ version: LoopbackServer.TLS.Version, _ play: (SecureStage) async throws -> Void) async throws {
        try await SecureStage.with(
            scene, tolerating: true,
            tls: { tls, cast in
                tls.versions = version...version
                try server(&tls, cast)
            },
            configure: { configuration, cast in try client(&configuration.tls, cast) }, play)
    }
}

extension HTTPSession.TLS {
    /// Holds servers to these, by their keys or as they are.
    mutating func pin(
        _ mode: SecurityPolicy.PinningMode, _ issued: IssuedCertificate..., allowingInvalid: Bool = false
    ) throws {
        policy = SecurityPolicy(mode: mode, pins: try Self.pins(issued, mode))
        policy.allowsInvalidCertificates = allowingInvalid
    }

    static func pins(
        _ issued: [IssuedCertificate], _ mode: SecurityPolicy.PinningMode = .publicKey
    ) throws -> Set<SecurityPolicy.Pin> {
        Set(try issued.map { mode == .certificate ? try .init(certificate: $0.der) : try .init($0.pin) })
    }

    /// Nobody is known.
    mutating func knowNobody() throws {
        roots = .only([.bytes(try CertificateAuthority(.authority("Somebody else")).certificate.der)])
    }
}
