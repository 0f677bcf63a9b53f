import Dunlin
import DunlinReactor
import DunlinTesting
import LedgerRows
import Mocking
import Synchronization
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A session` {
    @Test(arguments: [
        LoopbackServer.Endpoint.ipv4, .ipv6, .abstract, .unix("/tmp/dunlin-\(UInt64.random(in: 0 ... .max)).socket"),
    ])
    func `a session works over every kind of socket`(endpoint: LoopbackServer.Endpoint) async throws {
        try await Stage.with(endpoint) { (stage: Stage) async throws in
            stage.server.respond { .response(body: Bytes($0.fields["host"] ?? "none")) }
            let response = try await stage.session.get("x", as: .string)
            let base = stage.server.baseURL.split(separator: "/").last ?? ""
            #expect(response.value == base)
            #expect(response.metrics.hops.first?.peer == stage.server.address)
        }
    }

    @Test(.rules("9110-7.3.3-1")) func `a session resolves names and tries their addresses in turn`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "here") }
            var configuration = try Stage.configuration(for: stage.server)
            configuration.baseURL = "\(stage.scheme)://many.test:\(stage.server.port)"
            configuration.use(stage.loop)
            configuration.resolver = FixedResolver(addresses: [
                .v6(0, 1, port: stage.server.port), .v4(0x7F00_0001, port: stage.server.port),
            ])
            let session = try HTTPSession(configuration)
            let response = try await session.get("x", as: .string)
            #expect(response.value == "here")
            #expect(response.metrics.hops.first?.duration(of: .resolve) != nil)
            let localhost = "\(stage.scheme)://localhost:\(stage.server.port)/x"
            #expect(try await stage.session.get(HTTP.Target(localhost), as: .string).value == "here")
            await session.shutdown()
        }
    }

    @Test func `the error says who refused when no address accepts`() async throws {
        let held = try HeldPort()
        defer { held.release() }
        let port = held.number
        try await Stage.with { (stage: Stage) async throws in
            let error = try await NetworkError.thrown {
                _ = try await stage.session.get(HTTP.Target("http://127.0.0.1:\(port)/"), as: .bytes)
            }
            #expect(error.code == .connectionFailed)
            #expect(error.phase == .connect)
            #expect(error.isSafeToRetry)
            #expect(error.peer?.contains("127.0.0.1:\(port)") == true)
            let failures = try #require(error.underlying as? NetworkError.ConnectionFailures)
            #expect(failures.description == "127.0.0.1:\(port): Connection refused")
        }
    }

    @Test func `a session survives a server that closes a connection as it accepts it`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.onConnect(.closeAtOnce, .resetAtOnce)
            for _ in 0..<2 {
                let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
                // Over TLS it hangs up on the handshake.
                #expect([.connectionClosed, .connectionFailed, .secureConnectionFailed].contains(error.code))
            }
            try await stage.expectHealthy()
        }
    }

    @Test @MainActor func `a caller from the main actor can run on the session's loop, and comes back`() async throws {
        let server = try Stage.makeServer()
        defer { server.stop() }
        server.respond { _ in .response(body: "fast") }
        let loop = try Reactor(name: "fast")
        defer { loop.retire() }
        var configuration = try Stage.configuration(for: server)
        configuration.loops = [loop]
        let session = try HTTPSession(configuration)
        let values = try await session.onEventLoop { @concurrent in
            #expect(loop.isCurrent)
            async let other = session.get("b", as: .string).value
            let value = try await session.get("a", as: .string).value
            #expect(loop.isCurrent, "a request in the fast lane comes back to where it began")
            return try await [value, other]
        }
        #expect(values == ["fast", "fast"])
        MainActor.assertIsolated()
        #expect(try await session.get("c", as: .string).value == "fast")
        MainActor.assertIsolated()
        #expect(!loop.isCurrent)
        await session.shutdown()
    }

    @Test func `a session serves many tasks at once`() async throws {
        try await Stage.with(configure: { $0.connections.perOrigin = 8 }) { (stage: Stage) async throws in
            stage.server.respond { .response(body: Bytes($0.target)) }
            let session = stage.session
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<200 {
                    group.addTask {
                        let value = try await session.get("item/\(index)", as: .string).value
                        #expect(value == "/item/\(index)")
                    }
                }
                try await group.waitForAll()
            }
            #expect(stage.server.connectionCount <= 8)
        }
    }

    @Test(.rows("G-10", "SM-13", "LX-9")) func `a session can be dropped at any time and leaves nothing behind`()
        async throws
    {
        let server = try Stage.makeServer()
        defer { server.stop() }
        server.respond { _ in .response(body: "x") }
        let loop = try PrivateLoop()
        for round in 0..<100 {
            var configuration = try Stage.configuration(for: server)
            configuration.use(loop)
            let session = try HTTPSession(configuration)
            _ = try await session.get("x", as: .bytes)
            if round.isMultiple(of: 3) {
                Task { try? await session.get("unwatched", as: .bytes) }
            }
        }
        try await loop.verifyNothingLeft()
        try await server.wait { $0.open == 0 }
    }

    @Test func `a shutdown lets running requests end within the grace`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            let gate = LoopbackServer.Gate()
            stage.server.enqueue(.response(body: "done").waiting(for: gate))
            let session = stage.session
            let request = Task { try await session.get("x", as: .string).value }
            _ = try await stage.server.waitForRequests(1)
            async let cut = session.shutdown(grace: .seconds(30))
            try await stage.eventually("intake stops") { session.isShutDown }
            gate.open()
            #expect(try await request.value == "done")
            #expect(await cut == 0)
        }
    }
}

struct FixedResolver: Resolver {
    let addresses: [HTTP.SocketAddress]

    func addresses(of host: String, port: UInt16) async throws -> [HTTP.SocketAddress] { addresses }
}
