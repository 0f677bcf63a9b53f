import DunlinTesting
import DunlinTypes
import Testing

/// A server with TLS and `openssl s_client` in front of it.
private struct Stage: ~Copyable {
    let authority: CertificateAuthority
    let tool: OpenSSLTool

    init() throws {
        let root = try CertificateAuthority()
        let tool = try OpenSSLTool()
        try tool.write(root.pem, as: "root.pem")
        authority = root
        self.tool = tool
    }

    func tls(_ change: (inout LoopbackServer.TLS) -> Void = { _ in }) throws -> LoopbackServer.TLS {
        var tls = LoopbackServer.TLS(try authority.issue(.server("api.test")))
        change(&tls)
        return tls
    }

    /// One request that asks for the connection's end, by a client that verifies the server.
    func get(_ server: LoopbackServer, _ options: [String] = []) async throws -> OpenSSLTool.Result {
        try await tool.run(
            [
                "s_client", "-connect", "127.0.0.1:\(server.port)", "-CAfile", "root.pem", "-verify_return_error",
                "-servername", "api.test", "-verify_hostname", "api.test", "-ign_eof",
            ] + options, input: "GET /hello HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n")
    }
}

private struct Agreement: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var tls: @Sendable (inout LoopbackServer.TLS) -> Void = { _ in }
    var options: [String] = []
    /// What the client tells.
    let expected: String
    /// What the server has recorded.
    let holds: @Sendable (LoopbackServer.Handshake) -> Bool
}

private let agreements: [Agreement] = [
    Agreement(testDescription: "TLS 1.3 by default", expected: "New, TLSv1.3") { $0.version == .v1_3 },
    Agreement(
        testDescription: "TLS 1.2 only", tls: { $0.versions = .v1_2 ... .v1_2 }, expected: "New, TLSv1.2",
        holds: { $0.version == .v1_2 }),
    Agreement(
        testDescription: "TLS 1.0 only", tls: { $0.versions = .v1_0 ... .v1_0 },
        options: ["-tls1", "-cipher", "DEFAULT:@SECLEVEL=0"], expected: "Protocol  : TLSv1\n",
        holds: { $0.version == .v1_0 }),
    Agreement(
        testDescription: "a suite of TLS 1.3", tls: { $0.ciphers = "TLS_CHACHA20_POLY1305_SHA256" },
        expected: "Cipher is TLS_CHACHA20_POLY1305_SHA256", holds: { $0.cipher == "TLS_CHACHA20_POLY1305_SHA256" }),
    Agreement(
        testDescription: "a cipher of TLS 1.2",
        tls: {
            $0.versions = .v1_2 ... .v1_2
            $0.ciphersBefore1_3 = "ECDHE-ECDSA-AES256-GCM-SHA384"
        },
        expected: "Cipher is ECDHE-ECDSA-AES256-GCM-SHA384",
        holds: { $0.cipher == "ECDHE-ECDSA-AES256-GCM-SHA384" }),
    Agreement(
        testDescription: "a group", tls: { $0.groups = "P-384" }, expected: "Server Temp Key: ECDH, secp384r1",
        holds: { $0.negotiatedProtocol == nil }),
    Agreement(testDescription: "the name", expected: "Verify return code: 0") { $0.serverName == "api.test" },
    Agreement(
        testDescription: "a protocol", tls: { $0.protocols = ["h3", "http/1.1"] },
        options: ["-alpn", "h2,http/1.1"], expected: "ALPN protocol: http/1.1",
        holds: { $0.negotiatedProtocol == "http/1.1" }),
    Agreement(
        testDescription: "no protocol without a client that asks", tls: { $0.protocols = ["http/1.1"] },
        expected: "No ALPN negotiated", holds: { $0.negotiatedProtocol == nil }),
    Agreement(
        testDescription: "a client without a certificate",
        tls: { $0.clientCertificate = .requested }, expected: "Verify return code: 0",
        holds: { $0.clientCertificate == nil }),
]

@Suite(.needsOpenSSLTool, .timeLimit(.minutes(10))) struct LoopbackTLSTests {
    @Test(arguments: agreements) private func `both sides tell what was agreed on`(_ agreement: Agreement) async throws
    {
        let stage = try Stage()
        let server = try LoopbackServer(tls: stage.tls(agreement.tls))
        server.enqueue(.response(body: "hello over TLS"))
        let result = try await stage.get(server, agreement.options)
        #expect(result.text.contains(agreement.expected), "\(result.text)")
        #expect(result.text.contains("hello over TLS") && result.status == 0)
        let request = try await server.nextRequest()
        let handshake = try #require(request.handshake)
        #expect(agreement.holds(handshake), "\(handshake)")
        #expect(server.handshakes == [handshake])
        #expect(server.failures.isEmpty)
        #expect(server.baseURL == "https://127.0.0.1:\(server.port)")
    }

    @Test func `the chain is what the identity says, no more and no less`() async throws {
        let stage = try Stage()
        let issued = try stage.authority.intermediate().issue(.server("api.test"))
        for (identity, isTrusted) in [(issued, true), (issued.withoutIntermediates, false)] {
            let server = try LoopbackServer(tls: .init(identity))
            server.enqueue(.response(body: "hello"))
            let result = try await stage.get(server)
            #expect(result.text.contains("hello") == isTrusted, "\(result.text)")
            #expect((result.status == 0) == isTrusted)
            // The server learns of a refusal after the client has ended.
            try await server.wait { $0.open == 0 }
            #expect(server.failures.map(\.kind) == (isTrusted ? [] : [.tls]))
        }
    }

    @Test func `a refusal is told by the client's alert`() async throws {
        let stage = try Stage()
        let server = try LoopbackServer(tls: .init(.selfSigned(.server("api.test"))))
        _ = try await stage.get(server)
        try await server.wait { $0.failures == 1 && $0.open == 0 }
        #expect(server.failures.first?.detail.contains("alert unknown ca") == true, "\(server.failures)")
        #expect(server.requests.isEmpty && server.handshakes.isEmpty)
    }

    @Test func `a forged key fails at the signature`() async throws {
        let stage = try Stage()
        let server = try LoopbackServer(tls: .init(stage.authority.issue(.server("api.test")).withForgedKey()))
        let result = try await stage.get(server)
        #expect(result.text.contains("bad signature"), "\(result.text)")
    }

    @Test(arguments: [LoopbackServer.TLS.Version.v1_2, .v1_3])
    func `a client sees the certificate of the name it asks for`(version: LoopbackServer.TLS.Version) async throws {
        let stage = try Stage()
        var tls = LoopbackServer.TLS(try stage.authority.issue(.server("www.test")))
        tls.versions = version...version
        tls.identities["api.test"] = try stage.authority.intermediate().issue(.server("api.test").with(.ed25519))
        let server = try LoopbackServer(tls: tls)
        server.respond { _ in .response(body: "hello") }
        let named = try await stage.get(server)
        #expect(named.status == 0 && named.text.contains("hello"), "\(named.text)")
        for name in ["www.test", "other.test"] {
            let result = try await stage.get(server, ["-servername", name, "-verify_hostname", "www.test"])
            #expect(result.status == 0 && result.text.contains("hello"), "\(result.text)")
        }
        #expect(server.handshakes.map(\.serverName) == ["api.test", "www.test", "other.test"])
    }

    @Test func `a staple reaches who asks for it`() async throws {
        let stage = try Stage()
        let issued = try stage.authority.issue(.server("api.test"))
        var tls = LoopbackServer.TLS(issued)
        tls.staple = try stage.authority.staple(.good, for: issued)
        let server = try LoopbackServer(tls: tls)
        server.respond { _ in .response(body: "hello") }
        let asking = try await stage.get(server, ["-status"])
        #expect(asking.text.contains("Cert Status: good"), "\(asking.text)")
        let silent = try await stage.get(server)
        #expect(!silent.text.contains("Cert Status"))
    }

    @Test func `an identity or setting that cannot be served is refused at once`() throws {
        let stage = try Stage()
        let stranger = try stage.authority.issue(.server("api.test")).with(CertificateAuthority.Key())
        #expect(throws: AuthorityError.self) { try LoopbackServer(tls: .init(stranger)) }
        var wrong = try stage.tls()
        wrong.identities["other.test"] = stranger
        let unknown = [wrong, try stage.tls { $0.ciphersBefore1_3 = "ROT13" }, try stage.tls { $0.groups = "none" }]
        for tls in unknown { #expect(throws: AuthorityError.self) { try LoopbackServer(tls: tls) } }
        let server = try LoopbackServer(tls: stage.tls())
        #expect(throws: AuthorityError.self) { try server.present(.init(stranger)) }
    }

    @Test func `a key too weak for any client by default is served`() async throws {
        let stage = try Stage()
        let server = try LoopbackServer(tls: .init(stage.authority.issue(.server("api.test").withWeakKey)))
        let result = try await stage.get(server)
        #expect(result.text.contains("EE certificate key too weak"), "\(result.text)")
    }
}

@Suite(.needsOpenSSLTool, .timeLimit(.minutes(10))) struct LoopbackClientCertificateTests {
    @Test(arguments: [LoopbackServer.TLS.Version.v1_2, .v1_3])
    func `a client's certificate is recorded`(version: LoopbackServer.TLS.Version) async throws {
        let stage = try Stage()
        let client = try stage.authority.issue(.client("Ada"))
        try stage.tool.write(client.chainPEM, as: "client.pem")
        try stage.tool.write(client.privateKeyPEM, as: "client.key")
        let server = try LoopbackServer(
            tls: stage.tls {
                $0.versions = version...version
                $0.clientCertificate = .required
                $0.clientAuthorities = [stage.authority.certificate.der]
            })
        server.enqueue(.response(body: "hello Ada"))
        let result = try await stage.get(server, ["-cert", "client.pem", "-key", "client.key"])
        #expect(result.text.contains("hello Ada"), "\(result.text)")
        #expect(result.text.contains("Acceptable client certificate CA names"))
        #expect(try await server.nextRequest().handshake?.clientCertificate == client.der)
    }

    @Test func `a client without a certificate, or with a stranger's, is refused where one is required`()
        async throws
    {
        let stage = try Stage()
        let stranger = try CertificateAuthority(.authority("Another root")).issue(.client("Eve"))
        try stage.tool.write(stranger.pem, as: "client.pem")
        try stage.tool.write(stranger.privateKeyPEM, as: "client.key")
        let server = try LoopbackServer(
            tls: stage.tls {
                $0.clientCertificate = .required
                $0.clientAuthorities = [stage.authority.certificate.der]
            })
        let shown = ["-cert", "client.pem", "-key", "client.key"]
        for (options, alert) in [([], "alert certificate required"), (shown, "alert unknown ca")] {
            let result = try await stage.get(server, options)
            #expect(result.text.contains(alert), "\(result.text)")
        }
        #expect(server.requests.isEmpty)
    }

    @Test func `a server without authorities of its own takes any client certificate`() async throws {
        let stage = try Stage()
        let client = try IssuedCertificate.selfSigned(.client("Eve"))
        try stage.tool.write(client.pem, as: "client.pem")
        try stage.tool.write(client.privateKeyPEM, as: "client.key")
        let server = try LoopbackServer(tls: stage.tls { $0.clientCertificate = .requested })
        server.enqueue(.response(body: "hello Eve"))
        _ = try await stage.get(server, ["-cert", "client.pem", "-key", "client.key"])
        #expect(try await server.nextRequest().handshake?.clientCertificate == client.der)
    }
}

@Suite(.needsOpenSSLTool) struct LoopbackResumptionTests {
    @Test(arguments: [LoopbackServer.TLS.Version.v1_2, .v1_3])
    func `a ticket resumes until the server forgets it`(version: LoopbackServer.TLS.Version) async throws {
        let stage = try Stage()
        var tls = try stage.tls { $0.versions = version...version }
        let server = try LoopbackServer(tls: tls)
        server.respond { _ in .response(body: "hello") }
        _ = try await stage.get(server, ["-sess_out", "session"])
        _ = try await stage.get(server, ["-sess_in", "session"])
        // A renewed certificate is no reason to forget.
        tls.identity = try stage.authority.issue(.server("api.test"))
        try server.present(tls)
        _ = try await stage.get(server, ["-sess_in", "session"])
        try server.present(.init(tls.identity))
        _ = try await stage.get(server, ["-sess_in", "session"])
        #expect(server.handshakes.map(\.wasResumed) == [false, true, true, false])
        #expect(server.activity.handshakes == 4 && server.activity.resumptions == 2)
    }

    @Test(arguments: [LoopbackServer.TLS.Version.v1_2, .v1_3])
    func `without tickets nothing is resumed`(version: LoopbackServer.TLS.Version) async throws {
        let stage = try Stage()
        let server = try LoopbackServer(
            tls: stage.tls {
                $0.versions = version...version
                $0.tickets = 0
            })
        server.respond { _ in .response(body: "hello") }
        try stage.tool.write("", as: "session")
        _ = try await stage.get(server, ["-sess_out", "session"])
        _ = try await stage.get(server, ["-sess_in", "session"])
        // A TLS 1.3 client has nothing to come back with.
        #expect(server.handshakes.map(\.wasResumed) == (version == .v1_3 ? [false] : [false, false]))
    }
}

private struct Spoiled: CustomTestStringConvertible, Sendable {
    let fault: LoopbackServer.HandshakeFault
    /// What the client complains of.
    let complaint: String
    var testDescription: String { "\(fault)" }
}

@Suite(.needsOpenSSLTool, .timeLimit(.minutes(10))) struct LoopbackHandshakeFaultTests {
    @Test(arguments: [
        Spoiled(fault: .alert(40), complaint: "alert handshake failure"),
        Spoiled(fault: .alert(112), complaint: "unrecognized name"),
        Spoiled(fault: .answer("HTTP/1.1 400 Bad Request\r\n\r\n"), complaint: "wrong version number"),
        Spoiled(fault: .reset(after: 0), complaint: "errno=104"),
        Spoiled(fault: .reset(after: 300), complaint: "errno=104"),
        Spoiled(fault: .close(after: 0), complaint: "unexpected eof while reading"),
        Spoiled(fault: .close(after: 300), complaint: "unexpected eof while reading"),
    ]) private func `a spoiled handshake is spoiled for its connection only`(_ spoiled: Spoiled) async throws {
        let stage = try Stage()
        let server = try LoopbackServer(tls: stage.tls())
        server.onConnect(.handshake(spoiled.fault))
        server.respond { _ in .response(body: "hello") }
        let result = try await stage.get(server)
        #expect(result.text.contains(spoiled.complaint), "\(result.text)")
        #expect(result.status != 0)
        let next = try await stage.get(server)
        #expect(next.text.contains("hello"), "\(next.text)")
        #expect(server.handshakes.map(\.connection) == [1])
    }

    @Test(arguments: [LoopbackServer.HandshakeFault.drip(), .drip(size: 100), .reset(after: 1 << 20)])
    func `a handshake in pieces is a handshake`(fault: LoopbackServer.HandshakeFault) async throws {
        let stage = try Stage()
        let server = try LoopbackServer(tls: stage.tls())
        server.onConnect(.handshake(fault))
        server.enqueue(.response(body: "hello"))
        let next = try await stage.get(server)
        #expect(next.text.contains("hello"), "\(next.text)")
    }

    @Test func `a stalled handshake ends with the server`() async throws {
        let stage = try Stage()
        let server = try LoopbackServer(tls: stage.tls())
        server.onConnect(.handshake(.stall(after: 200)))
        let observer = Task {
            try await server.wait { $0.bytesSent >= 200 }
            #expect(server.bytesSent == 200)
            server.stop()
        }
        let result = try await stage.get(server)
        try await observer.value
        #expect(result.status != 0)
        #expect(server.openConnections == 0 && server.handshakes.isEmpty)
    }

    @Test func `a client that speaks no TLS is noted`() async throws {
        let stage = try Stage()
        let server = try LoopbackServer(tls: stage.tls())
        let peer = try Peer(server.address)
        peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        peer.hangUp()
        try await server.wait { $0.failures == 1 && $0.open == 0 }
        #expect(server.failures.map(\.detail) == ["http request"])
    }

    @Test func `a client that leaves in the handshake is noted`() async throws {
        let stage = try Stage()
        let server = try LoopbackServer(tls: stage.tls())
        try Peer(server.address).hangUp()
        try await server.wait { $0.failures == 1 && $0.open == 0 }
        #expect(server.failures.map(\.kind) == [.tls])
    }
}

private struct Play: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var version = LoopbackServer.TLS.Version.v1_3
    let reply: LoopbackServer.Reply
    var options: [String] = []
    let expected: String
    var succeeds = true
    var failures: [String] = []
}

private let whole = LoopbackServer.Reply.response(body: "the whole body")

private let plays: [Play] = [
    Play(testDescription: "dripping", reply: whole.dripping(1), expected: "the whole body"),
    Play(testDescription: "split", reply: whole.split(at: 5, 20), expected: "the whole body"),
    Play(testDescription: "chunked", reply: .chunked(["one", "two"]), expected: "3\r\ntwo\r\n0"),
    Play(testDescription: "until close", reply: .untilClose("the whole body"), expected: "the whole body"),
    Play(testDescription: "half-closed", reply: whole.then(.halfClose, .drain), expected: "the whole body"),
    Play(
        testDescription: "cut", reply: LoopbackServer.Reply.untilClose("the whole body").cutAfter(50),
        expected: "unexpected eof while reading", succeeds: false),
    Play(testDescription: "reset", reply: whole.resetAfter(20), expected: "errno=104", succeeds: false),
    Play(
        testDescription: "not TLS", reply: [.outsideTLS("not a record at all")], expected: "wrong version number",
        succeeds: false),
    Play(testDescription: "new keys", reply: whole.after(.renewKeys), expected: "the whole body"),
    Play(
        testDescription: "renegotiated", version: .v1_2, reply: whole.after(.renewKeys), expected: "the whole body"),
    Play(
        testDescription: "not renegotiated", version: .v1_2, reply: [.renewKeys, .drain],
        options: ["-no_renegotiation"], expected: "", succeeds: false, failures: ["no renegotiation"]),
]

@Suite(.needsOpenSSLTool, .timeLimit(.minutes(10))) struct LoopbackTLSStepTests {
    @Test(arguments: plays) private func `the steps of a loopback reply do over TLS what they do in clear text`(
        _ play: Play
    ) async throws {
        let stage = try Stage()
        let server = try LoopbackServer(tls: stage.tls { $0.versions = play.version...play.version })
        server.enqueue(play.reply)
        let result = try await stage.get(server, play.options)
        #expect(result.text.contains(play.expected) || play.expected.isEmpty, "\(result.text)")
        #expect((result.status == 0) == play.succeeds, "\(result.status)")
        try await server.wait { $0.open == 0 }
        #expect(server.failures.count == play.failures.count, "\(server.failures)")
        for (failure, expected) in zip(server.failures, play.failures) { #expect(failure.detail.contains(expected)) }
    }

    @Test func `a megabyte arrives whole`() async throws {
        let stage = try Stage()
        let server = try LoopbackServer(tls: stage.tls())
        server.enqueue(.generated(length: 1 << 20))
        let result = try await stage.get(server, ["-quiet"])
        #expect(result.status == 0)
        #expect(server.bytesSent > 1 << 20)
    }
}
