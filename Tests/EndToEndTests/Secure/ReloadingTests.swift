import Dunlin
import DunlinTesting
import Folders
import Testing

/// Files that change while a session lives, with requests on their way.
@Suite(.timeLimit(.minutes(10)))
struct `Files that secure a session` {
    @Test func `files with roots are read again on a reload, and not before`() async throws {
        let (folder, other) = (try Folder(), try CertificateAuthority())
        try await SecureStage.with(
            tolerating: true,
            configure: { configuration, cast in
                configuration.tls.roots = .only([.file(try folder.write(cast.authority.pem, as: "roots.pem"))])
            }
        ) { (stage: SecureStage) async throws in
            stage.server.respond { _ in .response(body: "x").closingAfter }
            let session = stage.session
            _ = try await session.get("x", as: .bytes)
            try folder.write(other.pem, as: "roots.pem")
            _ = try await session.get("x", as: .bytes)
            try session.reloadTLS()
            for _ in 0..<2 {
                let error = try await NetworkError.thrown { _ = try await session.get("x", as: .bytes) }
                #expect(error.trustRefusal?.reason == .unknownIssuer)
            }
            try folder.write(other.pem + stage.authority.pem, as: "roots.pem")
            try session.reloadTLS()
            _ = try await session.get("x", as: .bytes)
            // What cannot be used changes nothing.
            try folder.write("half of a fi", as: "roots.pem")
            let error = #expect(throws: NetworkError.self) { try session.reloadTLS() }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.reason.contains("roots.pem") == true)
            _ = try await session.get("x", as: .bytes)
            #expect(stage.server.requests.count == 4)
        }
    }

    @Test func `a new revocation list counts from the reload on, for resumed sessions too`() async throws {
        let folder = try Folder()
        try await SecureStage.with(
            tolerating: true,
            configure: { configuration, cast in
                let list = try cast.authority.revocationList()
                configuration.tls.revocation.lists = [.file(try folder.write(list.pem, as: "list.pem"))]
            }
        ) { (stage: SecureStage) async throws in
            stage.server.respond { _ in .response(body: "x").closingAfter }
            for _ in 0..<2 { _ = try await stage.session.get("x", as: .bytes) }
            #expect(stage.server.handshakes.map(\.wasResumed) == [false, true])
            try folder.write(stage.authority.revocationList(revoking: stage.cast.issued).pem, as: "list.pem")
            try stage.session.reloadTLS()
            let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
            #expect(error.trustRefusal?.reason == .revoked)
        }
    }

    /// Certificate and key are two files, and one of them is new first.
    @Test(arguments: [true, false])
    func `the two files of an identity can be replaced one after the other under load`(isKeyFirst: Bool) async throws {
        let (folder, authority) = (try Folder(), try CertificateAuthority(.authority("Clients")))
        let clients = try (0..<4).map { try authority.issue(.client("\($0)").with(CertificateAuthority.Key())) }
        func write(_ client: IssuedCertificate, isKey: Bool) throws -> String {
            try isKey
                ? folder.write(client.privateKeyPEM, as: "key.pem") : folder.write(client.chainPEM, as: "chain.pem")
        }
        try await SecureStage.with(
            tls: { tls, _ in
                tls.clientCertificate = .required
                tls.clientAuthorities = [authority.certificate.der]
            },
            configure: { configuration, _ in
                let (chain, key) = (try write(clients[0], isKey: false), try write(clients[0], isKey: true))
                configuration.tls.identity = .pem(.file(chain), key: .file(key))
            }
        ) { (stage: SecureStage) async throws in
            // They are looked at with each new connection.
            stage.server.respond { .response(body: Bytes($0.target)).closingAfter }
            let session = stage.session
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<4 {
                    group.addTask { () async throws in
                        for index in 0..<50 {
                            let target = "\(task)/\(index)"
                            #expect(
                                try await session.get(HTTP.Target(target), as: .string).value == "/\(target)")
                        }
                    }
                }
                for client in clients.dropFirst() {
                    _ = try write(client, isKey: isKeyFirst)
                    _ = try await session.get("between", as: .bytes)
                    _ = try write(client, isKey: !isKeyFirst)
                    _ = try await session.get("after", as: .bytes)
                }
                try await group.waitForAll()
            }
            let shown = stage.server.requests.filter { $0.target == "/after" }.map { $0.handshake?.clientCertificate }
            #expect(shown == clients.dropFirst().map(\.der))
            let known = Set(clients.map(\.der))
            #expect(stage.server.handshakes.allSatisfy { $0.clientCertificate.map(known.contains) == true })
        }
    }

    @Test func `a new PKCS 12 file is used by the next connection`() async throws {
        let (folder, authority) = (try Folder(), try CertificateAuthority(.authority("Clients")))
        let (first, second) = (try authority.issue(.client("1")), try authority.issue(.client("2")))
        try await SecureStage.with(
            tls: { tls, _ in tls.clientCertificate = .required },
            configure: { configuration, _ in
                let path = try folder.write(first.pkcs12(passphrase: "open sesame"), as: "me.p12")
                configuration.tls.identity = .pkcs12(.file(path), passphrase: "open sesame")
            }
        ) { (stage: SecureStage) async throws in
            stage.server.respond { _ in .response().closingAfter }
            _ = try await stage.session.get("1", as: .bytes)
            try folder.write(second.pkcs12(passphrase: "open sesame"), as: "me.p12")
            _ = try await stage.session.get("2", as: .bytes)
            let shown = stage.server.requests.map { $0.handshake?.clientCertificate }
            #expect(shown == [first.der, second.der])
        }
    }

    /// The session's rules change in the middle of both bodies.
    @Test func `a reload does no harm to an upload and a download that are underway`() async throws {
        let other = try CertificateAuthority()
        try await SecureStage.with(tolerating: true) { (stage: SecureStage) async throws in
            let (asked, goOn) = (LoopbackServer.Gate(), LoopbackServer.Gate())
            let half = LoopbackServer.GeneratedBody.bytes(0..<300_000)
            stage.server.enqueue(
                LoopbackServer.Reply([
                    .message(.init(.ok, fields: ["Content-Length": "600000"])), .send(half), .signal(asked),
                    .waitForSignal(goOn), .send(half),
                ]).beforeBody)
            let session = stage.session
            let pieces = UploadPieces(total: 4 << 20)
            let running = Task {
                try await session.withResponse(from: "swap", method: .post, body: .stream(pieces)) { response in
                    try await response.body.reduce(0) { $0 + $1.count }
                }
            }
            try await asked.opened()
            try session.replace(tls: HTTPSession.TLS(roots: .only([.bytes(other.certificate.der)])))
            try session.reloadTLS()
            goOn.open()
            #expect(try await running.value == 600_000)
            try await eventually("the request", following: stage.loop, stage.server) {
                stage.server.requests.first?.isComplete == true
            }
            #expect(stage.server.requests.first?.body == LoopbackServer.GeneratedBody.bytes(0..<4 << 20))
            try await eventually("the old connection goes", following: stage.loop, stage.server) {
                session.connections.open == 0
            }
            let error = try await NetworkError.thrown { _ = try await session.get("x", as: .bytes) }
            #expect(error.trustRefusal?.reason == .unknownIssuer)
        }
    }
}
