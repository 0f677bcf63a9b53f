import Dunlin
import DunlinTesting

/// Whom the servers of a storm over TLS pretend to be. All stand at one address; the name that is asked for says which
/// certificate is shown.
struct Masks: Sendable {
    enum Name: String, CaseIterable, Sendable {
        case good = "good.test"
        case late = "late.test"
        case misnamed = "misnamed.test"
        case unknown = "unknown.test"

        var isBelieved: Bool { self == .good }
    }

    /// Every server's, so that tickets of one are good for the next.
    let tls: LoopbackServer.TLS
    private let root: Bytes

    init() throws {
        let authority = try CertificateAuthority()
        root = authority.certificate.der
        var tls = LoopbackServer.TLS(try authority.issue(.server(Name.good.rawValue)))
        tls.identities = [
            Name.late.rawValue: try authority.issue(.server(Name.late.rawValue).expired),
            Name.misnamed.rawValue: try authority.issue(.server("somebody.test")),
            Name.unknown.rawValue: try CertificateAuthority().issue(.server(Name.unknown.rawValue)),
        ]
        tls.clientCertificate = .requested
        self.tls = tls
    }

    func put(on configuration: inout HTTPSession.Configuration) {
        configuration.tls.roots = .only([.bytes(root)])
        configuration.resolver = Nearby()
    }
}

/// Every name is this machine's.
final class Nearby: Resolver {
    func addresses(of host: String, port: UInt16) async throws -> [HTTP.SocketAddress] {
        [HTTP.SocketAddress(ip: "127.0.0.1", port: port)].compactMap { $0 }
    }
}
