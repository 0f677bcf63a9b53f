import Dunlin
import DunlinTesting
import Mocking
import Synchronization
import Testing

/// What is suspended moves nothing, whatever would have it sent again.
@Suite(.timeLimit(.minutes(10))) struct `A suspended request and another feature` {
    private typealias Gate = LoopbackServer.Gate

    /// A session whose clock stands still, over a transport that answers as `answer` says.
    private static func mocked(
        _ answer: @escaping MockTransport.Responder,
        _ change: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) throws -> (mocked: Mocked, clock: ManualClock) {
        let clock = ManualClock()
        let mocked = try Mocked("https://api.test", clock: clock) {
            try $0.use(clock)
            try change(&$0)
        }
        mocked.transport.otherwise(answer)
        return (mocked, clock)
    }

    /// Suspends a request when it has been sent once, lets the answer come, and expects that nothing is sent before it
    /// is resumed.
    private static func expectStandstill(
        _ mocked: Mocked, _ clock: ManualClock, _ gate: LoopbackServer.Gate, options: HTTPSession.Options = .init()
    ) async throws {
        let task = try mocked.session.task("a", options: options, as: .string)
        task.resume()
        try await mocked.transport.waitForRequests(1)
        task.suspend()
        gate.open()
        try await clock.advance(by: .seconds(1))
        #expect(mocked.transport.requests.count == 1)
        #expect(task.snapshot.state == .suspended)
        task.resume()
        #expect(try await task.value == "there")
        #expect(mocked.transport.requests.count == 2)
        await mocked.session.shutdown()
    }

    @Test func `a suspended request follows no redirect until it is resumed`() async throws {
        let gate = Gate()
        let (mocked, clock) = try Self.mocked({ request in
            if request.path == "/b" { return .respond(body: "there") }
            try await gate.opened()
            return .respond(302, fields: ["Location": "/b"])
        })
        try await Self.expectStandstill(mocked, clock, gate)
    }

    @Test(arguments: [true, false])
    func `a suspended request answers no challenge until it is resumed`(isAsked: Bool) async throws {
        let gate = Gate()
        let (mocked, clock) = try Self.mocked(
            { request in
                if request.fields.contains("Authorization") { return .respond(body: "there") }
                try await gate.opened()
                return .respond(401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
            },
            { configuration in
                guard isAsked else { return }
                configuration.authenticationHandler = { _ in .useCredential(.password(user: "a", password: "b")) }
            })
        let options = isAsked ? .init() : HTTPSession.Options(credentials: .password(user: "a", password: "b"))
        try await Self.expectStandstill(mocked, clock, gate, options: options)
    }

    @Test func `a suspended request is not sent with a newer token until it is resumed`() async throws {
        let gate = Gate()
        let (mocked, clock) = try Self.mocked(
            { request in
                if request.fields["Authorization"] == "Bearer 2" { return .respond(body: "there") }
                try await gate.opened()
                return .respond(401)
            }, { $0.authentication = .bearer("1") { _ in "2" } })
        try await Self.expectStandstill(mocked, clock, gate)
    }

    @Test func `an interceptor sends nothing more for a suspended request until it is resumed`() async throws {
        let gate = Gate()
        let (mocked, clock) = try Self.mocked(
            { request in
                if request.fields.contains("X-Again") { return .respond(body: "there") }
                try await gate.opened()
                return .respond(body: "here")
            },
            { configuration in
                configuration.interceptors = [
                    .exchange { request, next in
                        _ = try await next(request)
                        return try await next(request) { $0.head.fields["X-Again"] = "1" }
                    }
                ]
            })
        try await Self.expectStandstill(mocked, clock, gate)
    }

    @Test func `a suspended request is not sent when a network comes until it is resumed`() async throws {
        let network = ManualNetwork()
        let clock = ManualClock()
        let mocked = try Mocked(clock: clock) {
            try $0.use(clock)
            $0.waitsForConnectivity = true
            $0.reachability = Reachability(source: network)
        }
        mocked.transport.on(.get, "/a").fail(Self.noWay).respond(body: "there")
        let task = try mocked.session.task("a", as: .string)
        task.resume()
        try await eventually("it looks", following: network) { network.lookCount >= 1 }
        task.suspend()
        network.change(to: .wired)
        try await clock.advance(by: .seconds(1))
        #expect(mocked.transport.requests.count == 1)
        task.resume()
        #expect(try await task.value == "there")
        await mocked.session.shutdown()
    }

    static let noWay = NetworkError(
        .connectionFailed, "no address accepted a connection", phase: .connect, isSafeToRetry: true,
        underlying: NetworkError.ConnectionFailures([
            .init(address: .v4(0x0101_0101, port: 80), errno: 101, reason: "Network is unreachable")
        ]))

    @Test func `a suspended request is given nothing of what another like it brings`() async throws {
        let gate = Gate()
        let (mocked, clock) = try Self.mocked(
            { _ in
                try await gate.opened()
                return .respond(body: "there")
            }, { $0.coalescing.isOn = true })
        let first = try mocked.session.task("a", as: .string)
        first.resume()
        try await mocked.transport.waitForRequests(1)
        let second = try mocked.session.task("a", as: .string)
        second.resume()
        try await eventually("it waits", following: mocked.transport) {
            await mocked.session.gauges().coalesced == 1
        }
        second.suspend()
        gate.open()
        #expect(try await first.value == "there")
        try await clock.advance(by: .seconds(1))
        #expect(second.resultIfEnded == nil && second.snapshot.state == .suspended)
        second.resume()
        #expect(try await second.value == "there")
        await mocked.session.shutdown()
    }

    @Test func `a stream that is suspended through the registry is given nothing until it is resumed`() async throws {
        let (clock, gate, server) = (ManualClock(), Gate(), try LoopbackServer())
        defer { server.stop() }
        server.enqueue(
            .response(fields: ["Content-Length": "6"]).then(.send("abc"), .waitForSignal(gate), .send("def")))
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        configuration.proxy = .none
        try configuration.use(clock)
        // What nobody observes cannot be suspended.
        configuration.hooks.completed = { _ in }
        let session = try HTTPSession(configuration)
        let stream = try await session.stream("a")
        let (begun, goOn) = (Gate(), Gate())
        let given = Mutex(false)
        let rest = Task {
            var pieces = stream.body.makeAsyncIterator()
            #expect(try await pieces.next()?.array == Array("abc".utf8))
            begun.open()
            try await goOn.opened()
            let piece = try await pieces.next()
            given.withLock { $0 = true }
            return piece?.array
        }
        try await begun.opened()
        let id = try #require(await session.tasks.all.first?.id)
        let delegate = try #require(await session.tasks[id])
        #expect(delegate.suspend())
        goOn.open()
        gate.open()
        try await clock.advance(by: .seconds(1))
        let isGiven = given.withLock { $0 }
        #expect(!isGiven)
        #expect(delegate.resume())
        #expect(try await rest.value == Array("def".utf8))
        await session.shutdown()
    }

    @Test func `a shutdown ends what is suspended, begun or not`() async throws {
        let gate = Gate()
        let mocked = try Mocked()
        mocked.transport.otherwise { _ in
            try await gate.opened()
            return .respond(body: "there")
        }
        let begun = try mocked.session.task("a", as: .string)
        begun.resume()
        try await mocked.transport.waitForRequests(1)
        begun.suspend()
        let notBegun = try mocked.session.task("b", as: .string)
        await mocked.session.shutdown()
        for task in [begun, notBegun] {
            #expect(try await networkError { _ = try await task.value } != nil)
            #expect(task.resultIfEnded != nil)
        }
        #expect(mocked.transport.requests.count == 1)
        gate.open()
    }
}
