import Children
import Dunlin
import DunlinTesting
import Folders
import LeakChecking
import Testing

/// Identities as the `openssl` command writes them, in forms old and new.
@Suite(.needsOpenSSL, .leakChecked, .timeLimit(.minutes(10)))
struct `Identities that openssl wrote` {
    /// What makes of `own.pem` and `key.pem` what is then loaded.
    struct Form: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let command: [String]
        let identity: @Sendable (String) -> HTTPSession.ClientIdentity

        static func key(_ name: String, _ command: String, passphrase: String? = "open sesame") -> Form {
            Form(testDescription: name, command: command.split(separator: " ").map(String.init)) { folder in
                .pem(.file("\(folder)/own.pem"), key: .file("\(folder)/out"), passphrase: passphrase)
            }
        }

        static func store(_ name: String, _ command: String) -> Form {
            Form(testDescription: name, command: command.split(separator: " ").map(String.init)) { folder in
                .pkcs12(.file("\(folder)/out"), passphrase: "open sesame")
            }
        }
    }

    static let forms: [Form] = [
        .key("PKCS 8 in the clear", "pkcs8 -topk8 -nocrypt -in key.pem -out out", passphrase: nil),
        .key("PKCS 8 under AES", "pkcs8 -topk8 -v2 aes-256-cbc -in key.pem -out out -passout file:secret"),
        .key("PKCS 8 under scrypt", "pkcs8 -topk8 -scrypt -in key.pem -out out -passout file:secret"),
        .key("a key of its own kind in the clear", "pkey -traditional -in key.pem -out out", passphrase: nil),
        .key(
            "a key of its own kind under AES",
            "pkey -traditional -aes256 -in key.pem -out out -passout file:secret"),
        .store("PKCS 12", "pkcs12 -export -in own.pem -inkey key.pem -out out -passout file:secret"),
    ]

    @Test(arguments: forms, [.p256, .rsa2048] as [CertificateAuthority.Key.Kind])
    func `an identity that openssl wrote is shown to a server that asks`(
        form: Form, kind: CertificateAuthority.Key.Kind
    ) async throws {
        let (folder, authority) = (try Folder(), try CertificateAuthority())
        let client = try authority.issue(.client("Ada").with(kind))
        try folder.write(client.chainPEM, as: "own.pem")
        try folder.write(client.privateKeyPEM, as: "key.pem")
        try folder.write("open sesame\n", as: "secret")
        let openssl = try Child(try #require(OpenSSLServer.program), form.command, in: folder.path)
        try #require(openssl.end())

        var tls = LoopbackServer.TLS(try authority.issue(.server("127.0.0.1")))
        tls.clientCertificate = .required
        tls.clientAuthorities = [authority.certificate.der]
        let server = try LoopbackServer(tls: tls)
        defer { server.stop() }
        server.respond { _ in .response(body: "x") }
        try await SecureSession.with(
            authority, at: server.baseURL, { $0.tls.identity = form.identity(folder.path) }
        ) { (session: HTTPSession) async throws in
            #expect(try await session.get("x", as: .string).value == "x")
        }
        #expect(server.requests.first?.handshake?.clientCertificate == client.der)
    }
}
