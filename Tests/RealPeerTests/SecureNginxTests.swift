import Dunlin
import DunlinTesting
import LeakChecking
import Testing

/// What nginx and Dunlin make of each other over TLS.
@Suite(.needsNginx, .leakChecked, .timeLimit(.minutes(10)), .serialized)
struct `Against nginx over TLS` {
    typealias Security = Nginx.Security

    private static func with(
        _ version: Security.Version = .v1_3, showing template: CertificateTemplate = .server("127.0.0.1"),
        nginx change: (inout Security) throws -> Void = { _ in },
        session configure: (inout HTTPSession.Configuration) throws -> Void = { _ in },
        _ play: (Nginx, HTTPSession, CertificateAuthority) async throws -> Void
    ) async throws {
        let authority = try CertificateAuthority()
        var security = Security(try authority.issue(template), version)
        try change(&security)
        try await Nginx.with(security) { nginx in
            try await SecureSession.with(authority, at: nginx.baseURL, configure) { session in
                try await play(nginx, session, authority)
            }
        }
    }

    // MARK: Connections

    @Test(arguments: Security.Version.allCases, [.p256, .p384, .rsa2048, .rsa3072] as [CertificateAuthority.Key.Kind])
    func `a connection is kept alive, whatever the key`(
        version: Security.Version, kind: CertificateAuthority.Key.Kind
    ) async throws {
        try await Self.with(version, showing: .server("127.0.0.1").with(kind)) { _, session, _ in
            for index in 0..<3 {
                let response = try await session.get("hello", as: .string)
                #expect(response.value == "hello")
                #expect(response.metrics.hops.map(\.isConnectionReused) == [index > 0])
                #expect(response.security?.version == version.name)
                #expect(response.security?.applicationProtocol == "http/1.1")
            }
            #expect(session.connections.open == 1)
        }
    }

    @Test(arguments: Security.Version.allCases, Security.Memory.allCases)
    func `the next connection is resumed where nginx remembers`(
        version: Security.Version, memory: Security.Memory
    ) async throws {
        try await Self.with(version, nginx: { $0.memory = memory }) { _, session, _ in
            for index in 0..<4 {
                let response = try await session.get("once", as: .string)
                let isResumed = index > 0 && memory != .none
                #expect(response.security?.isResumed == isResumed)
                #expect(response.value == "\(version.rawValue) \(isResumed ? "r" : ".")", "nginx sees it as we do")
                #expect(response.security?.verifiedPath.count == 2)
                #expect(response.metrics.hops.map(\.isConnectionReused) == [false])
            }
        }
    }

    @Test(arguments: Security.Version.allCases)
    func `a connection that nginx closes for being idle is noticed, and the next one resumed`(
        version: Security.Version
    ) async throws {
        try await Self.with(version) { _, session, _ in
            #expect(try await session.get("brief", as: .string).value == "brief")
            try await eventually("its end is noticed") { session.connections.open == 0 }
            let response = try await session.get("hello", as: .string)
            #expect(response.metrics.hops.map(\.isConnectionReused) == [false])
            #expect(response.security?.isResumed == true)
        }
    }

    /// The first key that is sent is for a group that nginx does not take, so it asks for another (HelloRetryRequest).
    @Test(arguments: Security.Version.allCases, ["prime256v1", "secp384r1", "secp521r1"])
    func `a group that is not the client's first choice is agreed on`(version: Security.Version, group: String)
        async throws
    {
        try await Self.with(version, nginx: { $0.groups = group }) {
            (_, session: HTTPSession, _) async throws in
            for _ in 0..<2 { #expect(try await session.get("group", as: .string).value == group) }
            #expect(session.connections.open == 1)
        }
    }

    // MARK: Bodies

    @Test(arguments: Security.Version.allCases)
    func `sixty-four MiB go up and come down as they are`(version: Security.Version) async throws {
        try await Self.with(version) { nginx, session, _ in
            let file = Noise.bytes(64 << 20)
            let response = try await session.put("dav/up", body: .bytes(Bytes(file)), as: .bytes)
            #expect(response.status == .created)
            #expect(Noise.isEqual(try nginx.contents(of: "dav/up"), file))
            #expect(Noise.isEqual(try await session.get("dav/up", as: .bytes).value.array, file))
            let count = try await session.withResponse(from: "dav/up") { try await $0.body.reduce(0) { $0 + $1.count } }
            #expect(count == file.count)
            #expect(session.connections.open == 1, "all of it over one connection")
        }
    }

    // MARK: Who we are

    enum Shown: Sendable { case nothing, certificate, strangers }

    @Test(
        arguments: Security.Version.allCases,
        [
            (.off, .certificate, 200, "NONE "), (.required, .certificate, 200, "SUCCESS CN=Ada"),
            (.required, .nothing, 400, "No required SSL certificate was sent"),
            (.required, .strangers, 400, "The SSL certificate error"), (.optional, .nothing, 200, "NONE "),
            (.optional, .certificate, 200, "SUCCESS CN=Ada"), (.optional, .strangers, 400, "The SSL certificate error"),
            (.anybody, .strangers, 200, "FAILED:"),
        ] as [(Security.Clients, Shown, Int, String)])
    func `a client certificate is judged by ssl_verify_client`(
        version: Security.Version, example: (clients: Security.Clients, shown: Shown, status: Int, answer: String)
    ) async throws {
        let clients = try CertificateAuthority(.authority("Clients"))
        let issuer = example.shown == .strangers ? try CertificateAuthority(.authority("Strangers")) : clients
        try await Self.with(
            version,
            nginx: { security in
                security.clients = example.clients
                security.clientAuthority = clients
            },
            session: { configuration in
                guard example.shown != .nothing else { return }
                configuration.tls.identity = try SecureSession.identity(issuer.issue(.client("Ada")))
            }
        ) { _, session, _ in
            for _ in 0..<2 {
                let response = try await session.get("client", options: SecureSession.lenient, as: .string)
                #expect(Int(response.status.code) == example.status)
                #expect(response.value.contains(example.answer), "\(response.value)")
            }
        }
    }

    @Test(arguments: Security.Version.allCases)
    func `the hook is told whose certificates nginx takes`(version: Security.Version) async throws {
        let clients = try CertificateAuthority(.authority("Clients"))
        let identity = try SecureSession.identity(clients.issue(.client("Ada")))
        try await Self.with(
            version,
            nginx: { security in
                security.clients = .required
                security.clientAuthority = clients
            },
            session: { configuration in
                configuration.authenticationHandler = { challenge in
                    guard case .clientCertificate(let issuers) = challenge.kind else { return .performDefault }
                    return issuers == ["CN=Clients"] ? .useCredential(.identity(identity)) : .reject
                }
            }
        ) { (_, session: HTTPSession, _) async throws in
            #expect(try await session.get("client", as: .string).value == "SUCCESS CN=Ada")
        }
    }

    // MARK: Who nginx is

    @Test(arguments: Security.Version.allCases)
    func `a server with a wrong name or an unknown issuer is refused`(version: Security.Version) async throws {
        try await Self.with(version, showing: .server("a.test", "b.test")) { _, session, _ in
            let error = try await NetworkError.thrown { _ = try await session.get("hello", as: .bytes) }
            #expect(error.code == .serverTrustFailed)
            #expect(error.reason == "the certificate is for a.test, b.test, not for 127.0.0.1")
        }
        let other = try CertificateAuthority()
        try await Self.with(
            version, session: { $0.tls.roots = .only([.bytes(other.certificate.der)]) }
        ) { nginx, session, _ in
            let error = try await NetworkError.thrown { _ = try await session.get("hello", as: .bytes) }
            #expect(error.trustRefusal?.reason == .unknownIssuer)
            #expect(session.connections.open == 0)
        }
    }

    @Test(arguments: Security.Version.allCases, [(.good, nil), (.revoked, .revoked)] as [Stapled])
    func `a staple of nginx counts as its authority made it`(version: Security.Version, staple: Stapled) async throws {
        let authority = try CertificateAuthority()
        var security = Security(try authority.issue(.server("127.0.0.1").stapled), version)
        security.staple = try authority.staple(staple.status, for: security.identity)
        try await Nginx.with(security) { nginx in
            try await SecureSession.with(
                authority, at: nginx.baseURL, { $0.tls.revocation.stapling = .required }
            ) { (session: HTTPSession) async throws in
                guard let reason = staple.reason else {
                    #expect(try await session.get("hello", as: .string).value == "hello")
                    return
                }
                let error = try await NetworkError.thrown { _ = try await session.get("hello", as: .bytes) }
                #expect(error.trustRefusal?.reason == reason)
            }
        }
    }

    typealias Stapled = (status: RevocationStatus, reason: NetworkError.TrustRefusal.Reason?)

    @Test(arguments: Security.Version.allCases)
    func `a server with a new key after a restart is believed or not by what is pinned`(
        version: Security.Version
    ) async throws {
        let authority = try CertificateAuthority()
        let (before, after) = (
            try authority.issue(.server("127.0.0.1").with(CertificateAuthority.Key())),
            try authority.issue(.server("127.0.0.1").with(CertificateAuthority.Key(.p384)))
        )
        let (old, new) = (try SecurityPolicy.Pin(before.pin), try SecurityPolicy.Pin(after.pin))
        try await Nginx.with(Security(before, version)) { nginx in
            try await SecureSession.with(
                authority, at: nginx.baseURL, { $0.tls.policy = SecurityPolicy(mode: .publicKey, pins: [old]) }
            ) { pinned in
                try await SecureSession.with(
                    authority, at: nginx.baseURL,
                    { $0.tls.policy = SecurityPolicy(mode: .publicKey, pins: [old], backupPins: [new]) }
                ) { prepared in
                    for session in [pinned, prepared] {
                        let response = try await session.get("hello", as: .string)
                        #expect(response.security?.verifiedPath.first?.der == before.der)
                    }
                    nginx.stop()
                    try nginx.secure(with: after)
                    try nginx.start()
                    let response = try await prepared.get("hello", as: .string)
                    #expect(response.security?.verifiedPath.first?.der == after.der)
                    #expect(response.security?.isResumed == false, "what it knew is gone with it")
                    let error = try await NetworkError.thrown { _ = try await pinned.get("hello", as: .bytes) }
                    #expect(error.trustRefusal?.reason == .pinMismatch)
                    #expect(error.trustRefusal?.seen.first == new.publicKey)
                    #expect(error.trustRefusal?.expected == [old.publicKey])
                }
            }
        }
    }

    @Test(arguments: Security.Version.allCases)
    func `another certificate is shown after a reload, and no request fails meanwhile`(
        version: Security.Version
    ) async throws {
        try await Self.with(version) { nginx, session, authority in
            let renewed = try authority.issue(.server("127.0.0.1"))
            _ = try await session.get("hello", as: .string)
            try nginx.secure(with: renewed)
            nginx.reload()
            let start = ContinuousClock.now
            while true {
                let response = try await session.get("hello", as: .string)
                #expect(response.value == "hello")
                if response.security?.verifiedPath.first?.der == renewed.der { break }
                try #require(ContinuousClock.now - start < .seconds(20), "the new certificate never came")
            }
            #expect(session.connections.open == 1)
        }
    }

    @Test func `restarts and reloads under load fail requests in known ways, and everything recovers`() async throws {
        try await Self.with { nginx, session, authority in
            try nginx.publish(Noise.bytes(300_000), as: "file")
            let timeouts = HTTPSession.RequestTimeouts(
                connect: .seconds(2), tls: .seconds(2), firstByte: .seconds(2), readIdle: .seconds(2),
                total: .seconds(5))
            let load = Load(session, HTTPSession.Options(timeouts: timeouts, validatesResponse: false))
            try await load.goThroughRestarts(of: nginx, asking: ["hello", "file", "once", "thrice"]) { round in
                try nginx.secure(with: authority.issue(.server("127.0.0.1").with(round == 1 ? .rsa2048 : .p256)))
            }
        }
    }
}
