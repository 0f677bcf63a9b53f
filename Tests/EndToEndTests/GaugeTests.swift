import Dunlin
import DunlinTesting
import Mocking
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Gauges of connections` {
    typealias Connections = HTTP.ConnectionGauges

    private static func gauges(_ change: (inout Connections) -> Void) -> Connections {
        var gauges = Connections()
        change(&gauges)
        return gauges
    }

    /// What is said of the stage's server; nil if it is not listed.
    private static func own(_ stage: Stage, host: String = "127.0.0.1") async throws -> Connections? {
        try #require(await stage.session.gauges().pool).origins["\(stage.scheme)://\(host):\(stage.server.port)"]
    }

    @Test func `one connection that serves several requests is opened once`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            #expect(try await Self.own(stage) == nil)
            for count in 1...4 {
                _ = try await stage.session.get("a", as: .bytes)
                let expected = Self.gauges { ($0.open, $0.idle, $0.opened, $0.reuses) = (1, 1, 1, count - 1) }
                try await stage.eventually("it is idle") {
                    try await Self.own(stage) == expected && stage.session.connections == expected
                }
            }
            let gauges = await stage.session.gauges()
            #expect(gauges.requests == 0 && gauges.pool?.others == Connections() && gauges.pool?.origins.count == 1)
            await stage.session.shutdown()
            let left = Self.gauges { ($0.opened, $0.reuses) = (1, 3) }
            #expect(try await Self.own(stage) == left)
            await stage.session.restart()
            #expect(await stage.session.gauges().pool == HTTPSession.Gauges.Pool())
        }
    }

    @Test func `requests beyond the cap wait, and each gets what is given back`() async throws {
        try await Stage.with(configure: { $0.connections.perOrigin = 2 }) { (stage: Stage) async throws in
            let gate = LoopbackServer.Gate()
            stage.server.respond { _ in .response(body: "x").waiting(for: gate) }
            let session = stage.session
            let tasks = (0..<5).map { _ in Task { try await session.get("a", as: .bytes) } }
            _ = try await stage.server.waitForRequests(2)
            try await stage.eventually("three wait") { session.connections.waiting == 3 }
            #expect(try await Self.own(stage) == Self.gauges { ($0.open, $0.waiting, $0.opened) = (2, 3, 2) })
            #expect(await session.gauges().requests == 5)
            gate.open()
            for task in tasks { _ = try await task.value }
            try await stage.eventually("both are idle") {
                try await Self.own(stage) == Self.gauges { ($0.open, $0.idle, $0.opened, $0.reuses) = (2, 2, 2, 3) }
            }
        }
    }

    @Test func `a connection opened ahead counts as opened, and its first use as reuse`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            try await stage.session.prewarm(2)
            // Over TLS something may come on an idle connection, which is not idle while that is read.
            try await stage.eventually("both are idle") {
                try await Self.own(stage) == Self.gauges { ($0.open, $0.idle, $0.opened) = (2, 2, 2) }
            }
            _ = try await stage.session.get("a", as: .bytes)
            #expect(try await Self.own(stage)?.reuses == 1)
        }
    }

    // MARK: - Openings

    private static let openings: [Predicament] = [.resolve, .connect, .tls, .trustHook]

    /// What is counted while one connection is being opened and hangs.
    private static func opening(_ predicament: Predicament) -> Connections {
        gauges {
            $0.open = 1
            switch predicament.phase {
            case .resolve: $0.inResolve = 1
            case .connect: $0.inConnect = 1
            default: $0.inTLS = 1
            }
        }
    }

    private static func host(_ predicament: Predicament) -> String {
        predicament == .resolve ? "nowhere.test" : "127.0.0.1"
    }

    /// What is counted of a request that hangs.
    private static func row(_ predicament: Predicament, _ stage: Stage) async throws -> Connections? {
        let scheme = predicament == .resolve ? "http" : stage.scheme
        let pool = try #require(await stage.session.gauges().pool)
        return pool.origins["\(scheme)://\(host(predicament)):\(stage.server.port)"]
    }

    @Test(arguments: openings) func `a connection being opened is counted in its phase, and in no other`(
        predicament: Predicament
    ) async throws {
        guard predicament.isPossible else { return }
        try await Stage.with(server: predicament.server, tolerating: true, configure: predicament.configure) {
            (stage: Stage) async throws in
            predicament.prepare(stage)
            let task = Task { try await predicament.request(stage) }
            try await predicament.waitUntilStuck(stage)
            try await stage.eventually("it is in its phase") {
                try await Self.row(predicament, stage) == Self.opening(predicament)
            }
            #expect(stage.session.connections == Self.opening(predicament))
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            // A cancel is no failure, and nothing is left of it.
            #expect(try await Self.row(predicament, stage) == nil)
            #expect(stage.session.connections == Connections())
        }
    }

    @Test(arguments: openings) func `a connection that is not opened in time has failed`(
        predicament: Predicament
    ) async throws {
        guard predicament.isPossible else { return }
        let clock = ManualClock()
        try await Stage.with(
            server: predicament.server, clock: clock, tolerating: true,
            configure: {
                predicament.configure(&$0)
                $0.timeouts = .none
                $0.timeouts[Timeouts.Limit(predicament.phase)] = .seconds(1)
            }
        ) { (stage: Stage) async throws in
            predicament.prepare(stage)
            let task = Task { try await predicament.request(stage) }
            try await predicament.waitUntilStuck(stage)
            try await clock.waitForDeadlines()
            try await clock.advance(by: .seconds(2))
            let error = try await NetworkError.thrown { try await task.value }
            #expect(error.code == .timedOut && error.phase == predicament.phase)
            #expect(try await Self.row(predicament, stage) == Self.gauges { $0.failed = 1 })
        }
    }

    @Test func `each connection that a port refuses has failed, and is listed when it is gone`() async throws {
        let port = try HeldPort()
        defer { port.release() }
        try await Stage.with { (stage: Stage) async throws in
            for count in 1...3 {
                let error = try await NetworkError.thrown {
                    _ = try await stage.session.get(url: "http://127.0.0.1:\(port.number)/", as: .bytes)
                }
                #expect(error.code == .connectionFailed)
                let pool = try #require(await stage.session.gauges().pool)
                #expect(pool.origins == ["http://127.0.0.1:\(port.number)": Self.gauges { $0.failed = count }])
            }
        }
    }

    private struct Nobody: Resolver {
        func addresses(of host: String, port: UInt16) async throws -> [HTTP.SocketAddress] { [] }
    }

    @Test func `a connection to a name that is not resolved has failed`() async throws {
        try await Stage.with(configure: { $0.resolver = Nobody() }) { (stage: Stage) async throws in
            let error = try await NetworkError.thrown {
                _ = try await stage.session.get("http://nowhere.test/", as: .bytes)
            }
            #expect(error.code == .nameNotResolved)
            let pool = try #require(await stage.session.gauges().pool)
            #expect(pool.origins == ["http://nowhere.test": Self.gauges { $0.failed = 1 }])
        }
    }

    @Test func `a connection on which TLS fails has failed`() async throws {
        guard Stage.isSecure else { return }
        let stranger = try CertificateAuthority().certificate.der
        try await Stage.with(tolerating: true, configure: { $0.tls.roots = .only([.bytes(stranger)]) }) {
            (stage: Stage) async throws in
            let error = try await NetworkError.thrown { _ = try await stage.session.get("a", as: .bytes) }
            #expect(error.code == .serverTrustFailed)
            #expect(try await Self.own(stage) == Self.gauges { $0.failed = 1 })
        }
    }

    @Test func `connections to a Unix socket are listed with its path`() async throws {
        try await Stage.with(.abstract) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            _ = try await stage.session.get("a", as: .bytes)
            let pool = try #require(await stage.session.gauges().pool)
            let expected = Self.gauges { ($0.open, $0.idle, $0.opened) = (1, 1, 1) }
            #expect(Array(pool.origins.values) == [expected])
            #expect(pool.origins.keys.allSatisfy { $0.hasSuffix(" via \(stage.server.address)") })
        }
    }

    // MARK: - All at once

    @Test func `gauges agree with each other at every moment of a storm of cancels`() async throws {
        let other = try Stage.makeServer()
        defer { other.stop() }
        try await Stage.with(tolerating: true, configure: { $0.connections.perOrigin = 4 }) {
            (stage: Stage) async throws in
            for server in [stage.server, other] {
                server.respond { $0.target == "/last" ? .response(body: "x").closingAfter : .response(body: "x") }
            }
            let session = stage.session
            let (signal, ring) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            let observe = Task { await Self.observe(session, whenever: signal) }
            let served = await withTaskGroup(of: Bool.self) { group in
                var served = 0
                for number in 0..<600 {
                    let base = number % 3 == 0 ? other.baseURL : stage.server.baseURL
                    let url = "\(base)/\(number % 7 == 0 ? "last" : "x")"
                    group.addTask { await Self.isServed(url, session, number, ring) }
                    if number >= 60, await group.next() == true { served += 1 }
                }
                for await isServed in group where isServed { served += 1 }
                return served
            }
            ring.finish()
            #expect(await observe.value > 0)
            try await stage.eventually("all are idle") { session.connections.leased == 0 }
            let gauges = await session.gauges()
            let total = try #require(gauges.pool).total
            #expect(gauges.requests == 0 && total.waiting == 0 && total.failed == 0)
            #expect(total.inResolve + total.inConnect + total.inTLS == 0)
            // Each that was served had a connection of its own, or one that was open.
            #expect(total.opened + total.reuses >= served)
            #expect(total.opened <= stage.server.connectionCount + other.connectionCount)
        }
    }

    /// Whether a request was served that may have been cancelled.
    private static func isServed(
        _ url: String, _ session: HTTPSession, _ number: Int, _ ring: AsyncStream<Void>.Continuation
    ) async -> Bool {
        let task = Task { try await session.get(url: url, as: .bytes) }
        ring.yield()
        for _ in 0..<number % 11 { await Task.yield() }
        if number % 2 == 0 { task.cancel() }
        if case .success = await task.result { return true }
        return false
    }

    /// Looks whenever the signal comes, in the midst of what goes on; returns how often.
    private static func observe(_ session: HTTPSession, whenever signal: AsyncStream<Void>) async -> Int {
        var (looks, last) = (0, [String: Connections]())
        for await _ in signal {
            guard let pool = await session.gauges().pool else { return looks }
            looks += 1
            #expect(pool.others == Connections())
            for (origin, now) in pool.origins {
                let counts = [now.idle, now.waiting, now.inResolve, now.inConnect, now.inTLS, now.leased]
                #expect(counts.allSatisfy { $0 >= 0 }, "\(origin): \(now)")
                #expect(now.open == now.idle + now.leased && now.open <= 4)
                #expect(now.inResolve + now.inConnect + now.inTLS <= now.leased, "\(origin): \(now)")
                let before = last[origin] ?? Connections()
                #expect(now.opened >= before.opened && now.reuses >= before.reuses && now.failed >= before.failed)
            }
            // An origin that has been counted stays listed.
            #expect(Set(last.filter { $0.value.opened > 0 }.keys).isSubset(of: pool.origins.keys))
            last = pool.origins
        }
        return looks
    }
}
