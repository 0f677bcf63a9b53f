import Dunlin
import DunlinTesting
import LedgerRows
import Testing

@Suite(.timeLimit(.minutes(10)))
struct `A request over TLS` {
    @Test(arguments: [LoopbackServer.TLS.Version.v1_2, .v1_3])
    func `requests over TLS share one connection as those in clear text do`(version: LoopbackServer.TLS.Version)
        async throws
    {
        try await SecureStage.with(tls: { tls, _ in tls.versions = version...version }) {
            (stage: SecureStage) async throws in
            stage.server.respond { .response(body: Bytes("for \($0.target)")) }
            for index in 0..<3 {
                let response = try await stage.session.get("item/\(index)", as: .string)
                #expect(response.value == "for /item/\(index)")
                let attempt = try #require(response.metrics.hops.last)
                #expect(attempt.isConnectionReused == (index > 0))
                #expect(attempt.security?.version == (version == .v1_2 ? "TLS 1.2" : "TLS 1.3"))
                #expect((attempt.duration(of: .tls) != nil) == (index == 0))
            }
            #expect(stage.server.connectionCount == 1)
        }
    }

    @Test func `a connection goes on when session tickets come late`() async throws {
        try await SecureStage.with(tls: { tls, _ in tls.tickets = 4 }) { (stage: SecureStage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            #expect(try await stage.session.prewarm(1) == 1)
            for _ in 0..<5 { #expect(try await stage.session.get("x", as: .string).value == "x") }
            #expect(stage.server.connectionCount == 1)
        }
    }

    @Test func `a request over TLS resumes the session of an earlier connection`() async throws {
        try await SecureStage.with { (stage: SecureStage) async throws in
            stage.server.respond { _ in .response(body: "x").closingAfter }
            for index in 0..<4 {
                let attempt = try #require(try await stage.session.get("x", as: .string).metrics.hops.last)
                #expect(attempt.security?.isResumed == (index > 0))
                #expect(attempt.security?.verifiedPath.count == 2)
            }
        }
    }

    @Test func `long bodies arrive whole over TLS both ways`() async throws {
        try await SecureStage.with { (stage: SecureStage) async throws in
            let long = LoopbackServer.GeneratedBody.bytes(0..<3_000_000)
            stage.server.respond { _ in .response(body: long) }
            #expect(try await stage.session.get("long", as: .bytes).value == long)
            let count = try await stage.session.withResponse(from: "long") { response in
                var count = 0
                for try await piece in response.body { count += piece.count }
                return count
            }
            #expect(count == long.count)
            _ = try await stage.session.post("long", body: .bytes(long), as: .bytes)
            #expect(stage.server.requests.last?.body == long)
            let pieces = UploadPieces(total: 2_000_000)
            _ = try await stage.session.put("stream", body: .stream(pieces, length: 2_000_000), as: .bytes)
            #expect(stage.server.requests.last?.body.count == 2_000_000)
            #expect(stage.server.connectionCount == 1)
        }
    }

    @Test func `a file is sent whole over TLS`() async throws {
        let scratch = try `File bodies`.Scratch(1_500_000)
        try await SecureStage.with { (stage: SecureStage) async throws in
            stage.server.respond { _ in .response(body: "taken") }
            _ = try await stage.session.put("file", body: .file(scratch.path), as: .bytes)
            #expect(stage.server.requests.last?.body == LoopbackServer.GeneratedBody.bytes(0..<1_500_000))
        }
    }

    @Test func `an end without a close_notify is not the end of a body`() async throws {
        try await SecureStage.with(tolerating: true) { (stage: SecureStage) async throws in
            stage.server.enqueue(.untilClose("all of it"))
            #expect(try await stage.session.get("x", as: .string).value == "all of it")
            stage.server.enqueue(
                LoopbackServer.Reply([
                    .send("HTTP/1.1 200 OK\r\n\r\npart of it"), .cut,
                ]))
            let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .string) }
            #expect(error.code == .connectionClosed)
        }
    }
}

@Suite(.timeLimit(.minutes(10)))
struct `A handshake` {
    @Test(
        .rules("9110-4.2.2-1", "9112-9.7-1"),
        arguments: [
            LoopbackServer.HandshakeFault.reset(after: 0), .reset(after: 100), .close(after: 0), .close(after: 500),
            .alert(40), .alert(112), .answer("HTTP/1.1 400 Bad Request\r\n\r\n"),
        ])
    func `a handshake that goes wrong fails the request before anything of it is sent`(
        fault: LoopbackServer.HandshakeFault
    ) async throws {
        try await SecureStage.with(tolerating: true) { (stage: SecureStage) async throws in
            stage.server.onConnect(.handshake(fault))
            let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
            #expect(error.phase == .tls)
            #expect(!error.requestMayHaveBeenSent)
            #expect(error.isSafeToRetry)
            #expect(!error.reason.contains("handshake failed"))
            #expect(stage.server.requests.isEmpty)
            stage.server.onConnect { _ in .accept }
            stage.server.respond { _ in .response(body: "fit") }
            #expect(try await stage.session.get("x", as: .string).value == "fit")
        }
    }

    @Test func `a handshake that stalls ends at its limit`() async throws {
        try await SecureStage.with(
            tolerating: true, configure: { configuration, _ in configuration.timeouts.tls = .milliseconds(50) }
        ) { (stage: SecureStage) async throws in
            stage.server.onConnect(.handshake(.stall(after: 200)))
            let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
            #expect(error.code == .timedOut)
            #expect(error.phase == .tls)
            #expect(error.limit == .milliseconds(50))
        }
    }

    @Test func `a handshake that stalls ends when its request is cancelled`() async throws {
        try await SecureStage.with(tolerating: true) { (stage: SecureStage) async throws in
            stage.server.onConnect(.handshake(.stall(after: 200)))
            let task = Task { _ = try await stage.session.get("x", as: .bytes) }
            try await stage.server.wait { $0.accepted == 1 }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(stage.session.connections.open == 0)
        }
    }

    @Test func `a handshake can come byte by byte`() async throws {
        try await SecureStage.with { (stage: SecureStage) async throws in
            stage.server.onConnect(.handshake(.drip()))
            stage.server.respond { _ in .response(body: "fit") }
            #expect(try await stage.session.get("x", as: .string).value == "fit")
        }
    }
}

@Suite(.timeLimit(.minutes(10)))
struct `Trust in a server` {
    @Test(
        .rows("SM-43", "SP-23"), .rules("9110-4.3.4-5", "9112-9.7-1"),
        arguments: [
            (CertificateTemplate.server("127.0.0.1").expired, "expired on"),
            (.server("127.0.0.1").notYetValid, "not valid"),
            (.server("a.test", "b.test"), "certificate is for a.test, b.test"),
            (.server("127.0.0.1").commonNameOnly, "names no host"),
            (.server("127.0.0.1").withWeakKey, "key"),
            (.server("127.0.0.1").signedOverSHA1, "SHA"),
            (.client("127.0.0.1"), "server"),
        ])
    func `a bad certificate is refused with the reason, before a byte is sent`(
        template: CertificateTemplate, reason: String
    ) async throws {
        try await SecureStage.with(.init(template), tolerating: true) { (stage: SecureStage) async throws in
            let error = try await NetworkError.thrown { _ = try await stage.session.get("secret", as: .bytes) }
            #expect(error.code == .serverTrustFailed)
            #expect(error.phase == .tls)
            #expect(error.reason.contains(reason), "\(error.reason)")
            #expect(error.trustRefusal != nil)
            let failure = try #require(error.underlying as? HTTPSession.ServerTrustFailure)
            #expect(failure.failingURL == "\(stage.server.baseURL)/secret")
            #expect(stage.server.requests.isEmpty)
        }
    }

    @Test func `a certificate from an unknown issuer is refused`() async throws {
        let other = try CertificateAuthority()
        try await SecureStage.with(
            tolerating: true,
            configure: { configuration, _ in configuration.tls.roots = .only([.bytes(other.certificate.der)]) }
        ) { (stage: SecureStage) async throws in
            let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
            #expect(error.code == .serverTrustFailed)
            #expect(error.reason.contains("unknown issuer"), "\(error.reason)")
        }
    }

    @Test func `a server without a pinned key is refused, and the error names the keys seen`() async throws {
        let pins = try CertificateAuthority().certificate.pin
        try await SecureStage.with(
            tolerating: true,
            configure: { configuration, _ in
                configuration.tls.policy = try SecurityPolicy(mode: .publicKey, pins: [.init(pins)])
            }
        ) { (stage: SecureStage) async throws in
            let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
            #expect(error.code == .serverTrustFailed)
            #expect(error.reason.contains("pin mismatch for 127.0.0.1: saw sha256/"), "\(error.reason)")
            #expect(error.reason.contains(pins), "\(error.reason)")
        }
    }
}
