import Dunlin
import DunlinTesting
import Folders
import LedgerRows
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct `A client's identity` {
    static let versions: [LoopbackServer.TLS.Version] = [.v1_2, .v1_3]

    /// In which form an identity is given.
    private enum Form: CaseIterable, Sendable {
        case pem, pemAndKey, encryptedPEM, pkcs12, files

        func identity(of issued: IssuedCertificate, in folder: Folder) throws -> HTTPSession.ClientIdentity {
            let (chain, key) = (issued.chainPEM, try issued.privateKeyPEM)
            switch self {
            case .pem: return .pem(.bytes(Bytes(chain + key)))
            case .pemAndKey: return .pem(.bytes(Bytes(chain)), key: .bytes(Bytes(key)))
            case .encryptedPEM:
                let secret = try issued.key.pem(passphrase: "open sesame")
                return .pem(.bytes(Bytes(chain)), key: .bytes(Bytes(secret)), passphrase: "open sesame")
            case .pkcs12:
                return .pkcs12(.bytes(try issued.pkcs12(passphrase: "open sesame")), passphrase: "open sesame")
            case .files:
                return .pem(
                    .file(try folder.write(chain, as: "chain.pem")), key: .file(try folder.write(key, as: "key.pem")))
            }
        }
    }

    @Test(.rows("SP-19", "AP-7", "AP-17"), arguments: Form.allCases, versions)
    private func `a client's identity is shown with its chain to a server that asks`(
        form: Form, version: LoopbackServer.TLS.Version
    ) async throws {
        let folder = try Folder()
        let root = try CertificateAuthority(.authority("Clients"))
        let client = try root.intermediate().issue(.client("Ada"))
        for demand in [LoopbackServer.TLS.ClientCertificate.required, .requested] {
            try await SecureStage.with(
                tls: { tls, _ in
                    tls.versions = version...version
                    tls.clientCertificate = demand
                    // The server knows the root alone, so the intermediate has to come along.
                    tls.clientAuthorities = [root.certificate.der]
                },
                configure: { configuration, _ in configuration.tls.identity = try form.identity(of: client, in: folder)
                }
            ) { (stage: SecureStage) async throws in
                stage.server.respond { _ in .response().closingAfter }
                // The second handshake is resumed, as the same client.
                for _ in 0..<2 { _ = try await stage.session.get("x", as: .bytes) }
                let seen = stage.server.requests.map { $0.handshake?.clientCertificate }
                #expect(seen == [client.der, client.der])
                #expect(stage.server.handshakes.map(\.wasResumed) == [false, true])
            }
        }
    }

    @Test(arguments: versions)
    func `a client's identity is not shown unasked, and not missed where it is optional`(
        version: LoopbackServer.TLS.Version
    ) async throws {
        for (demand, isConfigured) in [(LoopbackServer.TLS.ClientCertificate.ignored, true), (.requested, false)] {
            try await SecureStage.with(
                tls: { tls, _ in
                    tls.versions = version...version
                    tls.clientCertificate = demand
                },
                configure: { configuration, cast in
                    guard isConfigured else { return }
                    let client = try cast.authority.issue(.client("Ada"))
                    configuration.tls.identity = .pem(.bytes(Bytes(client.chainPEM + (try client.privateKeyPEM))))
                }
            ) { (stage: SecureStage) async throws in
                stage.server.respond { _ in .response() }
                _ = try await stage.session.get("x", as: .bytes)
                #expect(stage.server.requests.map { $0.handshake?.clientCertificate } == [nil])
            }
        }
    }

    /// TLS 1.3 tells only when the request is on its way.
    @Test(arguments: versions)
    func `a required client certificate that is missing is the error's reason`(
        version: LoopbackServer.TLS.Version
    ) async throws {
        try await SecureStage.with(
            tolerating: true,
            tls: { tls, _ in
                tls.versions = version...version
                tls.clientCertificate = .required
            }
        ) { (stage: SecureStage) async throws in
            for method in [HTTP.Method.get, .post] {
                let error = try await NetworkError.thrown {
                    _ = try await stage.session.request("x", method: method, body: .bytes("body"), as: .bytes)
                }
                #expect(error.code == .secureConnectionFailed)
                #expect(error.reason == "the server requires a client certificate and got none; set `tls.identity`")
                #expect(error.phase == (version == .v1_2 ? .tls : .firstByte))
                #expect(error.requestMayHaveBeenSent == (version == .v1_3))
            }
            // An upload that is too long for one write meets the same answer on its way.
            let upload = try await NetworkError.thrown {
                let body = RequestBody.stream(UploadPieces(total: 4 << 20))
                _ = try await stage.session.post("x", body: body, as: .bytes)
            }
            #expect(upload.code == .secureConnectionFailed, "\(upload)")
            #expect(stage.server.requests.isEmpty)
            #expect(stage.session.connections.open == 0)
        }
    }

    @Test func `an authentication handler is asked who we are again once passwords are forgotten`() async throws {
        let isBob = Mutex(false)
        let issued = Mutex<[IssuedCertificate]>([])
        try await SecureStage.with(
            tls: { tls, _ in tls.clientCertificate = .required },
            configure: { configuration, cast in
                let both = try [cast.authority.issue(.client("Alice")), cast.authority.issue(.client("Bob"))]
                let identities = try both.map {
                    HTTPSession.ClientIdentity.pem(.bytes(Bytes($0.chainPEM + (try $0.privateKeyPEM))))
                }
                issued.withLock { $0 = both }
                configuration.authenticationHandler = { challenge in
                    guard case .clientCertificate = challenge.kind else { return .performDefault }
                    return .useCredential(.identity(isBob.withLock { $0 ? identities[1] : identities[0] }))
                }
            }
        ) { (stage: SecureStage) async throws in
            stage.server.respond { _ in .response() }
            for _ in 1...2 { _ = try await stage.session.get("x", as: .bytes) }
            isBob.withLock { $0 = true }
            stage.session.forgetPasswords()
            _ = try await stage.session.get("x", as: .bytes)
            let ders = issued.withLock { $0.map(\.der) }
            #expect(stage.server.requests.map { $0.handshake?.clientCertificate } == [ders[0], ders[0], ders[1]])
            #expect(stage.server.connectionCount == 2)
        }
    }

    @Test(arguments: versions)
    func `a client certificate that the server refuses is reported by the server's alert`(
        version: LoopbackServer.TLS.Version
    ) async throws {
        let stranger = try CertificateAuthority(.authority("Strangers")).issue(.client("Eve"))
        try await SecureStage.with(
            tolerating: true,
            tls: { tls, cast in
                tls.versions = version...version
                tls.clientCertificate = .required
                tls.clientAuthorities = [cast.authority.certificate.der]
            },
            configure: { configuration, _ in
                configuration.tls.identity = .pem(.bytes(Bytes(stranger.chainPEM + (try stranger.privateKeyPEM))))
            }
        ) { (stage: SecureStage) async throws in
            let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
            #expect(error.code == .secureConnectionFailed)
            #expect(error.reason.contains("unknown_ca"), "\(error.reason)")
        }
    }

    @Test func `a client certificate that a prewarmed connection lacked is told to the next request`() async throws {
        try await SecureStage.with(tolerating: true, tls: { tls, _ in tls.clientCertificate = .required }) {
            (stage: SecureStage) async throws in
            try await stage.session.prewarm(1)
            try await eventually("the connection is dropped", following: stage.loop, stage.server) {
                stage.session.connections.open == 0
            }
            let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
            #expect(error.reason == "the server requires a client certificate and got none; set `tls.identity`")
        }
    }

    @Test func `a new identity in its files is shown by new connections, and ends the old ones`() async throws {
        let folder = try Folder()
        let authority = try CertificateAuthority(.authority("Clients"))
        let (first, second, third) = (
            try authority.issue(.client("1")), try authority.issue(.client("2")), try authority.issue(.client("3"))
        )
        func write(_ issued: IssuedCertificate) throws -> String {
            try folder.write(issued.chainPEM + issued.privateKeyPEM, as: "me.pem")
        }
        let path = try write(first)
        try await SecureStage.with(
            tls: { tls, _ in tls.clientCertificate = .required },
            configure: { configuration, _ in configuration.tls.identity = .pem(.file(path)) }
        ) { (stage: SecureStage) async throws in
            stage.server.respond { _ in .response() }
            #expect(try await stage.session.prewarm(2) == 2)
            _ = try await stage.session.get("1", as: .bytes)
            _ = try write(second)
            // Nobody looks while connections are idle.
            _ = try await stage.session.get("1", as: .bytes)
            // A third connection shows the new one, and ends the old ones.
            let gates = [LoopbackServer.Gate(), LoopbackServer.Gate()]
            stage.server.route(.get, "/held/0", .response().waiting(for: gates[0]))
            stage.server.route(.get, "/held/1", .response().waiting(for: gates[1]))
            let session = stage.session
            let held = (0...1).map { index in Task { _ = try await session.get("held/\(index)", as: .bytes) } }
            _ = try await stage.server.waitForRequests(4)
            _ = try await session.get("2", as: .bytes)
            gates.forEach { $0.open() }
            for task in held { try await task.value }
            #expect(session.connections.open == 1, "those of the old identity ended with their requests")
            _ = try await session.get("2", as: .bytes)
            // Reloading makes sure.
            _ = try write(third)
            try session.reloadTLS()
            _ = try await session.get("3", as: .bytes)
            let expected = [
                "/1": first.der, "/held/0": first.der, "/held/1": first.der, "/2": second.der, "/3": third.der,
            ]
            for request in stage.server.requests {
                #expect(request.handshake?.clientCertificate == expected[request.target], "\(request.target)")
            }
            // The second connection may have taken up what the first agreed on, with the same identity.
            #expect(stage.server.handshakes.dropFirst(2).allSatisfy { !$0.wasResumed })
        }
    }

    @Test func `a client's identity stays while its files are unusable, and a reload reports it`() async throws {
        let folder = try Folder()
        let client = try CertificateAuthority().issue(.client("Ada"))
        let path = try folder.write(client.chainPEM + client.privateKeyPEM, as: "me.pem")
        try await SecureStage.with(
            tls: { tls, _ in tls.clientCertificate = .required },
            configure: { configuration, _ in configuration.tls.identity = .pem(.file(path)) }
        ) { (stage: SecureStage) async throws in
            stage.server.respond { _ in .response().closingAfter }
            _ = try await stage.session.get("x", as: .bytes)
            try folder.write("half of a fi", as: "me.pem")
            _ = try await stage.session.get("x", as: .bytes)
            let error = #expect(throws: NetworkError.self) { try stage.session.reloadTLS() }
            #expect(error?.code == .invalidConfiguration)
            _ = try await stage.session.get("x", as: .bytes)
            #expect(stage.server.requests.allSatisfy { $0.handshake?.clientCertificate == client.der })
        }
    }
}
