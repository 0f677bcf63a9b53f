import Dunlin
import DunlinTesting
import Testing

/// What users are shown of testing pins, word for word.
@Suite(.timeLimit(.minutes(10)))
struct `Pinning in a unit test` {
    @Test func `a client trusts its server by the pinned key only`() async throws {
        let authority = try CertificateAuthority()
        let issued = try authority.issue(.server("127.0.0.1"))
        let server = try LoopbackServer(tls: .init(issued))
        defer { server.stop() }
        server.respond { _ in .response(body: "hello") }

        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        configuration.tls.roots = .only([.bytes(authority.certificate.der)])
        configuration.tls.policy = try SecurityPolicy(mode: .publicKey, pins: [.init(issued.pin)])
        let client = try HTTPSession(configuration)
        #expect(try await client.get("x", as: .string).value == "hello")

        configuration.tls.policy = try SecurityPolicy(mode: .publicKey, pins: [.init(CertificateAuthority.Key().pin)])
        try client.replaceTLS(configuration.tls)
        let error = await #expect(throws: NetworkError.self) { try await client.get("x", as: .string) }
        #expect(error?.trustRefusal?.reason == .pinMismatch)
        await client.shutdown()
    }
}
