import Dunlin
import DunlinReactor
import DunlinTesting
import DunlinTypes
import Testing

/// A loopback server, a session on a loop of its own, and the promise that nothing of either is left afterwards.
///
/// Whether there is TLS between them is for the suite's traits to say.
struct Stage: Sendable {
    @TaskLocal static var isSecure = false

    let server: LoopbackServer
    let loop: PrivateLoop
    let session: HTTPSession

    /// Runs a test on a stage of its own, with one loop whatever the test run says if it must be; ends with the loop's
    /// ledger at zero and no complaint of the server's.
    static func with(
        _ endpoint: LoopbackServer.Endpoint = .ipv4, server: LoopbackServer.Configuration = .init(),
        clock: ManualClock? = nil, oneLoop: Bool = false, tolerating: Bool = false,
        configure: (inout HTTPSession.Configuration) -> Void = { _ in }, _ play: (Stage) async throws -> Void
    ) async throws {
        let server = try makeServer(endpoint, server)
        defer { server.stop() }
        let loop =
            if oneLoop { try PrivateLoop.single(clock: clock) } else {
                try clock.map { try PrivateLoop(clock: $0) } ?? PrivateLoop()
            }
        var configuration = try configuration(for: server)
        configuration.use(loop)
        configure(&configuration)
        do {
            let session = try HTTPSession(configuration)
            try await play(Stage(server: server, loop: loop, session: session))
            await session.shutdown()
        }
        try await loop.verifyNothingLeft()
        if !tolerating { #expect(server.failures.isEmpty) }
    }

    var scheme: String { Self.isSecure ? "https" : "http" }

    static func makeServer(
        _ endpoint: LoopbackServer.Endpoint = .ipv4, _ configuration: LoopbackServer.Configuration = .init()
    ) throws -> LoopbackServer {
        guard isSecure else { return try LoopbackServer(endpoint, configuration: configuration) }
        let names = CertificateTemplate.server("127.0.0.1", "::1", "localhost", "many.test")
        return try LoopbackServer(
            endpoint, tls: .init(try authority.get().issue(names)), configuration: configuration)
    }

    /// A session that talks to the server and believes it. What hangs hangs until a test's own limit or the test's end:
    /// when all tests begin at once, anything may take long.
    static func configuration(for server: LoopbackServer) throws -> HTTPSession.Configuration {
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        if case .unix(let path) = server.address { configuration.socketPath = path }
        if isSecure { configuration.tls.roots = .only([.bytes(try authority.get().certificate.der)]) }
        configuration.timeouts = .patient
        return configuration
    }

    private static let authority = Result { try CertificateAuthority() }

    /// The one `eventually`, which looks again with the loop's turns and with what the server does.
    func eventually(
        _ what: String, every pace: Duration = .milliseconds(10), fileID: String = #fileID, line: Int = #line,
        _ condition: () async throws -> Bool
    ) async throws {
        try await DunlinTesting.eventually(
            what, following: loop, server, every: pace, fileID: fileID, line: line, condition)
    }

    /// Proves that earlier mishaps left the session fit for use.
    func expectHealthy() async throws {
        server.onConnect { _ in .accept }
        server.route(.get, "/health", .response(body: "fit"))
        #expect(try await session.get("health", as: .string).value == "fit")
    }
}

extension Timeouts {
    /// Longer than any test.
    static var patient: Timeouts {
        var timeouts = Timeouts()
        for limit in Timeouts.Limit.allCases { timeouts[limit] = .seconds(1000) }
        return timeouts
    }

    /// Where a test waits for a deadline, and must not take another limit's for the one it means.
    static var none: Timeouts {
        var timeouts = Timeouts()
        for limit in Timeouts.Limit.allCases { timeouts[limit] = nil }
        return timeouts
    }
}

extension HTTPSession.RequestTimeouts {
    static var patient: HTTPSession.RequestTimeouts { HTTPSession.RequestTimeouts(Timeouts.patient) }
}
