import Dunlin
import DunlinTesting
import LeakChecking
import Testing

/// What the suites over TLS begin with.
enum SecureSession {
    /// Runs a test with a session that believes this authority, at this address.
    static func with(
        _ authority: CertificateAuthority, at baseURL: String,
        _ configure: (inout HTTPSession.Configuration) throws -> Void = { _ in },
        _ play: (HTTPSession) async throws -> Void
    ) async throws {
        var configuration = HTTPSession.Configuration(baseURL: baseURL)
        configuration.useLoopOfTest()
        configuration.tls.roots = .only([.bytes(authority.certificate.der)])
        try configure(&configuration)
        let session = try HTTPSession(configuration)
        try await play(session)
        await session.shutdown()
    }

    static func identity(_ issued: IssuedCertificate) throws -> HTTPSession.ClientIdentity {
        .pem(.bytes(Bytes(issued.chainPEM + (try issued.privateKeyPEM))))
    }

    static var lenient: HTTPSession.Options { HTTPSession.Options(validatesResponse: false) }
}

extension HTTPSession.Response {
    /// How the connection was secured.
    var security: HTTP.ConnectionSecurity? { metrics.hops.last?.security }
}
