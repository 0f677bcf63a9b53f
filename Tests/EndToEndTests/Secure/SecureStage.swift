import Dunlin
import DunlinTesting
import Testing

/// A loopback server with TLS, a session that believes the server's authority, and the promise that nothing is left.
struct SecureStage: Sendable {
    /// What an authority has done before the play.
    struct Scene: Sendable {
        /// The host that the session asks for; it is found at the server's address.
        var host = "127.0.0.1"
        /// What the server shows.
        var issue: @Sendable (CertificateAuthority) throws -> IssuedCertificate = { try $0.issue(.server("127.0.0.1")) }

        init() {}

        init(_ template: CertificateTemplate) {
            issue = { try $0.issue(template) }
        }

        init(host: String, issue: @escaping @Sendable (CertificateAuthority) throws -> IssuedCertificate) {
            self.host = host
            self.issue = issue
        }
    }

    /// What there is when server and session are arranged.
    struct Cast: Sendable {
        let authority: CertificateAuthority
        let issued: IssuedCertificate
    }

    let cast: Cast
    let server: LoopbackServer
    let loop: PrivateLoop
    let session: HTTPSession

    var authority: CertificateAuthority { cast.authority }

    /// Runs a test on a stage of its own; ends with the loop's ledger at zero, and no complaint of the server's unless
    /// `tolerating`.
    static func with(
        _ scene: Scene = Scene(), tolerating: Bool = false,
        tls change: (inout LoopbackServer.TLS, Cast) throws -> Void = { _, _ in }, clock: ManualClock? = nil,
        configure: (inout HTTPSession.Configuration, Cast) throws -> Void = { _, _ in },
        _ play: (SecureStage) async throws -> Void
    ) async throws {
        let authority = try CertificateAuthority()
        let cast = Cast(authority: authority, issued: try scene.issue(authority))
        var tls = LoopbackServer.TLS(cast.issued)
        try change(&tls, cast)
        let server = try LoopbackServer(tls: tls)
        defer { server.stop() }
        let loop = try clock.map { try PrivateLoop(clock: $0) } ?? PrivateLoop()
        var configuration = try configuration(for: server, scene, cast)
        configuration.use(loop)
        try configure(&configuration, cast)
        do {
            let session = try HTTPSession(configuration)
            try await play(SecureStage(cast: cast, server: server, loop: loop, session: session))
            await session.shutdown()
        }
        try await loop.verifyNothingLeft()
        if !tolerating { #expect(server.failures.isEmpty) }
    }

    private static func configuration(
        for server: LoopbackServer, _ scene: Scene, _ cast: Cast
    ) throws -> HTTPSession.Configuration {
        let host = scene.host.contains(":") ? "[\(scene.host)]" : scene.host
        var configuration = HTTPSession.Configuration(baseURL: "https://\(host):\(server.port)")
        if scene.host != "127.0.0.1" { configuration.hostOverrides[host] = server.address }
        configuration.tls.roots = .only([.bytes(cast.authority.certificate.der)])
        configuration.timeouts = .patient
        return configuration
    }

    /// A session of its own to the same server, on the same loop; to be shut down by the caller.
    func anotherSession(_ configure: (inout HTTPSession.Configuration) throws -> Void = { _ in }) throws -> HTTPSession
    {
        var configuration = session.configuration
        try configure(&configuration)
        return try HTTPSession(configuration)
    }

    /// Proves that earlier mishaps left the session fit for use.
    func expectHealthy() async throws {
        server.onConnect { _ in .accept }
        server.route(.get, "/health", .response(body: "fit"))
        #expect(try await session.get("health", as: .string).value == "fit")
    }
}
