import Dunlin
import DunlinTesting
import Testing

extension ProxyStage {
    private static let authority = Result { try CertificateAuthority(.authority("Proxies")) }

    /// Issues what nobody believes who does not know the proxies' authority.
    static func issue(_ template: CertificateTemplate = .server("127.0.0.1")) throws -> IssuedCertificate {
        try authority.get().issue(template)
    }

    /// A stage whose proxy speaks TLS, and is believed for what an authority says that the origin's is not.
    static func overTLS(
        user: String? = nil, password: String = "", login: LoopbackProxy.Login = .basic,
        showing issued: IssuedCertificate? = nil, tls change: (inout LoopbackServer.TLS) throws -> Void = { _ in },
        clock: ManualClock? = nil, configure: (inout HTTPSession.Configuration) -> Void = { _ in },
        _ play: (ProxyStage) async throws -> Void
    ) async throws {
        var tls = LoopbackServer.TLS(try issued ?? issue())
        try change(&tls)
        let root = try authority.get().certificate.der
        try await with(
            "https", user: user, password: password, login: login, tls: tls, clock: clock,
            configure: {
                $0.proxyTLS.roots = .only([.bytes(root)])
                configure(&$0)
            }, play)
    }

    /// Proves that earlier mishaps left the session fit for use.
    func expectHealthy() async throws {
        #expect(try await get().value == "from the origin")
    }

    /// Waits until a connection that nobody leases has been dropped.
    func connectionIsDropped() async throws {
        try await stage.eventually("the connection is dropped") { session.connections.open == 0 }
    }
}
