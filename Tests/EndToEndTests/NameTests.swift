import Dunlin
import DunlinReactor
import DunlinTesting
import LedgerRows
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct `Names and sockets of a session` {
    /// Answers and hangs up, so that each request needs a connection.
    private static let farewell = LoopbackServer.Reply.response(fields: ["Connection": "close"], body: "x")

    @Test(arguments: [(Duration?.some(.seconds(60)), 2), (nil, 5)])
    func `a name is looked up once in its time to live, and again after a flush`(
        life: Duration?, questions: Int
    ) async throws {
        let resolver = CountingResolver()
        try await Stage.with(configure: {
            $0.resolver = resolver
            $0.timeouts.resolve = .seconds(60)
            $0.nameResolution.timeToLive = life
        }) { (stage: Stage) async throws in
            stage.server.respond { _ in Self.farewell }
            let target = HTTP.Target("http://name.test:\(stage.server.port)/")
            for _ in 0..<3 { _ = try await stage.session.get(target, as: .bytes) }
            stage.session.removeCachedAddresses()
            for _ in 0..<2 { _ = try await stage.session.get(target, as: .bytes) }
            #expect(stage.server.connectionCount == 5)
            #expect(resolver.asked == questions)
        }
    }

    @Test(arguments: [(HTTPSession.NameResolution.Order.rotating, [3, 3]), (.asGiven, [6, 0])])
    func `connections take a name's addresses in the order that the session says`(
        order: HTTPSession.NameResolution.Order, expected: [Int]
    ) async throws {
        let other = try LoopbackServer()
        defer { other.stop() }
        other.respond { _ in Self.farewell }
        try await Stage.with(configure: {
            $0.resolver = ServerResolver(others: [other.address])
            $0.timeouts.resolve = .seconds(60)
            $0.nameResolution.order = order
        }) { (stage: Stage) async throws in
            stage.server.respond { _ in Self.farewell }
            let target = HTTP.Target("http://name.test:\(stage.server.port)/")
            for _ in 0..<6 { _ = try await stage.session.get(target, as: .bytes) }
            #expect([stage.server.connectionCount, other.connectionCount] == expected)
        }
    }

    @Test func `the next address is tried beside one that hangs`() async throws {
        var silence = LoopbackServer.Configuration()
        silence.completesConnections = false
        let silent = try LoopbackServer(.ipv6, configuration: silence)
        defer { silent.stop() }
        let clock = ManualClock()
        try await Stage.with(
            clock: clock,
            configure: {
                $0.resolver = ServerResolver(others: [silent.address], isFirst: false)
                $0.timeouts = .none
                $0.nameResolution.connectionAttemptDelay = .milliseconds(40)
            }
        ) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "here") }
            let session = stage.session
            let target = HTTP.Target("http://name.test:\(stage.server.port)/")
            let answer = Task { try await session.get(target, as: .string) }
            try await clock.waitForDeadlines()
            #expect(stage.server.connectionCount == 0)
            try await clock.advance(by: .milliseconds(40))
            let response = try await answer.value
            #expect(response.value == "here")
            #expect(response.metrics.hops.first?.duration(of: .connect) == .milliseconds(40))
            #expect(response.metrics.hops.first?.peer == stage.server.address)
            try await stage.eventually("the loser is closed") { stage.loop.openChannels == 1 }
        }
    }

    @Test func `a full resolver is told apart from a name that does not exist`() async throws {
        for (resolver, kind) in [
            (SystemResolver(threads: 0, backlog: 0) as any Resolver, ResolverError.Kind.overloaded),
            (FixedResolver(addresses: []), .noSuchName),
        ] {
            try await Stage.with(configure: {
                $0.resolver = resolver
                $0.timeouts.resolve = .seconds(60)
            }) { (stage: Stage) async throws in
                let error = try await NetworkError.thrown {
                    _ = try await stage.session.get("http://name.test/", as: .bytes)
                }
                #expect(error.code == .nameNotResolved)
                #expect(error.phase == .resolve)
                #expect((error.underlying as? ResolverError)?.kind == kind)
                #expect(error.isSafeToRetry)
            }
        }
    }

    @Test func `an override keeps the Host field and shares no connection`() async throws {
        let other = try LoopbackServer()
        defer { other.stop() }
        other.respond { .response(body: Bytes("other " + ($0.fields["host"] ?? ""))) }
        let there = other.address
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { .response(body: Bytes("stage " + ($0.fields["host"] ?? ""))) }
            let host = "127.0.0.1:\(stage.server.port)"
            var elsewhere = HTTPSession.Options()
            elsewhere.hostOverrides = [host: there]
            for _ in 0..<2 {
                #expect(try await stage.session.get("x", as: .string).value == "stage \(host)")
                #expect(try await stage.session.get("x", options: elsewhere, as: .string).value == "other \(host)")
                let streamed = try await stage.session.withResponse(from: "x", options: elsewhere) { response in
                    try await response.body.reduce(into: [UInt8]()) { $0 += $1 }
                }
                #expect(String(decoding: streamed, as: UTF8.self) == "other \(host)")
            }
            #expect(stage.server.connectionCount == 1)
            #expect(other.connectionCount == 1)
        }
    }

    @Test func `a session's override needs no resolver and takes the port asked for`() async throws {
        try await Stage.with(configure: {
            $0.resolver = FixedResolver(addresses: [])
            $0.timeouts.resolve = .seconds(60)
            $0.hostOverrides = ["api.test": .v4(0x7F00_0001, port: 0)]
        }) { (stage: Stage) async throws in
            stage.server.respond { .response(body: Bytes($0.fields["host"] ?? "")) }
            let host = "api.test:\(stage.server.port)"
            let target = HTTP.Target("http://\(encoded: host)/")
            #expect(try await stage.session.get(target, as: .string).value == host)
        }
    }

    @Test(.rows("RQ-55", "AP-4"))
    func `sockets are set as the session says, and as a request says on one of its own`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in .response(body: "x") }
        let loop = try Reactor()
        defer { loop.retire() }
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        configuration.loops = [loop]
        configuration.sockets.keepAlive = .init(idle: .seconds(33), interval: .seconds(11), count: 5)
        configuration.sockets.localAddress = .v4(0x7F00_0002, port: 0)
        configuration.sockets.priority = 4
        let session = try HTTPSession(configuration)
        var options = HTTPSession.Options()
        var sockets = HTTP.SocketOptions()
        (sockets.differentiatedServices, sockets.interface, sockets.userTimeout) = (10, "lo", .seconds(9))
        options.sockets = .value(sockets)
        for _ in 0..<2 {
            _ = try await session.get("x", as: .bytes)
            _ = try await session.get("x", options: options, as: .bytes)
        }
        #expect(server.connectionCount == 2)
        let told = try loop.channels.sorted { $0.id < $1.id }.map { try $0.socketOptions() }
        #expect(told.count == 2)
        #expect(told.first?.keepAlive == configuration.sockets.keepAlive)
        #expect(told.first?.localAddress?.host == "127.0.0.2")
        #expect(told.first?.priority == 4)
        #expect(told.first?.noDelay == true)
        #expect(told.last?.differentiatedServices == 10)
        #expect(told.last?.interface == "lo")
        #expect(told.last?.userTimeout == .seconds(9))
        #expect(told.last?.keepAlive == nil)
        await session.shutdown()
    }

    @Test(.rows("RQ-54")) func `a local address rules out peers of the other family`() async throws {
        try await Stage.with(configure: {
            $0.resolver = FixedResolver(addresses: [.v6(0, 1, port: 1)])
            $0.timeouts.resolve = .seconds(60)
            $0.sockets.localAddress = .v4(0x7F00_0001, port: 0)
        }) { (stage: Stage) async throws in
            let error = try await NetworkError.thrown {
                _ = try await stage.session.get("http://name.test/", as: .bytes)
            }
            #expect(error.code == .connectionFailed)
            #expect(error.reason == "name.test has no address of the same IP version as the local address 127.0.0.1")
        }
    }
}

private final class CountingResolver: Resolver {
    private let count = Mutex(0)

    var asked: Int { count.withLock { $0 } }

    func addresses(of host: String, port: UInt16) async throws -> [HTTP.SocketAddress] {
        count.withLock { $0 += 1 }
        return [.v4(0x7F00_0001, port: port)]
    }
}

/// The stage's own server, by the port asked for, and others before or behind it.
private struct ServerResolver: Resolver {
    let others: [HTTP.SocketAddress]
    var isFirst = true

    func addresses(of host: String, port: UInt16) async throws -> [HTTP.SocketAddress] {
        let own = HTTP.SocketAddress.v4(0x7F00_0001, port: port)
        return isFirst ? [own] + others : others + [own]
    }
}
