import Dunlin
import DunlinTesting
import LedgerRows
import Synchronization
import Testing

/// A machine with many processors has several loops, and a session uses all of them.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A session over several loops` {
    @Test func `each loop has connections of its own`() async throws {
        try await Self.play { session, server, loops in
            // A loop takes what is idle on another rather than open one, so the first of each are under way at once.
            let both = LoopbackServer.Gate()
            let arrived = Atomic(0)
            server.respond { _ in
                if arrived.add(1, ordering: .relaxed).newValue == 2 { both.open() }
                return .response(body: "fit").waiting(for: both)
            }
            let (first, second) = try await Self.onEachLoop(session) {
                var connections: [UInt64] = []
                for _ in 0..<5 {
                    let response = try await session.get("x", as: .string)
                    connections.append(try #require(response.metrics.hops.last).connection)
                }
                return connections
            }
            #expect(Set(first).count == 1)
            #expect(Set(second).count == 1)
            #expect(first[0] != second[0])
            #expect(loops.map(\.openChannels) == [1, 1])
        }
    }

    @Test func `a loop uses another's connection when that is all there is`() async throws {
        try await Self.play(configure: { $0.connections.perOrigin = 1 }) { session, server, _ in
            server.route(.get, "/long", .response(body: Bytes([UInt8](repeating: 7, count: 1 << 20))))
            server.route(.post, "/echo", .response(body: "taken"))
            var reused: [Bool] = []
            // The loops take turns, so every second request is a guest on the other's connection.
            for _ in 0..<8 {
                let attempt = try await session.onEventLoop { @concurrent in
                    let body = try await session.get("long", as: .bytes)
                    #expect(body.value.count == 1 << 20)
                    let upload = UploadPieces(total: 300_000)
                    let answer = try await session.post("echo", body: .stream(upload), as: .string)
                    #expect(answer.value == "taken")
                    return body.metrics.hops.last
                }
                reused.append(attempt?.isConnectionReused ?? false)
            }
            #expect(reused == [false] + Array(repeating: true, count: 7))
            #expect(server.connectionCount == 1)
        }
    }

    @Test(.rules("9112-9.4-1")) func `a session keeps its caps over all its loops`() async throws {
        try await Self.play(configure: { $0.connections.perOrigin = 3 }) { session, server, _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<60 {
                    group.addTask {
                        try await session.onEventLoop { @concurrent in _ = try await session.get("x", as: .bytes) }
                    }
                }
                try await group.waitForAll()
            }
            #expect(server.connectionCount <= 3)
            #expect(session.connections.open <= 3)
        }
    }

    @Test func `gauges count what is on each loop`() async throws {
        try await Self.play { session, server, loops in
            let gate = LoopbackServer.Gate()
            server.respond { _ in .response(body: "fit").waiting(for: gate) }
            let requests = Task {
                try await Self.onEachLoop(session) { try await session.get("x", as: .bytes) }
            }
            _ = try await server.waitForRequests(2)
            #expect(loops.map(\.openChannels) == [1, 1])
            let gauges = await session.gauges()
            #expect(gauges.requests == 2 && gauges.pool?.origins.values.map(\.leased) == [2])
            gate.open()
            _ = try await requests.value
            #expect(await session.gauges().pool?.total.idle == 2)
        }
    }

    @Test(arguments: [true, false])
    func `a request on another loop's connection can time out and be cancelled`(byTimeout: Bool) async throws {
        try await Self.play(configure: { $0.connections.perOrigin = 1 }) { session, server, loops in
            let asked = LoopbackServer.Gate()
            server.route(.get, "/stuck", LoopbackServer.Reply([.signal(asked), .stall]))
            _ = try await session.onEventLoop { @concurrent in try await session.get("x", as: .bytes) }
            let task = Task {
                try await session.onEventLoop { @concurrent in
                    var options = HTTPSession.Options()
                    if byTimeout { options.timeouts = .init(firstByte: .milliseconds(50)) }
                    _ = try await session.get("stuck", options: options, as: .bytes)
                }
            }
            try await asked.opened()
            if byTimeout {
                let error = try await NetworkError.thrown { try await task.value }
                #expect(error.code == .timedOut)
            } else {
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
            }
            #expect(try await session.get("x", as: .string).value == "fit")
        }
    }

    @Test func `a session survives many requests and cancels from everywhere`() async throws {
        try await Self.play(configure: { $0.connections.perOrigin = 8 }) { session, server, _ in
            server.route(.get, "/stuck", LoopbackServer.Reply([.stall]))
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<400 {
                    group.addTask {
                        let isStuck = number % 5 == 0
                        let task = Task {
                            if number % 2 == 0 { return try await session.get(isStuck ? "stuck" : "x", as: .bytes) }
                            return try await session.onEventLoop { @concurrent in
                                try await session.get(isStuck ? "stuck" : "x", as: .bytes)
                            }
                        }
                        if isStuck || number % 3 == 0 { task.cancel() }
                        let result = await task.result
                        if !isStuck, number % 3 != 0 { #expect(throws: Never.self) { try result.get() } }
                    }
                }
            }
            #expect(await session.tasks.count == 0)
            #expect(session.connections.leased == 0)
        }
    }

    /// How all that goes on is ended.
    enum End: CaseIterable {
        case shutdown, restart, cancelAll
    }

    @Test(arguments: End.allCases)
    func `a request made before all are ended neither begins nor goes on after that`(end: End) async throws {
        try await Self.play { session, server, _ in
            for _ in 0..<20 {
                // Some are listed by then, some on their way to a loop, and some not made yet.
                let requests = (0..<40).map { number in
                    Task {
                        if number % 2 == 0 { return try await session.get("x", as: .bytes) }
                        return try await session.onEventLoop { @concurrent in try await session.get("x", as: .bytes) }
                    }
                }
                let held = try (0..<4).map { _ in try session.task("held", as: .bytes) }
                #expect(await session.tasks.count >= 4)
                switch end {
                case .shutdown: await session.shutdown()
                case .restart: await session.restart()
                case .cancelAll: await session.tasks.cancelAll()
                }
                for task in held {
                    let result = try #require(task.resultIfEnded)
                    #expect(throws: NetworkError.self) { try result.get() }
                }
                // What was asked for since may go on, where it may.
                for request in requests {
                    guard case .failure(let error as NetworkError) = await request.result else { continue }
                    let codes: [NetworkError.Code] = end == .cancelAll ? [.cancelled] : [.cancelled, .sessionShutDown]
                    #expect(codes.contains(error.code))
                }
                #expect(await session.tasks.count == 0)
                if end != .shutdown { continue }
                let error = try await NetworkError.thrown { _ = try await session.get("held", as: .bytes) }
                #expect(error.code == .sessionShutDown)
                await session.restart()
            }
            _ = try await session.get("x", as: .bytes)
            #expect(!server.requests.contains { $0.target == "/held" })
        }
    }

    @Test func `a request that waits until its session is empty does not wait for others that wait for it`()
        async throws
    {
        let waiting = Mutex(0)
        let held = Mutex<HTTPSession?>(nil)
        try await Self.play(configure: { configuration in
            configuration.hooks.completed = { _ in
                let all = waiting.withLock { count in
                    count += 1
                    return count
                }
                // Each is within its own, and all are on their lists by then.
                do {
                    try await eventually("all are there") { all == 4 || waiting.withLock { $0 == 4 } }
                    try await held.withLock { $0 }?.tasks.waitUntilEmpty()
                } catch { Issue.record(error) }
            }
        }) { session, _, _ in
            held.withLock { $0 = session }
            let requests = (0..<4).map { _ in Task { try await session.get("x", as: .string) } }
            for request in requests { #expect(try await request.value.value == "fit") }
            try await session.tasks.waitUntilEmpty()
            held.withLock { $0 = nil }
        }
    }

    /// Runs a test on two loops, and sees to it that nothing is left on either.
    private static func play(
        configure: (inout HTTPSession.Configuration) -> Void = { _ in },
        _ play: (HTTPSession, LoopbackServer, [PrivateLoop]) async throws -> Void
    ) async throws {
        let server = try Stage.makeServer()
        defer { server.stop() }
        server.respond { _ in .response(body: "fit") }
        let loops = [try PrivateLoop.single(), try PrivateLoop.single()]
        do {
            var configuration = try Stage.configuration(for: server)
            configuration.use(loops[0], loops[1])
            configure(&configuration)
            let session = try HTTPSession(configuration)
            try await play(session, server, loops)
            await session.shutdown()
        }
        for loop in loops { try await loop.verifyNothingLeft() }
    }

    /// What `work` returns on either loop, both at work at once.
    private static func onEachLoop<Value: Sendable>(
        _ session: HTTPSession, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> (Value, Value) {
        let gates = [LoopbackServer.Gate(), LoopbackServer.Gate()]
        async let first = session.onEventLoop { @concurrent in
            gates[0].open()
            try await gates[1].opened()
            return try await work()
        }
        async let second = session.onEventLoop { @concurrent in
            gates[1].open()
            try await gates[0].opened()
            return try await work()
        }
        return try await (first, second)
    }
}
