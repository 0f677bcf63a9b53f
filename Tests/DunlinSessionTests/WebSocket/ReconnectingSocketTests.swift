import Dunlin
import DunlinTesting
import LedgerRows
import Mocking
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A WebSocket that reconnects` {
    private static let policy = HTTPSession.RetryPolicy.constant(attempts: 3, every: .seconds(1))
    private static let unreachable = NetworkError(.connectionFailed, "no route", phase: .connect, isSafeToRetry: true)

    /// What the server does at one handshake.
    private enum Answer {
        /// Opens a connection, over which these frames come and then the end of the stream.
        case frames([WebSocketFrame])
        case refusal(HTTP.Status, Fields = Fields())
        case failure(NetworkError)
        case silence
    }

    /// A session whose server gives one answer after another, and the last one again and again.
    private struct Served {
        let mocked: Mocked
        let clock: ManualClock

        var session: HTTPSession { mocked.session }
        var count: Int { mocked.transport.requests.count }

        /// Opens a socket that reconnects. All waits are skipped.
        func run<Value: Sendable>(
            _ policy: HTTPSession.RetryPolicy = policy, settings: HTTPSession.WebSocketSettings = .init(),
            options: HTTPSession.Options = .init(),
            _ operation: @Sendable (HTTPSession.WebSocket) async throws -> Value
        ) async throws -> Value {
            try await clock.skippingWaits {
                try await session.withWebSocket(
                    "chat", settings: settings, reconnecting: policy, options: options, operation)
            }
        }
    }

    private static func serve(
        _ answers: Answer..., change: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) throws -> Served {
        let clock = ManualClock()
        let mocked = try Mocked {
            try $0.use(clock)
            try change(&$0)
        }
        let next = Mutex(0)
        mocked.transport.otherwise { request in
            let index = next.withLock { index in
                defer { index += 1 }
                return min(index, answers.count - 1)
            }
            switch answers[index] {
            case .refusal(let status, let fields): return .respond(status, fields: fields)
            case .failure(let error): return .fail(error)
            case .silence: return MockWebSocket().accept(request)
            case .frames(let frames):
                let peer = MockWebSocket()
                for frame in frames { peer.send(frame) }
                peer.end()
                return peer.accept(request)
            }
        }
        return Served(mocked: mocked, clock: clock)
    }

    @Test func `a connection that breaks is followed by another, which says so`() async throws {
        let served = try Self.serve(
            .frames([.text("a")]), .failure(Self.unreachable), .frames([.text("b"), .text("c")]))
        let seen = Mutex<[String]>([])
        let all = try await served.run { socket in
            if let reconnection = socket.reconnection {
                seen.withLock { $0.append("\(reconnection)") }
                #expect(reconnection.attempt == 3 && reconnection.lastEventID == nil)
            }
            for try await message in socket.messages {
                let count = seen.withLock { seen in
                    seen.append(String(decoding: message.bytes.array, as: UTF8.self))
                    return seen.count
                }
                if count == 4 { return count }
            }
            return 0
        }
        #expect(all == 4)
        #expect(
            seen.withLock { $0 } == [
                "a", "attempt 3 in 1.5 s: connectionFailed in connect", "b", "c",
            ])
        #expect(
            served.count == 3 && Set(served.mocked.transport.requests.map { $0.fields["Sec-WebSocket-Key"] }).count == 3
        )
        #expect(await served.session.tasks.count == 0)
    }

    @Test(.rules("6455-7.2.3-1")) func `connections are not opened again all at the same time`() async throws {
        var waits: Set<Duration> = []
        for _ in 0..<8 {
            let served = try Self.serve(.frames([.text("a")]), .frames([.close(1000)]))
            let wait = try await served.run(.exponential(attempts: 2)) { socket in
                _ = try await socket.all()
                return try #require(socket.reconnection).wait
            }
            waits.insert(wait)
        }
        #expect(waits.count > 1, "\(waits)")
    }

    @Test(arguments: [1001, 1011, 1012, 1013, 1014]) func `a server that closes for a while is asked again`(
        code: UInt16
    ) async throws {
        let served = try Self.serve(.frames([.close(code)]), .frames([.text("b"), .close(1000)]))
        let texts = try await served.run { try await $0.all() }
        #expect(texts == [.text("b")] && served.count == 2)
    }

    @Test(arguments: [1000, 1002, 1008, 4000]) func `a server that closes for good is not`(code: UInt16) async throws {
        let served = try Self.serve(.frames([.text("a"), .close(code)]))
        let texts = try await served.run { try await $0.all() }
        #expect(texts == [.text("a")] && served.count == 1)
        var settings = HTTPSession.WebSocketSettings()
        settings.passingCodes = [.init(rawValue: code)]
        let error = try await NetworkError.thrown { [settings] in
            try await served.run(settings: settings) { _ = try await $0.all() }
        }
        #expect(error.code == .connectionClosed && served.count == 4)
        #expect("\(error)".contains("the server closed the WebSocket with the code \(code)"))
    }

    @Test func `what the operation returns or throws for a reason of its own is the end`() async throws {
        struct Enough: Error {}
        let served = try Self.serve(.frames([.text("a"), .close(1001)]))
        // It has not seen the end.
        #expect(try await served.run { socket in try await socket.messages.first { _ in true } } == .text("a"))
        await #expect(throws: Enough.self) {
            try await served.run { socket in
                _ = try await socket.all()
                throw Enough()
            }
        }
        let other = try await NetworkError.thrown {
            try await served.run { socket in
                _ = try await socket.all()
                throw NetworkError(.connectionClosed, "another request's")
            }
        }
        #expect(other.reason == "another request's" && served.count == 3)
    }

    @Test func `attempts in a row are counted, and named when they are spent`() async throws {
        let served = try Self.serve(.frames([.text("a")]))
        let error = try await NetworkError.thrown { try await served.run { _ = try await $0.all() } }
        #expect(error.code == .connectionClosed && served.count == 3)
        #expect(error.retries.count == 2 && error.request?.url == "http://api.test/chat")
    }

    @Test func `a connection that lasted begins a new row`() async throws {
        let served = try Self.serve(.frames([.text("a")]))
        let count = Mutex(0)
        let value = try await served.run { socket in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 9 { return number }
            try await served.clock.sleep(until: served.clock.now + .seconds(1))
            return try await socket.all().count
        }
        #expect(value == 9 && served.count == 9)
    }

    @Test func `a refusal is a reason if the policy names its status, and waits as long as the server asks`()
        async throws
    {
        let served = try Self.serve(
            .refusal(.serviceUnavailable, ["Retry-After": "7"]), .refusal(.tooManyRequests), .refusal(.forbidden))
        let waits = Mutex<[Duration]>([])
        var options = HTTPSession.Options()
        options.hooks.reconnecting = { _, reconnection in waits.withLock { $0.append(reconnection.wait) } }
        let error = try await NetworkError.thrown { [options] in
            try await served.run(options: options) { _ = try await $0.all() }
        }
        #expect(error.code == .upgradeRefused && error.response?.status == .forbidden && served.count == 3)
        #expect(waits.withLock { $0 } == [.seconds(8.5), .seconds(1.5)])
        #expect(error.retries.map(\.cause) == [.status(.tooManyRequests)])
    }

    @Test func `a wait is no part of the handshake's limit`() async throws {
        let served = try Self.serve(.failure(Self.unreachable), .frames([.text("a"), .close(1000)]))
        var options = HTTPSession.Options()
        options.timeouts.total = .milliseconds(10)
        #expect(try await served.run(options: options) { try await $0.all().count } == 1)
    }

    @Test func `the budget limits what is opened again`() async throws {
        let served = try Self.serve(.frames([.text("a")]))
        let policy = HTTPSession.RetryPolicy.constant(attempts: 9, every: .zero, budget: .ratio(0, floor: 0))
        let error = try await NetworkError.thrown { try await served.run(policy) { _ = try await $0.all() } }
        #expect(error.retryRefusal == .budgetSpent && served.count == 1)
    }

    @Test func `a policy that nothing could keep is refused, for a stream too`() async throws {
        let served = try Self.serve(.frames([.close(1000)]))
        var policy = Self.policy
        policy.base = .seconds(-1)
        let socket = try await NetworkError.thrown { [policy] in
            try await served.run(policy) { _ = try await $0.all() }
        }
        let options = HTTPSession.Options(retry: .value(policy))
        let stream = try await NetworkError.thrown {
            for try await _ in served.session.events("news", options: options) {}
        }
        for error in [socket, stream] {
            #expect(error.code == .invalidRequest && error.reason.contains("base must be at least"), "\(error)")
        }
        #expect(served.count == 0)
    }

    @Test func `messages that were sent after the last answered ping may have been lost`() async throws {
        let clock = ManualClock()
        let mocked = try Mocked { try $0.use(clock) }
        let peers = [MockWebSocket(), MockWebSocket()]
        let next = Mutex(0)
        mocked.transport.otherwise { request in
            peers[
                next.withLock { index in
                    defer { index += 1 }
                    return index
                }
            ].accept(request)
        }
        peers[1].send(.close(1000))
        peers[1].end()
        async let lost = mocked.session.withWebSocket("chat", reconnecting: Self.policy) { socket in
            if let reconnection = socket.reconnection { return reconnection.unconfirmed }
            try await socket.send("a")
            async let answer = socket.ping()
            #expect(await peers[0].next() == .text("a"))
            let ping = try #require(await peers[0].next())
            peers[0].send(.pong(ping.payload))
            _ = try await answer
            try await socket.send("b")
            try await socket.send("c")
            peers[0].end()
            return try await socket.all().count
        }
        try await clock.waitForRetries()
        try await clock.advance(by: .seconds(2))
        #expect(try await lost == 2)
    }

    enum Ender: CaseIterable { case task, registry, tag, shutdown }

    @Test(arguments: Ender.allCases) func `its wait ends with whatever ends it`(ender: Ender) async throws {
        let served = try Self.serve(.failure(Self.unreachable))
        let running = Task {
            try await served.session.withWebSocket(
                "chat", reconnecting: Self.policy, options: .init(tags: ["t"])
            ) { _ in }
        }
        try await served.clock.waitForRetries()
        switch ender {
        case .task: running.cancel()
        case .registry: #expect(await served.session.tasks.cancelAll() == 1)
        case .tag: #expect(await served.session.tasks.cancel(tagged: "t") == 1)
        case .shutdown: await served.session.shutdown()
        }
        let outcome = await running.result
        if ender == .task {
            #expect(throws: CancellationError.self) { try outcome.get() }
        } else {
            let error = try await NetworkError.thrown { try outcome.get() }
            #expect(error.code == .cancelled)
        }
        #expect(served.count == 1)
        #expect(await served.session.tasks.count == 0)
    }

    @Test(arguments: Ender.allCases) func `an open one is not opened again after that`(ender: Ender) async throws {
        let served = try Self.serve(.silence)
        let open = AsyncStream<Void>.makeStream()
        let running = Task {
            try await served.session.withWebSocket(
                "chat", reconnecting: Self.policy, options: .init(tags: ["t"])
            ) { socket in
                open.continuation.finish()
                _ = try await socket.all()
            }
        }
        for await _ in open.stream {}
        switch ender {
        case .task: running.cancel()
        case .registry: #expect(await served.session.tasks.cancelAll() == 1)
        case .tag: #expect(await served.session.tasks.cancel(tagged: "t") == 1)
        case .shutdown: await served.session.shutdown()
        }
        let outcome = await running.result
        #expect(throws: (any Error).self) { try outcome.get() }
        #expect(served.count == 1)
        #expect(await served.session.tasks.count == 0)
    }
}

@Suite(.timeLimit(.minutes(10))) struct `Redirects of a WebSocket's handshake` {
    private static func opened(
        _ location: String, _ base: String = "https://api.test",
        change: (inout HTTPSession.Configuration) -> Void = { _ in }
    ) async throws -> (Mocked, Result<String, any Error>) {
        let mocked = try Mocked(base) { change(&$0) }
        let peer = MockWebSocket()
        mocked.transport.on(.get, "/old").respond(.temporaryRedirect, fields: ["Location": location]).always()
        mocked.transport.otherwise { peer.accept($0) }
        do {
            let socket = try await mocked.session.webSocket("old", fields: ["Authorization": "Bearer t"])
            return (mocked, .success(socket.url))
        } catch {
            return (mocked, .failure(error))
        }
    }

    @Test(arguments: [
        ("/new", "https://api.test/new"), ("wss://api.test/new", "https://api.test/new"),
        ("WSS://b.test/new?q", "https://b.test/new?q"), ("https://b.test/", "https://b.test/"),
    ]) func `they are followed, also to the URL of a WebSocket`(location: String, url: String) async throws {
        let (mocked, result) = try await Self.opened(location)
        #expect(try result.get() == url)
        let (first, last) = (mocked.transport.requests[0], mocked.transport.requests[1])
        #expect(last.fields["Upgrade"] == "websocket" && last.fields["Sec-WebSocket-Version"] == "13")
        #expect(last.fields["Sec-WebSocket-Key"] != first.fields["Sec-WebSocket-Key"])
        #expect((last.fields["Authorization"] == nil) == url.contains("b.test"))
    }

    @Test(arguments: ["ws://api.test/new", "http://api.test/new"]) func `none leads from wss to ws`(
        location: String
    ) async throws {
        let (mocked, result) = try await Self.opened(location)
        let error = try await NetworkError.thrown { _ = try result.get() }
        #expect(error.code == .insecureRedirect && mocked.transport.requests.count == 1)
    }

    @Test func `a session that follows none has the redirect as a refusal`() async throws {
        let (_, result) = try await Self.opened("/new") { $0.redirects = .never }
        let error = try await NetworkError.thrown { _ = try result.get() }
        #expect(error.code == .upgradeRefused && error.response?.status == .temporaryRedirect)
    }

    @Test func `another upgrade follows none, and no other request one to a WebSocket`() async throws {
        let mocked = try Mocked("https://api.test")
        mocked.transport.on(.get, "/old").respond(.temporaryRedirect, fields: ["Location": "wss://api.test/"]).always()
        let upgrade = try await NetworkError.thrown { _ = try await mocked.session.upgrade("old", to: "echo") }
        #expect(upgrade.code == .upgradeRefused)
        let get = try await NetworkError.thrown { _ = try await mocked.session.get("old") }
        #expect(get.code == .unsupportedScheme)
    }
}
