import Dunlin
import DunlinTesting

/// The certificates of people and of their server.
enum Certificates {
    private static let authority = Result { try CertificateAuthority() }
    private static let clients = Result {
        try [Person.alice, .bob].map { ($0, try authority.get().issue(.client($0.rawValue))) }
    }

    /// Settings that trust the server and name a person.
    static func tls(_ person: Person, _ settings: HTTPSession.TLS) throws -> HTTPSession.TLS {
        var settings = settings
        settings.roots = .only([.bytes(try authority.get().certificate.der)])
        settings.identity = try clients.get().first { $0.0 == person }.map { _, issued in
            .pem(.bytes(Bytes(issued.chainPEM + (try issued.privateKeyPEM))))
        }
        return settings
    }

    /// A server that asks for certificates.
    static func server() throws -> LoopbackServer {
        let authority = try authority.get()
        var tls = LoopbackServer.TLS(try authority.issue(.server("127.0.0.1")))
        tls.clientCertificate = .requested
        tls.clientAuthorities = [authority.certificate.der]
        return try LoopbackServer(tls: tls)
    }

    /// Whose certificate a request came with.
    static func name(_ request: LoopbackServer.RecordedRequest) -> String? {
        guard let certificate = request.handshake?.clientCertificate, case .success(let clients) = clients else {
            return nil
        }
        return clients.first { $0.1.der == certificate }?.0.rawValue
    }
}
