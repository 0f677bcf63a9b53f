import Dunlin
import DunlinTesting
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Whom a proxy under TLS shows and believes` {
    @Test func `a proxy that is not believed gets no request, and the error names it`() async throws {
        let stranger = try CertificateAuthority(.authority("Somebody else")).issue(.server("127.0.0.1"))
        for issued in [
            stranger, try ProxyStage.issue(.server("127.0.0.1").expired), try ProxyStage.issue(.server("proxy.test")),
        ] {
            try await ProxyStage.overTLS(user: "ada", password: "streng", showing: issued) {
                (scene: ProxyStage) async throws in
                let error = try await scene.failure()
                #expect(error.code == .serverTrustFailed && error.phase == .proxyTLS, "\(error)")
                #expect(error.peer?.hasPrefix("the proxy https://127.0.0.1:\(scene.proxy.port)") == true)
                #expect(!error.requestMayHaveBeenSent && !"\(error)".contains("streng"))
                #expect(scene.proxy.visits.isEmpty && scene.server.requests.isEmpty)
                #expect(error.hop?.duration(of: .tls) == nil)
                #expect(scene.session.connections.failed == 1)
                try await scene.connectionIsDropped()
            }
        }
    }

    @Test func `what came through a proxy that one session trusts is not for one that trusts others`() async throws {
        try await ProxyStage.overTLS { proxied in
            let server = proxied.stage.server
            server.respond { _ in
                .response(fields: ["Cache-Control": "max-age=60"], body: Bytes("\(server.requests.count)"))
            }
            var checking = proxied.session.configuration
            checking.cache = HTTPSession.Cache(.small)
            var trusting = checking
            trusting.proxyTLS = HTTPSession.TLS()
            trusting.proxyTLS.policy = .insecure
            var bodies: [String] = []
            for configuration in [trusting, trusting, checking, checking, trusting] {
                let session = try HTTPSession(configuration)
                bodies.append(try await session.get("a", as: .string).value)
                await session.shutdown()
            }
            // Within a tunnel a proxy answers nothing.
            let isTunnelled = checking.baseURL?.hasPrefix("https:") == true
            #expect(bodies == [bodies[0], bodies[0], bodies[2], bodies[2], bodies[0]])
            #expect(server.requests.count == (isTunnelled ? 1 : 2) && (bodies[0] == bodies[2]) == isTunnelled)
        }
    }

    @Test func `an error of the TLS with a proxy is about the proxy in all that it says`() async throws {
        let stranger = try CertificateAuthority(.authority("Somebody else")).issue(.server("127.0.0.1"))
        try await ProxyStage.overTLS(showing: stranger) { (scene: ProxyStage) async throws in
            let error = try await NetworkError.thrown {
                _ = try await scene.session.get(.url(scene.named + "/x"), as: .bytes)
            }
            #expect(error.code == .serverTrustFailed && error.phase == .proxyTLS, "\(error)")
            #expect(error.reason.hasPrefix("the chain of 127.0.0.1 ends at an unknown issuer"), "\(error)")
            #expect("\(error)".contains("[the proxy https://127.0.0.1:\(scene.proxy.port)"), "\(error)")
            let failure = try #require(error.trustFailure)
            #expect(failure.host == "127.0.0.1" && failure.description.contains("“127.0.0.1”"), "\(failure)")
            #expect(failure.failingURL == scene.named + "/x")
        }
    }

    @Test func `what is said of the origin is not said of the proxy, and the other way round`() async throws {
        let hook = Hook { _ in .performDefault }
        let shown = try ProxyStage.issue()
        let pins = SecurityPolicy(mode: .certificate, pins: try HTTPSession.TLS.pins([shown], .certificate))
        try await ProxyStage.overTLS(
            showing: shown,
            configure: {
                $0.authenticationHandler = hook.hook
                $0.proxyTLS.policy = pins
            }
        ) { (scene: ProxyStage) async throws in
            try await scene.expectHealthy()
            #expect(hook.questions == (Stage.isSecure ? "b" : ""))
            #expect(hook.asked.allSatisfy { $0.origin.port == scene.server.port })
        }
        // The same said of the origin, which shows something else.
        guard Stage.isSecure else { return }
        try await ProxyStage.overTLS(showing: shown, configure: { $0.tls.policy = pins }) {
            (scene: ProxyStage) async throws in
            let error = try await scene.failure()
            #expect(error.code == .serverTrustFailed && error.phase == .tls, "\(error)")
            #expect(error.peer?.contains("through the proxy https://") == true && scene.proxy.visits.count == 1)
        }
    }

    @Test(arguments: [LoopbackServer.TLS.Version.v1_2, .v1_3])
    func `an identity for proxies is shown to the proxy alone, and the session's to the origin alone`(
        version: LoopbackServer.TLS.Version
    ) async throws {
        let root = try CertificateAuthority(.authority("Clients"))
        let client = try root.issue(.client("Ada"))
        let identity = HTTPSession.ClientIdentity.pem(.bytes(Bytes(client.chainPEM + (try client.privateKeyPEM))))
        for isForProxy in [true, false] {
            try await ProxyStage.overTLS(
                tls: {
                    $0.versions = version...version
                    $0.clientCertificate = .required
                    $0.clientAuthorities = [root.certificate.der]
                },
                configure: { if isForProxy { $0.proxyTLS.identity = identity } else { $0.tls.identity = identity } }
            ) { (scene: ProxyStage) async throws in
                if isForProxy {
                    for _ in 1...2 { try await scene.expectHealthy() }
                    #expect(scene.proxy.handshakes.map(\.clientCertificate) == [client.der])
                    #expect(scene.server.requests.allSatisfy { $0.handshake?.clientCertificate == nil })
                } else {
                    // With TLS 1.3 the proxy's refusal comes after the handshake.
                    let error = try await scene.failure()
                    #expect([.proxyTLS, .tunnel, .send, .firstByte].contains(error.phase), "\(error)")
                    #expect(scene.proxy.visits.isEmpty && scene.server.requests.isEmpty)
                }
            }
        }
    }

    @Test func `a session with the proxy is resumed, and not with what the origin gave`() async throws {
        try await ProxyStage.overTLS { (scene: ProxyStage) async throws in
            // An origin in a tunnel ends both connections; it is no session's end that the proxy cuts.
            if Stage.isSecure { scene.server.respond { _ in .response(body: "from the origin").closingAfter } }
            for _ in 1...3 {
                try await scene.expectHealthy()
                if !Stage.isSecure { scene.proxy.act(.close) }
                try await scene.connectionIsDropped()
            }
            #expect(scene.proxy.handshakes.map(\.wasResumed) == [false, true, true])
            if Stage.isSecure { #expect(scene.server.handshakes.map(\.wasResumed) == [false, true, true]) }
        }
    }

    // MARK: - Handshakes that go wrong

    @Test(arguments: [0, 1, 5, 60, 130, 700])
    func `a handshake that the proxy breaks off is an error of its phase`(count: Int) async throws {
        try await ProxyStage.overTLS(configure: { $0.retry = .never }) { (scene: ProxyStage) async throws in
            for fault in [
                LoopbackServer.HandshakeFault.close(after: count), .reset(after: count), .alert(40),
                .answer("HTTP/1.1 400 Speak TLS\r\n\r\n"),
            ] {
                scene.proxy.enqueue(handshakes: fault)
                let error = try await scene.failure()
                #expect([.connectionClosed, .secureConnectionFailed].contains(error.code), "\(error)")
                #expect(error.phase == .proxyTLS && !error.requestMayHaveBeenSent)
                #expect(error.peer?.hasPrefix("the proxy https://") == true)
            }
            #expect(scene.proxy.visits.isEmpty)
            scene.proxy.enqueue(handshakes: .drip())
            try await scene.expectHealthy()
        }
    }

    @Test(arguments: [0, 100]) func `a proxy that does not end its handshake runs into a limit of its own`(
        count: Int
    ) async throws {
        let clock = ManualClock()
        try await ProxyStage.overTLS(
            clock: clock,
            configure: {
                $0.timeouts = .none
                $0.timeouts.proxyTLS = .seconds(5)
            }
        ) { (scene: ProxyStage) async throws in
            scene.proxy.enqueue(handshakes: .stall(after: count))
            let request = Task { try await scene.failure() }
            try await scene.stage.eventually("it hangs") { scene.session.connections.inProxy == 1 }
            let gauges = try #require(await scene.session.gauges().pool)
            let name = (Stage.isSecure ? "https://127.0.0.1:\(scene.server.port) through " : "the proxy ")
            #expect(
                Array(gauges.origins.keys).contains {
                    $0.hasPrefix(name) && $0.contains("https://127.0.0.1:\(scene.proxy.port)")
                }, "\(gauges.origins.keys)")
            try await clock.waitForDeadlines(1)
            let session = scene.session
            try await clock.advance(by: .seconds(6), until: "it ends") { await session.tasks.count == 0 }
            let error = try await request.value
            #expect(error.code == .timedOut && error.phase == .proxyTLS && error.exceeded == .proxyTLS, "\(error)")
            #expect(!error.requestMayHaveBeenSent && error.peer?.hasPrefix("the proxy https://") == true)
            try await scene.stage.eventually("the proxy is left") { scene.proxy.openConnections == 0 }
            #expect(scene.session.connections.inProxy == 0 && scene.session.connections.failed == 1)
        }
    }

    @Test func `a tunnel within TLS has a limit of its own`() async throws {
        guard Stage.isSecure else { return }
        let clock = ManualClock()
        try await ProxyStage.overTLS(
            clock: clock,
            configure: {
                $0.timeouts = .none
                $0.timeouts.tunnel = .seconds(5)
            }
        ) { (scene: ProxyStage) async throws in
            scene.proxy.enqueue(.stall(after: 9))
            let request = Task { try await scene.failure() }
            try await scene.stage.eventually("the proxy was asked") { scene.proxy.visits.count == 1 }
            try await clock.waitForDeadlines(1)
            let session = scene.session
            try await clock.advance(by: .seconds(6), until: "it ends") { await session.tasks.count == 0 }
            let error = try await request.value
            #expect(error.code == .timedOut && error.phase == .tunnel && error.exceeded == .tunnel, "\(error)")
            #expect(!error.requestMayHaveBeenSent)
        }
    }

    @Test func `a request is cancelled in the handshake with the proxy, and while a tunnel is made`() async throws {
        try await ProxyStage.overTLS { (scene: ProxyStage) async throws in
            for isTunnel in Stage.isSecure ? [false, true] : [false] {
                if isTunnel {
                    scene.proxy.enqueue(.stall(after: 3))
                } else {
                    scene.proxy.enqueue(handshakes: .stall(after: 100))
                }
                let before = scene.proxy.visits.count
                let request = Task { try await scene.get() }
                try await scene.stage.eventually("it hangs") {
                    scene.session.connections.inProxy == 1 && scene.proxy.openConnections == 1
                        && (!isTunnel || scene.proxy.visits.count > before)
                }
                request.cancel()
                await #expect(throws: CancellationError.self) { try await request.value }
                try await scene.stage.eventually("the proxy is left") { scene.proxy.openConnections == 0 }
                #expect(scene.session.connections.open == 0)
            }
            try await scene.expectHealthy()
        }
    }

    // MARK: - CONNECT under TLS

    @Test func `a proxy that ends or resets anywhere in its answer is an error, and no more`() async throws {
        try await ProxyStage.overTLS(configure: { $0.retry = .never }) { (scene: ProxyStage) async throws in
            for count in 0..<"HTTP/1.1 200 Connection established\r\n\r\n".utf8.count {
                for fault in [LoopbackProxy.Fault.close(after: count), .reset(after: count)] {
                    scene.proxy.enqueue(fault)
                    let error = try await scene.failure()
                    #expect(error.code == (Stage.isSecure ? .proxyFailed : .connectionClosed), "\(error)")
                }
            }
            scene.proxy.enqueue(.drip)
            try await scene.expectHealthy()
        }
    }
}
