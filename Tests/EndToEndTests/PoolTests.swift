import Dunlin
import DunlinTesting
import LedgerRows
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A session's pool` {
    @Test func `the pool makes room within the total by closing another origin's idle connection`() async throws {
        let other = try Stage.makeServer()
        defer { other.stop() }
        other.respond { _ in .response(body: "other") }
        try await Stage.with(configure: { $0.connections.total = 1 }) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            for _ in 0..<3 {
                #expect(try await stage.session.get("a", as: .string).value == "x")
                let url = HTTP.Target(other.baseURL + "/b")
                #expect(try await stage.session.get(url, as: .string).value == "other")
                #expect(stage.session.connections.open == 1)
            }
            #expect([stage.server.connectionCount, other.connectionCount] == [3, 3])
            #expect(stage.session.connections.opened == 6)
        }
    }

    @Test func `a request to another origin waits while the total is in use, and then gets its place`() async throws {
        let other = try Stage.makeServer()
        defer { other.stop() }
        other.respond { _ in .response(body: "other") }
        try await Stage.with(configure: { $0.connections.total = 1 }) { (stage: Stage) async throws in
            let gate = LoopbackServer.Gate()
            stage.server.enqueue(.response(body: "x").waiting(for: gate))
            let session = stage.session
            let first = Task { try await session.get("a", as: .string).value }
            _ = try await stage.server.waitForRequests(1)
            let url = HTTP.Target(other.baseURL + "/b")
            let second = Task { try await session.get(url, as: .string).value }
            try await stage.eventually("the second waits") { session.connections.waiting == 1 }
            #expect(other.connectionCount == 0)
            gate.open()
            #expect(try await first.value == "x")
            #expect(try await second.value == "other")
            #expect(session.connections.open == 1)
        }
    }

    @Test func `the pool opens another connection after the maximum of uses`() async throws {
        try await Stage.with(configure: { $0.connections.maximumUses = 2 }) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            for count in [1, 1, 2, 2, 3] {
                _ = try await stage.session.get("a", as: .bytes)
                #expect(stage.server.connectionCount == count)
            }
        }
    }

    @Test func `a GET that is sent again on another connection has both exchanges in its metrics`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(.response(body: "one").closingOnNextRequest)
            stage.server.respond { _ in .response(body: "two") }
            _ = try await stage.session.get("a", as: .bytes)
            let response = try await stage.session.get("b", as: .string)
            let hops = response.metrics.hops
            #expect(response.value == "two" && hops.count == 2)
            #expect(hops.map(\.isConnectionReused) == [true, false])
            #expect(hops.map(\.bodyBytes) == [0, 3])
            #expect(hops.allSatisfy { $0.bytesSent > 0 })
        }
    }

    @Test func `a connection is not used beyond its maximum age`() async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock, configure: { $0.connections.maximumAge = .seconds(90) }) {
            (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            for (wait, count) in [(0, 1), (50, 1), (39, 1), (1, 2), (50, 2)] {
                try await clock.advance(by: .seconds(wait))
                _ = try await stage.session.get("a", as: .bytes)
                #expect(stage.server.connectionCount == count)
            }
        }
    }

    /// The last answer says for how long; a second of it is left to the way.
    @Test(arguments: [
        ("timeout=5", 3999, 1), ("timeout=5", 4000, 2), ("timeout=1, max=9", 499, 1), ("timeout=1", 500, 2),
        ("timeout=100", 59_999, 1), ("timeout=100", 60_000, 2), ("timeout=0", 0, 2), ("max=9", 59_999, 1),
    ])
    func `an idle connection is kept no longer than the server says`(
        keepAlive: String, milliseconds: Int, connections: Int
    ) async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(fields: ["Keep-Alive": keepAlive], body: "x") }
            _ = try await stage.session.get("a", as: .bytes)
            try await clock.advance(by: .milliseconds(milliseconds))
            _ = try await stage.session.get("a", as: .bytes)
            #expect(stage.server.connectionCount == connections)
        }
    }

    @Test func `requests that wait for a connection are served by priority`() async throws {
        try await Stage.with(configure: { $0.connections.perOrigin = 1 }) { (stage: Stage) async throws in
            let gate = LoopbackServer.Gate()
            stage.server.enqueue(.response().waiting(for: gate))
            stage.server.respond { _ in .response() }
            let session = stage.session
            var tasks = [Task { _ = try await session.get("first", as: .bytes) }]
            _ = try await stage.server.waitForRequests(1)
            let waiting: [(HTTP.Target, HTTP.Priority)] = [
                ("low", .low), ("normal", .normal), ("high", .high), ("top", 101), ("high2", .high), ("normal2", 0),
            ]
            for (index, (target, priority)) in waiting.enumerated() {
                let options = HTTPSession.Options(priority: priority)
                tasks.append(Task { _ = try await session.get(target, options: options, as: .bytes) })
                try await stage.eventually("\(target) waits") { session.connections.waiting == index + 1 }
            }
            gate.open()
            for task in tasks { try await task.value }
            let order = ["/first", "/top", "/high", "/high2", "/normal", "/normal2", "/low"]
            #expect(stage.server.requests.map(\.target) == order)
        }
    }

    @Test(arguments: [true, false], [true, false])
    func `the wait for a connection is the pool time of the hop, whoever observes and whatever connection it gets`(
        isObserved: Bool, isReused: Bool
    ) async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock) {
            $0.connections.perOrigin = 1
            $0.timeouts = .none
        } _: { (stage: Stage) async throws in
            let (gate, told) = (LoopbackServer.Gate(), AsyncStream<Duration?>.makeStream())
            let first = LoopbackServer.Reply.response(body: "x").waiting(for: gate)
            stage.server.enqueue(isReused ? first : first.closingAfter, .response(body: "y"))
            var options = HTTPSession.Options()
            if isObserved {
                options.hooks.completed = {
                    told.continuation.yield($0.metrics.hops.last?.duration(of: .pool))
                    told.continuation.finish()
                }
            }
            let holder = try stage.session.task("first", as: .string)
            holder.resume()
            _ = try await stage.server.waitForRequests(1)
            async let waiting = stage.session.get("second", options: options, as: .string)
            try await stage.eventually("it waits for a connection") { stage.session.connections.waiting == 1 }
            try await clock.advance(by: .seconds(7))
            gate.open()
            let hop = try #require(try await waiting.metrics.hops.last)
            #expect(hop.duration(of: .pool) == .seconds(7) && hop.isConnectionReused == isReused)
            #expect(hop.total == .seconds(7))
            if isObserved { #expect(await told.stream.first { _ in true } == .seconds(7)) }
            #expect(try await holder.value == "x")
        }
    }

    @Test func `a request that would wait behind too many is refused at once`() async throws {
        try await Stage.with(configure: { ($0.connections.perOrigin, $0.connections.maximumWaiting) = (1, 1) }) {
            (stage: Stage) async throws in
            let gate = LoopbackServer.Gate()
            stage.server.enqueue(.response().waiting(for: gate))
            stage.server.respond { _ in .response() }
            let session = stage.session
            let first = Task { _ = try await session.get("1", as: .bytes) }
            _ = try await stage.server.waitForRequests(1)
            let second = Task { _ = try await session.get("2", as: .bytes) }
            try await stage.eventually("the second waits") { session.connections.waiting == 1 }
            let error = try await NetworkError.thrown { _ = try await session.get("3", as: .bytes) }
            #expect(error.code == .poolExhausted)
            #expect(error.phase == .pool)
            #expect(error.isSafeToRetry)
            gate.open()
            try await first.value
            try await second.value
        }
    }
}

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Opening ahead of need` {
    @Test func `prewarming opens up to a count, and requests use what it opened`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            #expect(try await stage.session.prewarm(3) == 3)
            #expect(try await stage.session.prewarm(2) == 3)
            // One that gets its session tickets is looked at, and for that moment not idle.
            try await stage.eventually("all are idle") { stage.session.connections.idle == 3 }
            let response = try await stage.session.get("a", as: .string)
            #expect(response.metrics.hops.map(\.isConnectionReused) == [true])
            try await stage.server.wait { $0.open == 3 }
            #expect(stage.session.connections.opened == 3)
        }
    }

    @Test(arguments: [(2, 9, 2), (9, 4, 4)])
    func `prewarming opens no more connections than the caps allow`(perOrigin: Int, total: Int, opened: Int)
        async throws
    {
        let limits: @Sendable (inout HTTPSession.Configuration) -> Void = {
            ($0.connections.perOrigin, $0.connections.total) = (perOrigin, total)
        }
        try await Stage.with(configure: limits) { (stage: Stage) async throws in
            #expect(try await stage.session.prewarm(20) == opened)
            #expect(stage.session.connections.open == opened)
        }
    }

    @Test func `a GET is sent again if the server closes a prewarmed connection as it comes`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            stage.server.enqueue([.close])
            #expect(try await stage.session.prewarm(1) == 1)
            let response = try await stage.session.get("a", as: .string)
            #expect(response.value == "x")
            #expect(stage.server.connectionCount == 2)
        }
    }

    @Test func `prewarming that fails says why and leaves no connection open`() async throws {
        try await Stage.with(configure: { $0.resolver = FixedResolver(addresses: []) }) {
            (stage: Stage) async throws in
            let session = stage.session
            let unresolved = try await NetworkError.thrown { try await session.prewarm(2, to: "http://nowhere.test") }
            #expect(unresolved.code == .nameNotResolved)
            let unsupported = try await NetworkError.thrown { try await session.prewarm(2, to: "ftp://127.0.0.1") }
            #expect(unsupported.code == .unsupportedScheme)
            #expect(session.connections.open == 0)
        }
    }

    @Test func `prewarming ends when it is cancelled, and with the session`() async throws {
        try await Stage.with(configure: { $0.resolver = SilentResolver() }) { (stage: Stage) async throws in
            let session = stage.session
            let opening = Task { try await session.prewarm(2, to: "http://nowhere.test") }
            try await stage.eventually("two are being opened") { session.connections.leased == 2 }
            opening.cancel()
            await #expect(throws: CancellationError.self) { try await opening.value }
            #expect(session.connections.open == 0)
            let cut = Task { try await session.prewarm(2, to: "http://nowhere.test") }
            try await stage.eventually("two are being opened") { session.connections.leased == 2 }
            #expect(await session.shutdown() == 2)
            let error = try await NetworkError.thrown { _ = try await cut.value }
            #expect(error.code == .cancelled)
            let late = try await NetworkError.thrown { try await session.prewarm(1) }
            #expect(late.code == .sessionShutDown)
        }
    }
}

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Ending a session` {
    @Test(.rows("SM-10", "OP-16", "AP-15"))
    func `a shutdown serves waiting requests during the grace, then cancels and counts the rest`() async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock, configure: { $0.connections.perOrigin = 1 }) {
            (stage: Stage) async throws in
            let gate = LoopbackServer.Gate()
            stage.server.enqueue(.response(body: "1").waiting(for: gate))
            stage.server.enqueue(.response(body: "2"))
            stage.server.enqueue([.stall])
            let session = stage.session
            var tasks: [Task<String, any Error>] = []
            for index in 0..<4 {
                tasks.append(Task { try await session.get("\(index + 1)", as: .string).value })
                try await stage.eventually("\(index) is there") { session.connections.waiting == index }
                if index == 0 { _ = try await stage.server.waitForRequests(1) }
            }
            async let cut = session.shutdown(grace: .seconds(5))
            try await stage.eventually("intake stops") { session.isShutDown }
            let late = try await NetworkError.thrown { _ = try await session.get("late", as: .bytes) }
            #expect(late.code == .sessionShutDown)
            gate.open()
            #expect(try await tasks[0].value == "1")
            #expect(try await tasks[1].value == "2")
            _ = try await stage.server.waitForRequests(3)
            try await clock.advance(by: .seconds(5))
            #expect(await cut == 2)
            for task in tasks[2...] {
                let error = try await NetworkError.thrown { _ = try await task.value }
                #expect(error.code == .cancelled)
            }
            #expect(session.connections.open == 0)
        }
    }
}
