import Dunlin
import DunlinTesting
import Synchronization
import Testing

/// The snippets of the guides to trust and to networks, word for word.
@Suite(.timeLimit(.minutes(10)))
struct `Guides to trust and networks` {
    @Test func `the examples about pins run as written`() throws {
        var configuration = HTTPSession.Configuration(
            baseURL: "https://api.example.com")
        configuration.tls.policy = try SecurityPolicy(
            mode: .publicKey,
            pins: [.init("sha256/RhJ0zCbdbdlj3rUd8PEcLlzpVz5SUQzzGHKXFzvLP6M=")],
            backupPins: [
                .init("sha256/qWMNA9iWOZa2ulmXeA7XQyfGK1V7tQKUCbJXJHFfvtM=")
            ])
        let client = try HTTPSession(configuration)

        #expect(client.configuration.tls.policy.isPinning)
        let apiPins = configuration.tls.policy.pins
        let (cdnPins, companyPins) = (configuration.tls.policy.backupPins, apiPins)
        configuration.tls.policy.hosts = [
            "api.example.com": apiPins, "*.cdn.example.com": cdnPins,
            "**.example.com": companyPins,
        ]
        configuration.tls.policy.requiresPinningForAllHosts = true

        #expect(try HTTPSession(configuration).configuration.tls.policy.hosts.count == 3)
        configuration.baseURL = "http://api.example.com"
        #expect(throws: NetworkError.self) { try HTTPSession(configuration) }
    }

    @Test func `the examples about roots, identities and warnings run as written`() throws {
        let passphrase = "p"
        let logger = Log()
        var configuration = HTTPSession.Configuration(baseURL: "https://api.example.com")
        configuration.securityWarningHandler = { logger.warning("\($0)") }

        configuration.tls.policy = .insecure
        _ = try HTTPSession(configuration)
        #expect(logger.count > 0)
        configuration.tls.policy = SecurityPolicy()
        configuration.tls.roots = .only(["/etc/app/ca.pem"])

        let unreadable = #expect(throws: NetworkError.self) { try HTTPSession(configuration) }
        #expect(unreadable?.reason.contains("/etc/app/ca.pem cannot be read") == true)
        configuration.tls.roots = .system
        configuration.tls.policy.certificateRules = .compatible
        #expect(try HTTPSession(configuration).tls.policy.certificateRules == .compatible)
        configuration.tls.identity = .pem(
            "/etc/app/client.pem", key: "/etc/app/client.key")

        #expect(configuration.tls.identity?.passphrase == nil)
        configuration.tls.identity = .pkcs12(
            "/etc/app/client.p12", passphrase: passphrase)

        #expect(configuration.tls.identity?.passphrase == "p")
    }

    private nonisolated final class Log: Sendable {
        private let lines = Mutex(0)
        var count: Int { lines.withLock(\.self) }
        func warning(_ line: String) { lines.withLock { $0 += 1 } }
    }

    @Test func `the examples about why a server was refused run as written`() async throws {
        let authority = try CertificateAuthority()
        let server = try LoopbackServer(tls: .init(authority.issue(.server("127.0.0.1").expired)))
        server.respond { _ in .response(body: "hello") }
        let client = try HTTPSession(baseURL: server.baseURL) {
            $0.tls.roots = .only([.bytes(authority.certificate.der)])
        }
        do {
            _ = try await client.get("users/42", as: User.self)
        } catch let error as NetworkError {
            if let refusal = error.trustRefusal { print(refusal) }
        }

        let error = await #expect(throws: NetworkError.self) { try await client.get("users/42") }
        #expect(error?.code == .serverTrustFailed)
        #expect("\(try #require(error?.trustRefusal))".contains("the certificate of 127.0.0.1 expired on "))
        await client.shutdown()
        server.stop()
    }

    @Test func `the examples about versions and ciphers run as written`() async throws {
        let authority = try CertificateAuthority()
        var tls = try LoopbackServer.TLS(authority.issue(.server("127.0.0.1")))
        tls.versions = .v1_2 ... .v1_2
        let server = try LoopbackServer(tls: tls)
        server.respond { _ in .response(body: "hello") }
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        configuration.tls.roots = .only([.bytes(authority.certificate.der)])
        configuration.tls.ciphers = "ECDHE+AESGCM"
        configuration.tls.suites = "TLS_AES_256_GCM_SHA384"
        configuration.tls.groups = "X25519:P-256"

        let client = try HTTPSession(configuration)
        let response = try await client.get("x", as: .string)
        #expect(response.metrics.hops.last?.security?.version == "TLS 1.2")
        await client.shutdown()
        configuration.tls.versions = .tls13 ... .tls13

        let newer = try HTTPSession(configuration)
        let refused = await #expect(throws: NetworkError.self) { try await newer.get("x") }
        #expect(refused?.code == .secureConnectionFailed && refused?.reason.contains("protocol_version") == true)
        await newer.shutdown()
        server.stop()
        configuration.tls.ciphers = "no such cipher"
        let unknown = #expect(throws: NetworkError.self) { try HTTPSession(configuration) }
        #expect(unknown?.code == .invalidConfiguration)
    }

    @Test func `the client holds its server to the key`() async throws {
        let authority = try CertificateAuthority()
        let issued = try authority.issue(.server("127.0.0.1"))
        let server = try LoopbackServer(tls: .init(issued))
        defer { server.stop() }
        server.respond { _ in .response(body: "hello") }

        var configuration = HTTPSession.Configuration(
            baseURL: server.baseURL)
        configuration.tls.roots = .only([
            .bytes(authority.certificate.der)
        ])
        configuration.tls.policy = try SecurityPolicy(
            mode: .publicKey, pins: [.init(issued.pin)])
        let client = try HTTPSession(configuration)
        #expect(try await client.get("x", as: .string).value == "hello")

        configuration.tls.policy = try SecurityPolicy(
            mode: .publicKey,
            pins: [.init(CertificateAuthority.Key().pin)])
        try client.replace(tls: configuration.tls)
        let error = await #expect(throws: NetworkError.self) {
            try await client.get("x", as: .string)
        }
        #expect(error?.trustRefusal?.reason == .pinMismatch)
        await client.shutdown()
    }

    @Test func `the examples about reachability run as written`() async throws {
        let transport = MockTransport()
        transport.otherwise { _ in .respond() }
        let client = try HTTPSession(baseURL: "http://example.test/") { $0.transport = transport }
        let looking = Task {
            for await status in Reachability.shared.statuses {
                print(status)  // "Reachable via WiFi", "Not Reachable", …
            }
        }
        #expect(
            "\(Reachability.Status.wifi), \(Reachability.Status.notReachable)" == "Reachable via WiFi, Not Reachable")
        let server = Reachability.host(
            "example.com",
            probing: .head("/health", of: client, every: .seconds(60)))

        #expect(server.status == .unknown && !server.isObserved)
        looking.cancel()
        await looking.value
    }

    @Test func `a request waits for a network`() async throws {
        let (network, transport) = (ManualNetwork(), MockTransport())
        transport.on(.get, "/x").fail(.nameNotResolved).thenRespond(body: "there")
        var configuration = HTTPSession.Configuration(baseURL: "http://api.test/", transport: transport)
        configuration.reachability = Reachability(source: network)
        configuration.waitsForConnectivity = true
        configuration.hooks.waitingForConnectivity = { task, error in
            print("\(task.targetTemplate) waits: \(error.reason)")
        }

        let client = try HTTPSession(configuration)
        async let answer = client.get("x", as: .string)
        try await eventually("it looks", following: network) { network.lookCount >= 1 }
        network.change(to: .wifi)
        #expect(try await answer.value == "there")
        await client.shutdown()
    }

    @Test func `the examples about rules for interfaces run as written`() async throws {
        let server = try LoopbackServer()
        server.respond { _ in .response(body: "hello") }
        var configuration = HTTPSession.Configuration(
            baseURL: server.baseURL)
        var options = HTTPSession.Options()
        configuration.interfaces = .deny(kinds: .wwan)
        options.interfaces = .allow(names: "eth0", "wlan0")

        let client = try HTTPSession(configuration)
        for _ in 0..<2 {
            try await client.get("x")
            try await client.get("x", options: options)
        }
        #expect(server.connectionCount == 2, "one for each rule")
        await client.shutdown()
        server.stop()
    }
}
