import Dunlin
import DunlinTesting
import Testing

/// A request that is suspended before it is sent, while its authentication handler thinks: it has a connection by then.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A request that is suspended before it is sent` {
    typealias Gate = LoopbackServer.Gate

    /// Brings a request to where it would send its answer to a challenge, if it were not suspended. `unasked` is what
    /// the server says behind its challenge once `saying` is open.
    private static func play(
        _ saying: Gate, _ unasked: [LoopbackServer.Step] = [], connections: Int = 6,
        _ play: (Stage, HTTPSession.RequestTask<String>) async throws -> Void
    ) async throws {
        let (clock, answer) = (ManualClock(), HeldAnswer())
        try await Stage.with(clock: clock, tolerating: true) { configuration in
            configuration.authenticationHandler = answer.handler
            configuration.connections.perOrigin = connections
        } _: { (stage: Stage) async throws in
            var challenge = LoopbackServer.Reply.response(401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
            for step in [.waitForSignal(saying)] + unasked { challenge = challenge.then(step) }
            stage.server.enqueue(challenge)
            stage.server.respond { request in .response(body: Bytes(request.fields["Authorization"] ?? "nobody")) }
            let task = try stage.session.task("x", method: .put, as: .string)
            try await answer.suspend(task, on: stage, clock)
            try await play(stage, task)
        }
    }

    @Test(arguments: [false, true])
    func `a suspended request that is cancelled sends nothing`(isShutdown: Bool) async throws {
        let saying = Gate()
        try await Self.play(saying) { stage, task in
            if isShutdown { await stage.session.shutdown() } else { task.cancel() }
            let error = try await NetworkError.thrown { _ = try await task.value }
            #expect(error.code == .cancelled)
            saying.open()
            try await stage.server.wait { $0.open == 0 }
            #expect(stage.server.requests.count == 1)
        }
    }

    /// With one connection its place is needed by the next. A streamed body has no case here: its challenge may be read
    /// before its end is known to be sent, and what is then waited for goes by the clock, which stands.
    @Test(arguments: [1, 6])
    func `what a server says while a request is suspended is no answer to it`(connections: Int) async throws {
        let (saying, told) = (Gate(), Gate())
        let late = LoopbackServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbad")
        try await Self.play(saying, [late, .signal(told), .stall], connections: connections) { stage, task in
            saying.open()
            try await told.opened()
            task.resume()
            #expect(try await task.value == "Basic YTpi")
            #expect(stage.server.connectionCount == 2 && stage.server.requests.count == 2)
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct `A request that is suspended during its handshake` {
    /// A right to open one may come to it while it waits for a connection.
    @Test(arguments: ["http", "https", "socks5"])
    func `a request that is suspended in the pool's queue opens no tunnel before it is resumed`(
        scheme: String
    ) async throws {
        let clock = ManualClock()
        let tls = scheme == "https" ? LoopbackServer.TLS(try Self.authority.get().issue(.server("127.0.0.1"))) : nil
        try await Stage.$isSecure.withValue(true) {
            try await ProxyStage.with(scheme, user: "u", password: "p", tls: tls, clock: clock) { configuration in
                configuration.connections.perOrigin = 1
                if tls != nil {
                    configuration.proxyTLS.roots = .only([.bytes((try? Self.authority.get().certificate.der) ?? [])])
                }
            } _: { stage in
                let gate = LoopbackServer.Gate()
                stage.server.enqueue(.response(body: "first").closingAfter.waiting(for: gate))
                let first = try stage.session.task("first", as: .string)
                first.resume()
                _ = try await stage.server.waitForRequests(1)
                let task = try stage.session.task("second", as: .string)
                task.resume()
                try await stage.stage.eventually("it waits") { stage.session.connections.waiting == 1 }
                task.suspend()
                gate.open()
                #expect(try await first.value == "first")
                try await clock.advance(by: .seconds(1))
                #expect(stage.proxy.visits.count == 1)
                task.resume()
                #expect(try await task.value == "from the origin")
                #expect(stage.proxy.visits.count == 2)
            }
        }
    }

    private struct HeldResolver: Resolver {
        let asked = LoopbackServer.Gate()
        let answered = LoopbackServer.Gate()

        func addresses(of host: String, port: UInt16) async throws -> [HTTP.SocketAddress] {
            asked.open()
            try await answered.opened()
            return [.v4(0x7F00_0001, port: port)]
        }
    }

    @Test func `nothing is dialled for a request that is suspended during its look-up before it is resumed`()
        async throws
    {
        let (clock, resolver) = (ManualClock(), HeldResolver())
        try await Stage.with(clock: clock, configure: { $0.resolver = resolver }) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            let task = try stage.session.task(.url("http://a.test:\(stage.server.port)/x"), as: .string)
            task.resume()
            try await resolver.asked.opened()
            task.suspend()
            resolver.answered.open()
            try await stage.eventually("the name is resolved") { stage.session.connections.inResolve == 0 }
            try await clock.advance(by: .seconds(1))
            #expect(stage.server.connectionCount == 0)
            task.resume()
            #expect(try await task.value == "x")
            #expect(stage.server.connectionCount == 1)
        }
    }

    private static let authority = Result { try CertificateAuthority() }

    @Test(arguments: [LoopbackServer.TLS.Version.v1_2, .v1_3])
    func `a connection is kept for a request that is suspended during its handshake`(
        version: LoopbackServer.TLS.Version
    ) async throws {
        let (clock, asked, answered) = (ManualClock(), LoopbackServer.Gate(), LoopbackServer.Gate())
        try await SecureStage.with(
            tls: { tls, _ in tls.versions = version...version }, clock: clock,
            configure: { configuration, _ in
                configuration.connections.perOrigin = 1
                configuration.authenticationHandler = { challenge in
                    guard case .serverTrust = challenge.kind else { return .performDefault }
                    asked.open()
                    do { try await answered.opened() } catch { return .reject }
                    return .performDefault
                }
            }
        ) { (stage: SecureStage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            let task = try stage.session.task("x", as: .string)
            task.resume()
            try await asked.opened()
            task.suspend()
            answered.open()
            try await clock.advance(by: .seconds(1))
            #expect(stage.server.requests.isEmpty)
            task.resume()
            #expect(try await task.value == "x")
            #expect(stage.server.connectionCount == 1)
        }
    }
}
