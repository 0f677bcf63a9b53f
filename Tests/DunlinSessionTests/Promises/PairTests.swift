import Dunlin
import DunlinTesting
import Mocking
import Testing

/// Promises that each of two features keeps alone, with both of them on.
@Suite(.timeLimit(.minutes(10))) struct `Two features at once` {
    private typealias Gate = LoopbackServer.Gate

    // MARK: A total is a total

    @Test func `who waits for a request like its own has the time of its own, however the other's ends`() async throws {
        let (clock, gate) = (ManualClock(), Gate())
        let mocked = try Mocked(clock: clock) {
            try $0.use(clock)
            $0.coalescing.isOn = true
        }
        mocked.transport.otherwise { [transport = mocked.transport] _ in
            if transport.requests.count == 1 { try await gate.opened() }
            return .respond(body: "there")
        }
        let get: @Sendable () async throws -> String = {
            try await mocked.session.get("a", timeout: .seconds(5), as: .string).value
        }
        let first = Task { try await get() }
        try await mocked.transport.waitForRequests(1)
        try await clock.advance(by: .seconds(3))
        let second = Task { try await get() }
        try await eventually("it waits", following: mocked.transport) { await mocked.session.gauges().coalesced == 1 }
        try await clock.advance(by: .seconds(3))
        let error = try await networkError { _ = try await first.value }
        #expect(error?.code == .timedOut)
        #expect(try await second.value == "there")
        gate.open()
        await mocked.session.shutdown()
    }

    // MARK: Shutdown ends all

    @Test func `a shutdown ends who waits for a request like its own`() async throws {
        let gate = Gate()
        let mocked = try Mocked { $0.coalescing.isOn = true }
        mocked.transport.otherwise { _ in
            try await gate.opened()
            return .respond(body: "there")
        }
        let get = { Task { try await mocked.session.get("a", as: .string).value } }
        // The first is the one that is sent, and is cancelled last: those that wait for it are over by then.
        var tasks = [get()]
        try await mocked.transport.waitForRequests(1)
        tasks += [get(), get()]
        try await eventually("two wait", following: mocked.transport) { await mocked.session.gauges().coalesced == 2 }
        #expect(await mocked.session.shutdown() == 3)
        for task in tasks {
            #expect(try await networkError { _ = try await task.value }?.code == .cancelled)
        }
        #expect(mocked.transport.requests.count == 1)
        gate.open()
    }

    @Test func `a shutdown ends the wait for a network`() async throws {
        let network = ManualNetwork()
        let mocked = try Mocked {
            $0.waitsForConnectivity = true
            $0.reachability = Reachability(source: network)
        }
        mocked.transport.on(.get, "/a").fail(`A suspended request and another feature`.noWay)
        let task = Task { try await mocked.session.get("a", as: .string).value }
        try await eventually("it looks", following: network) { network.lookCount >= 1 }
        #expect(await mocked.session.shutdown() == 1)
        #expect(try await networkError { _ = try await task.value }?.code == .cancelled)
        #expect(network.listenerCount == 0)
    }

    @Test func `a background revalidation waits for no network, which would keep a turn in the queue`() async throws {
        let network = ManualNetwork()
        let mocked = try Mocked {
            $0.cache = HTTPSession.Cache(.standard)
            $0.queue.running = 1
            $0.waitsForConnectivity = true
            $0.reachability = Reachability(source: network)
        }
        let fields: Fields = ["Cache-Control": "max-age=0, stale-while-revalidate=100", "ETag": "\"1\""]
        mocked.transport.on(.get, "/a").respond(fields: fields, body: "kept")
        mocked.transport.on(.get, "/a").fail(`A suspended request and another feature`.noWay)
        #expect(try await mocked.session.get("a", as: .string).value == "kept")
        #expect(try await mocked.session.get("a", as: .string).value == "kept")
        try await mocked.transport.waitForRequests(2)
        try await eventually("nothing runs") { await mocked.session.gauges().requests == 0 }
        #expect(network.lookCount == 0)
        await mocked.session.shutdown()
    }

    @Test func `a shutdown ends the wait for another attempt`() async throws {
        let clock = ManualClock()
        let mocked = try Mocked(clock: clock) {
            try $0.use(clock)
            $0.retry = .constant(attempts: 2, every: .seconds(5))
        }
        mocked.transport.on(.get, "/a").respond(503)
        let task = Task { try await mocked.session.get("a", as: .string).value }
        try await mocked.transport.waitForRequests(1)
        try await clock.advance(by: .seconds(1))
        #expect(await mocked.session.shutdown() == 1)
        #expect(try await networkError { _ = try await task.value }?.code == .cancelled)
        #expect(mocked.transport.requests.count == 1)
    }

    // MARK: A guarded request touches nothing forbidden

    @Test func `a guarded request waits for no other that has no guard`() async throws {
        let gate = Gate()
        let mocked = try Mocked { $0.coalescing.isOn = true }
        mocked.transport.otherwise { _ in
            try await gate.opened()
            return .respond(body: "there")
        }
        let free = Task { try await mocked.session.get("a", as: .string).value }
        try await mocked.transport.waitForRequests(1)
        var rules = HTTPSession.Guard.publicInternet
        rules.deniedHosts = ["api.test"]
        let options = HTTPSession.Options(guard: .value(rules))
        let error = try await networkError { _ = try await mocked.session.get("a", options: options, as: .string) }
        #expect(error?.code == .guardRefused)
        gate.open()
        #expect(try await free.value == "there")
        await mocked.session.shutdown()
    }

    @Test func `what a guard refuses waits for no network`() async throws {
        let network = ManualNetwork()
        let mocked = try Mocked {
            $0.waitsForConnectivity = true
            $0.reachability = Reachability(source: network)
            $0.guard = .publicInternet
            $0.guard?.deniedHosts = ["api.test"]
        }
        let error = try await networkError { _ = try await mocked.session.get("a", as: .string) }
        #expect(error?.code == .guardRefused)
        #expect(network.lookCount == 0 && mocked.transport.requests.isEmpty)
    }

    @Test(arguments: [true, false])
    func `an override leads nowhere that the guard refuses`(isOfSession: Bool) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in .response(body: "inside") }
        let overrides: HTTPSession.HostOverrides = ["public.test": .v4(0x7F00_0001, port: server.port)]
        var configuration = HTTPSession.Configuration(baseURL: "http://public.test")
        configuration.guard = .publicInternet
        configuration.proxy = .none
        if isOfSession { configuration.hostOverrides = overrides }
        let session = try HTTPSession(configuration)
        let options = isOfSession ? HTTPSession.Options() : .init(hostOverrides: overrides)
        let error = try await networkError { _ = try await session.get("a", options: options, as: .string) }
        #expect(error?.code == .guardRefused)
        #expect(server.connectionCount == 0)
        await session.shutdown()
    }

    @Test func `a redirect hook leads nowhere that the guard refuses`() async throws {
        let mocked = try Mocked {
            $0.guard = .publicInternet
            $0.guard?.deniedHosts = ["inner.test"]
            $0.hooks.redirect = { proposal in
                var request = proposal.next
                request.url = "http://inner.test/"
                return .modify(request)
            }
        }
        mocked.transport.on(.get, "/a").respond(302, fields: ["Location": "/b"])
        let error = try await networkError { _ = try await mocked.session.get("a", as: .string) }
        #expect(error?.code == .guardRefused)
        #expect(mocked.transport.requests.count == 1)
    }

    // MARK: A limit bounds memory

    @Test func `what is stored is not served to a request whose limit is below it`() async throws {
        let mocked = try Mocked { $0.cache = HTTPSession.Cache() }
        mocked.transport.on(.get, "/a").respond(
            fields: ["Cache-Control": "max-age=60"], body: Bytes([UInt8](repeating: 97, count: 1000)))
        _ = try await mocked.session.get("a", as: .bytes)
        let options = HTTPSession.Options(bodyLimit: 100)
        let error = try await networkError { _ = try await mocked.session.get("a", options: options, as: .bytes) }
        #expect(error?.code == .limitExceeded)
        #expect(mocked.transport.requests.count == 1)
        await mocked.session.shutdown()
    }

    @Test(arguments: [true, false])
    func `a body that an interceptor made is subject to the request's limit`(isOfCall: Bool) async throws {
        let answer: HTTPSession.Interception.Intercept = { _, _ in
            TransportResponse(
                head: ResponseHead(status: 200), body: .bytes(Bytes([UInt8](repeating: 97, count: 1000))))
        }
        let mocked = try Mocked { $0.interceptors = [isOfCall ? .call(answer) : .exchange(answer)] }
        let options = HTTPSession.Options(bodyLimit: 100)
        let error = try await networkError { _ = try await mocked.session.get("a", options: options, as: .bytes) }
        #expect(error?.code == .limitExceeded)
    }

    @Test func `the body of a challenge is not read to an end that does not come`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { request in
            if request.fields.contains("Authorization") { return .response(body: "in") }
            return LoopbackServer.Reply.response(
                401, fields: ["WWW-Authenticate": "Basic realm=\"r\""],
                body: Bytes([UInt8](repeating: 97, count: 1_000_000))
            ).stallingAfter(2000)
        }
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        configuration.proxy = .none
        configuration.credentials = .password(user: "a", password: "b")
        let session = try HTTPSession(configuration)
        #expect(try await session.get("a", as: .string).value == "in")
        await session.shutdown()
    }

    // MARK: What goes on in the background

    @Test func `a background revalidation ends at the total limit of the request that started it`() async throws {
        let (clock, gate) = (ManualClock(), Gate())
        let mocked = try Mocked(clock: clock) {
            try $0.use(clock)
            $0.cache = HTTPSession.Cache()
        }
        mocked.transport.otherwise { [transport = mocked.transport] _ in
            if transport.requests.count > 1 { try await gate.opened() }
            return .respond(fields: ["Cache-Control": "max-age=0, stale-while-revalidate=1000", "ETag": "\"1\""])
        }
        for count in 1...2 {
            _ = try await mocked.session.get("a", timeout: .seconds(5), as: .bytes)
            try await mocked.transport.waitForRequests(count)
        }
        try await clock.advance(by: .seconds(6))
        // The first question is over soon, or there would be no other.
        try await eventually("another question", following: mocked.transport) {
            _ = try await mocked.session.get("a", timeout: .seconds(5), as: .bytes)
            return mocked.transport.requests.count >= 3
        }
        await mocked.session.shutdown()
        gate.open()
    }

    // MARK: Metrics say what happened

    @Test(arguments: [true, false])
    func `metrics have each exchange of a request that was challenged`(isAsked: Bool) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { request in
            request.fields.contains("Authorization")
                ? .response(body: "in")
                : .response(401, fields: ["WWW-Authenticate": "Basic realm=\"r\""], body: "who?")
        }
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        configuration.proxy = .none
        if isAsked {
            configuration.authenticationHandler = { _ in .useCredential(.password(user: "a", password: "b")) }
        } else {
            configuration.credentials = .password(user: "a", password: "b")
        }
        let session = try HTTPSession(configuration)
        let response = try await session.get("a", as: .string)
        #expect(response.value == "in" && response.metrics.hops.count == 2)
        #expect(server.requests.count == 2)
        await session.shutdown()
    }
}
