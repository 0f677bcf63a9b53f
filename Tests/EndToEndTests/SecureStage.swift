import Dunlin
import DunlinTesting
import Testing

/// A loopback server with TLS, a session that believes the server's authority, and the promise that nothing is left.
struct SecureStage: Sendable {
    let authority: CertificateAuthority
    let server: LoopbackServer
    let loop: PrivateLoop
    let session: HTTPSession

    static func with(
        _ template: CertificateTemplate = .server("127.0.0.1"), tolerating: Bool = false,
        tls change: (inout LoopbackServer.TLS) -> Void = { _ in }, clock: ManualClock? = nil,
        configure: (inout HTTPSession.Configuration, CertificateAuthority) throws -> Void = { _, _ in },
        _ play: (SecureStage) async throws -> Void
    ) async throws {
        let authority = try CertificateAuthority()
        var tls = LoopbackServer.TLS(try authority.issue(template))
        change(&tls)
        let server = try LoopbackServer(tls: tls)
        defer { server.stop() }
        let loop = try clock.map { try PrivateLoop(clock: $0) } ?? PrivateLoop()
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        configuration.tls.roots = .only([.bytes(authority.certificate.der)])
        configuration.timeouts = .patient
        configuration.use(loop)
        try configure(&configuration, authority)
        do {
            let session = try HTTPSession(configuration)
            try await play(SecureStage(authority: authority, server: server, loop: loop, session: session))
            await session.shutdown()
        }
        try await loop.verifyNothingLeft()
        if !tolerating { #expect(server.failures.isEmpty) }
    }
}
