import Dunlin
import DunlinTesting
import Synchronization
import Testing

/// Pace is as good as none in most of these: what they wait for must be told.
@Suite(.timeLimit(.minutes(10))) struct `What comes eventually` {
    private struct Broken: Error {}

    /// Tells when it is said to have changed.
    private final class Signal: Followed {
        private let followers = Mutex<[Int: @Sendable () -> Void]>([:])

        var count: Int { followers.withLock { $0.count } }

        func follow(_ follower: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
            let id = followers.withLock { followers in
                followers[followers.count] = follower
                return followers.count - 1
            }
            return { [self] in followers.withLock { $0[id] = nil } }
        }

        func ring() {
            for follower in followers.withLock({ Array($0.values) }) { follower() }
        }
    }

    /// Waits for `isSo` by what is told only; `change` is made when the first look has been in vain.
    private static func expect(
        following followed: any Followed, after change: @escaping @Sendable () async throws -> Void,
        _ isSo: () async throws -> Bool
    ) async throws {
        let looked = LoopbackServer.Gate()
        async let changed: Void = {
            try await looked.opened()
            try await change()
        }()
        var looks = 0
        try await eventually("the change", following: followed, every: .seconds(1000)) {
            if try await isSo() { return true }
            looks += 1
            looked.open()
            return false
        }
        try await changed
        #expect(looks > 0)
    }

    private static func session(
        _ server: LoopbackServer, on loop: PrivateLoop
    ) throws -> HTTPSession {
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        configuration.use(loop)
        return try HTTPSession(configuration)
    }

    @Test func `a condition that is true already is looked at once`() async throws {
        var looks = 0
        try await eventually("nothing", every: .seconds(1000)) {
            looks += 1
            return true
        }
        #expect(looks == 1)
    }

    @Test func `a condition is looked at again when what is followed reports a change`() async throws {
        let signal = Signal()
        let isSo = Mutex(false)
        try await Self.expect(following: signal) {
            isSo.withLock { $0 = true }
            signal.ring()
        } _: {
            isSo.withLock { $0 }
        }
        #expect(signal.count == 0, "nobody is followed any longer than that")
    }

    @Test func `a condition is looked at again after each turn of a loop, and when everything on it is closed`()
        async throws
    {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in .response(body: "x") }
        let loop = try PrivateLoop()
        let session = try Self.session(server, on: loop)
        try await Self.expect(following: loop) {
            _ = try await session.get("/", as: .string)
        } _: {
            loop.openChannels == 1
        }
        try await Self.expect(following: loop) {
            await session.shutdown()
        } _: {
            loop.openChannels == 0
        }
    }

    @Test func `a condition is looked at again when a clock is moved, and when somebody waits on it`() async throws {
        let clock = ManualClock()
        let isLate = Mutex(false)
        try await Self.expect(following: clock) {
            try await clock.advance(by: .seconds(5))
        } _: {
            clock.now.offset == .seconds(5)
        }
        let sleeper = Task {
            defer { isLate.withLock { $0 = true } }
            try await clock.sleep(for: .seconds(1))
        }
        try await clock.waitForSleepers()
        try await Self.expect(following: clock) {
            sleeper.cancel()
            _ = await sleeper.result
            // Another that lies down tells of itself, and what was so before is seen with it.
            Task { try await clock.sleep(for: .seconds(1)) }
        } _: {
            isLate.withLock { $0 }
        }
        try await clock.advance(by: .seconds(1))
    }

    @Test func `a condition is looked at again when a server or a mock transport gets a request`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in .response(body: "x") }
        let session = try HTTPSession(.init(baseURL: server.baseURL))
        try await Self.expect(following: server) {
            _ = try await session.get("/", as: .bytes)
        } _: {
            server.requests.count == 1
        }
        let transport = MockTransport()
        transport.on(.get, "/").respond(body: "x")
        let mocked = try HTTPSession(.init(baseURL: "http://api.test", transport: transport))
        try await Self.expect(following: transport) {
            _ = try await mocked.get("/", as: .bytes)
        } _: {
            transport.requests.first?.isComplete == true
        }
        await session.shutdown()
        await mocked.shutdown()
    }

    @Test func `a condition is looked at again when a network is asked or observed`() async throws {
        let network = ManualNetwork(.wifi)
        try await Self.expect(following: network) {
            _ = await network.path(to: nil)
        } _: {
            network.lookCount == 1
        }
        let stream = Mutex<AsyncStream<Void>?>(nil)
        try await Self.expect(following: network) {
            stream.withLock { $0 = network.changes() }
        } _: {
            network.listenerCount == 1
        }
        try await Self.expect(following: network) {
            stream.withLock { $0 = nil }
        } _: {
            network.listenerCount == 0
        }
    }

    @Test func `a change during a look leads to another look`() async throws {
        let signal = Signal()
        var looks = 0
        try await eventually("the second look", following: signal, every: .seconds(1000)) {
            looks += 1
            signal.ring()
            return looks == 2
        }
    }

    @Test func `a condition is looked at again after each interval if nobody reports a change`() async throws {
        var looks = 0
        try await eventually("the third look", every: .milliseconds(1)) {
            looks += 1
            return looks == 3
        }
    }

    @Test func `a wait for a condition can run on the loop that it follows`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        let loop = try PrivateLoop()
        let session = try Self.session(server, on: loop)
        let looks = try await session.onEventLoop { @concurrent in
            var looks = 0
            // Each look is a turn.
            try await eventually("the tenth look", following: loop, every: .seconds(1000)) {
                looks += 1
                return looks == 10
            }
            return looks
        }
        #expect(looks == 10)
        await session.shutdown()
    }

    @Test func `a look that makes its own loop turn is not repeated without a pause`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        let loop = try PrivateLoop()
        let session = try Self.session(server, on: loop)
        var looks = 0
        await #expect(throws: NeverCame.self) {
            try await eventually("a request", following: loop, within: .milliseconds(200)) {
                looks += 1
                return await session.tasks.count > 0
            }
        }
        // At the beginning, two milliseconds apart at least, and at the end.
        #expect(looks <= 102)
        await session.shutdown()
    }

    @Test func `a condition that never becomes true is reported with its name and its source location`() async throws {
        let limit = Duration.milliseconds(10)
        var (error, line): (NeverCame?, Int) = (nil, 0)
        do {
            line = #line + 1
            try await eventually("the end of time", within: limit) { false }
        } catch let thrown as NeverCame {
            error = thrown
        }
        #expect(error?.what == "the end of time" && error?.limit == limit && error?.line == line)
        #expect(error?.description.hasPrefix("timed out after 0.01 seconds waiting for: the end of time (") == true)
        #expect(error?.description.hasSuffix("EventuallyTests.swift:\(line))") == true)
    }

    @Test func `a wait for a condition ends when its task is cancelled or a look throws`() async throws {
        let looked = LoopbackServer.Gate()
        let signal = Signal()
        let waiting = Task {
            try await eventually("nothing", following: signal, every: .seconds(1000)) {
                looked.open()
                return false
            }
        }
        try await looked.opened()
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        await #expect(throws: Broken.self) {
            try await eventually("nothing", following: signal) { throw Broken() }
        }
        #expect(signal.count == 0)
    }

    @Test func `a condition can become true while a clock is moved step by step`() async throws {
        let clock = ManualClock()
        let sleeper = Task {
            try await clock.sleep(for: .seconds(10))
            return clock.now.offset
        }
        try await clock.waitForSleepers()
        try await clock.advance(by: .seconds(3), until: "ten seconds") { clock.now.offset >= .seconds(10) }
        #expect(try await sleeper.value == .seconds(12) && clock.now.offset == .seconds(12))
        await #expect(throws: NeverCame.self) {
            try await clock.advance(by: .seconds(1), until: "never", within: .milliseconds(20)) { false }
        }
    }
}
