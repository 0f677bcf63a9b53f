import Dunlin
import DunlinResilience
import DunlinTesting
import Mocking
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A session that is resilient` {
    private static func mocked(
        _ resilience: Resilience, retry: HTTPSession.RetryPolicy = .never
    ) throws -> (mocked: Mocked, clock: ManualClock) {
        let clock = ManualClock()
        let mocked = try Mocked(clock: clock) {
            try $0.use(clock)
            $0.retry = retry
            $0.resilience = resilience
        }
        return (mocked, clock)
    }

    private static func code(_ mocked: Mocked, _ target: HTTP.Target = "x") async -> NetworkError.Code? {
        do {
            _ = try await mocked.session.get(target, as: .string)
            return nil
        } catch {
            return (error as? NetworkError)?.code
        }
    }

    private static var breaker: Resilience {
        var resilience = Resilience()
        resilience.breaker?.minimum = 4
        resilience.breaker?.probes = 2
        return resilience
    }
}

// MARK: - The breaker

extension `A session that is resilient` {
    @Test func `a server that fails is left alone, and tried again by few`() async throws {
        let (mocked, clock) = try Self.mocked(Self.breaker)
        let isWell = Atomic(false)
        mocked.transport.otherwise { _ in .respond(isWell.load(ordering: .relaxed) ? .ok : .serviceUnavailable) }
        var events = mocked.session.resilienceEvents.makeAsyncIterator()
        for _ in 0..<4 { #expect(await Self.code(mocked) == .unacceptableStatus) }
        #expect(await events.next() == .opened(key: "http://api.test"))
        try await clock.advance(by: .seconds(1))
        let error = try await NetworkError.thrown { _ = try await mocked.session.get("x") }
        let refusal = try #require(error.underlying as? ResilienceRefusal)
        #expect(error.code == .circuitOpen && error.isSafeToRetry && !error.requestMayHaveBeenSent)
        #expect(refusal.reason == .failures(4, of: 4) && refusal.openFor == .seconds(1))
        #expect(refusal.comesBack == .seconds(4) && mocked.transport.requests.count == 4)
        #expect("\(error)".contains("4 of the last 4 requests failed, 1.0 s ago; come back in 4.0 s"))
        #expect(mocked.session.resilienceGauges.breakers == ["http://api.test": .open])
        // Another server is another's business.
        #expect(await Self.code(mocked, "http://b.test/x") == .unacceptableStatus)
        isWell.store(true, ordering: .relaxed)
        try await clock.advance(by: .seconds(4))
        for _ in 0..<3 { #expect(await Self.code(mocked) == nil) }
        #expect(mocked.session.resilienceGauges.breakers.isEmpty && mocked.session.resilienceGauges.refused == 1)
        var seen: [Resilience.Event] = []
        while seen.last != .closed(key: "http://api.test"), let event = await events.next() { seen.append(event) }
        #expect(seen.count { $0 == .probing(key: "http://api.test") } == 3)
    }

    @Test(arguments: [
        (MockTransport.Outcome.respond(.tooManyRequests), false), (.respond(.notFound), false),
        (.respond(.internalServerError), true), (.respond(.gatewayTimeout), true),
        (.fail(NetworkError(.connectionFailed, "refused", phase: .connect)), true),
        (.fail(NetworkError(.timedOut, "slow", phase: .firstByte)), true),
        (.fail(NetworkError(.timedOut, "full", phase: .pool)), false),
        (.fail(NetworkError(.serverTrustFailed, "who", phase: .tls)), false),
    ])
    func `what counts as a failure is the server's`(outcome: MockTransport.Outcome, opens: Bool) async throws {
        let (mocked, _) = try Self.mocked(Self.breaker)
        mocked.transport.otherwise { _ in outcome }
        for _ in 0..<8 { _ = await Self.code(mocked) }
        #expect((await Self.code(mocked) == .circuitOpen) == opens)
    }

    @Test func `a probe needs a retry of the budget, unless it is alone`() async throws {
        let retry = HTTPSession.RetryPolicy.constant(attempts: 1, every: .zero, when: [], budget: .ratio(0, floor: 0))
        let (mocked, clock) = try Self.mocked(Self.breaker, retry: retry)
        let isWell = Atomic(false)
        mocked.transport.otherwise { _ in .respond(isWell.load(ordering: .relaxed) ? .ok : .serviceUnavailable) }
        for _ in 0..<4 { _ = await Self.code(mocked) }
        isWell.store(true, ordering: .relaxed)
        try await clock.advance(by: .seconds(5))
        #expect(await Self.code(mocked) == nil)
        mocked.transport.otherwise { _ in .respond(.ok).delayed(.seconds(1)) }
        async let alone = Self.code(mocked)
        try await clock.waitForSleepers()
        let error = try await NetworkError.thrown { _ = try await mocked.session.get("x") }
        #expect((error.underlying as? ResilienceRefusal)?.reason == .budget && mocked.transport.requests.count == 6)
        try await clock.advance(by: .seconds(1))
        #expect(await alone == nil)
        mocked.transport.otherwise { _ in .respond(.ok) }
        // The budget stays empty, and the breaker closes.
        #expect(await Self.code(mocked) == nil && mocked.session.resilienceGauges.breakers.isEmpty)
    }

    @Test func `an open breaker serves what is stale, as a server that is down does`() async throws {
        let clock = ManualClock()
        let mocked = try Mocked(clock: clock) {
            try $0.use(clock)
            $0.cache = HTTPSession.Cache()
            $0.resilience = Self.breaker
        }
        let fields: Fields = ["Cache-Control": "max-age=1, stale-if-error=1000"]
        mocked.transport.on(.get, "/kept").respond(fields: fields, body: "kept").thenRespond(.serviceUnavailable)
            .always()
        mocked.transport.otherwise { _ in .respond(.serviceUnavailable) }
        #expect(await Self.code(mocked, "kept") == nil)
        try await clock.advance(by: .seconds(2))
        for _ in 0..<4 { _ = await Self.code(mocked) }
        #expect(await Self.code(mocked) == .circuitOpen)
        #expect(try await mocked.session.get("kept", as: .string).value == "kept")
    }

    @Test func `a stream that meets an open breaker goes on when it has closed`() async throws {
        let (mocked, clock) = try Self.mocked(Self.breaker)
        let isWell = Flag()
        mocked.transport.otherwise { _ in
            isWell.isSet
                ? .respond(fields: ["Content-Type": "text/event-stream"], body: "data: a\n\n")
                : .respond(.serviceUnavailable)
        }
        for _ in 0..<4 { _ = await Self.code(mocked) }
        isWell.set()
        let first = try await clock.skippingWaits {
            for try await event in mocked.session.events("news") { return event.data }
            return ""
        }
        #expect(first == "a")
    }

    @Test func `requests that waited while the breaker opened are refused`() async throws {
        var resilience = Self.breaker
        resilience.rates = [.init(1, burst: 3)]
        let (mocked, clock) = try Self.mocked(resilience)
        mocked.transport.otherwise { _ in .respond(.serviceUnavailable) }
        var events = mocked.session.resilienceEvents.makeAsyncIterator()
        for _ in 0..<3 { _ = await Self.code(mocked) }
        let codes = try await withThrowingTaskGroup(of: NetworkError.Code?.self) { group in
            for _ in 0..<4 { group.addTask { await Self.code(mocked) } }
            try await clock.waitForRetries(4)
            try await clock.advance(by: .seconds(1))
            while let event = await events.next(), event != .opened(key: "http://api.test") {}
            for _ in 0..<3 { try await clock.advance(by: .seconds(1)) }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.count { $0 == .circuitOpen } == 3, "\(codes)")
        #expect(mocked.transport.requests.count == 4)
    }

    @Test func `a refresh within a probe is refused by no breaker`() async throws {
        let (clock, isWell) = (ManualClock(), Flag())
        let mocked = try Mocked(clock: clock) {
            try $0.use(clock)
            $0.resilience = Self.breaker
            $0.authentication = .bearer { client in
                .init(try await client.get("token", as: .string).value, lifetime: .seconds(3))
            }
        }
        mocked.transport.otherwise { _ in isWell.isSet ? .respond(body: "t") : .respond(.serviceUnavailable) }
        for _ in 0..<8 {
            _ = await Self.code(mocked)
            try await clock.advance(by: .seconds(61))
        }
        isWell.set()
        try await clock.advance(by: .seconds(61))
        #expect(await Self.code(mocked) == nil)
    }

    private final class Flag: Sendable {
        private let flag = Atomic(false)
        var isSet: Bool { flag.load(ordering: .relaxed) }
        func set() { flag.store(true, ordering: .relaxed) }
    }

    @Test func `what the cache answers is refused by no breaker`() async throws {
        let clock = ManualClock()
        let mocked = try Mocked(clock: clock) {
            try $0.use(clock)
            $0.cache = HTTPSession.Cache()
            $0.resilience = Self.breaker
        }
        mocked.transport.on(.get, "/kept").respond(fields: ["Cache-Control": "max-age=1000"], body: "kept")
        mocked.transport.otherwise { _ in .respond(.serviceUnavailable) }
        #expect(await Self.code(mocked, "kept") == nil)
        for _ in 0..<4 { _ = await Self.code(mocked) }
        #expect(await Self.code(mocked) == .circuitOpen)
        #expect(try await mocked.session.get("kept", as: .string).value == "kept")
    }
}

// MARK: - The limits of rate

extension `A session that is resilient` {
    @Test func `requests go at the rate, by priority and then in order of arrival`() async throws {
        var resilience = Resilience()
        resilience.rates = [.init(2, burst: 1)]
        let (mocked, clock) = try Self.mocked(resilience)
        mocked.transport.otherwise { _ in .respond(body: "ok") }
        let begun = clock.now
        _ = try await mocked.session.get("first", as: .string)
        let priorities: [HTTP.Priority] = [.low, .normal, .high]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, priority) in priorities.enumerated() {
                group.addTask {
                    _ = try await mocked.session.get("\(index)", options: .init(priority: priority), as: .string)
                }
                try await clock.waitForRetries(index + 1)
            }
            for _ in priorities { try await clock.advance(by: .milliseconds(500)) }
            try await group.waitForAll()
        }
        #expect(mocked.transport.requests.map(\.path) == ["/first", "/2", "/1", "/0"])
        #expect(clock.now - begun == .milliseconds(1500))
    }

    @Test func `who would wait for too long is refused at once, and told when to come back`() async throws {
        var resilience = Resilience()
        resilience.rates = [.init(1, per: .seconds(10), burst: 1)]
        let (mocked, _) = try Self.mocked(resilience)
        mocked.transport.otherwise { _ in .respond(body: "ok") }
        _ = try await mocked.session.get("x", as: .string)
        let error = try await NetworkError.thrown {
            _ = try await mocked.session.get("x", timeout: .seconds(5), as: .string)
        }
        let refusal = try #require(error.underlying as? ResilienceRefusal)
        #expect(error.code == .rateLimited && refusal.comesBack == .seconds(10))
        #expect(refusal.reason == .rate(isServers: false) && mocked.transport.requests.count == 1)
    }

    @Test(
        arguments: [
            ["Retry-After": "3"],
            ["RateLimit": "\"default\";r=0;t=3", "RateLimit-Policy": "\"default\";q=100;w=60"],
            ["RateLimit": "limit=100, remaining=0, reset=3"], ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "3"],
        ] as [Fields])
    func `a server's own limit delays the next request, and no other server's`(fields: Fields) async throws {
        var resilience = Resilience()
        // What a window allows is spread over the next one.
        resilience.longestWait = .seconds(120)
        let (mocked, clock) = try Self.mocked(resilience)
        mocked.transport.otherwise { request in
            request.path == "/limited" ? .respond(.tooManyRequests, fields: fields) : .respond(body: "ok")
        }
        #expect(await Self.code(mocked, "limited") == .unacceptableStatus)
        #expect(await Self.code(mocked, "http://b.test/x") == nil)
        let begun = clock.now
        try await clock.skippingWaits { _ = try await mocked.session.get("x", as: .string) }
        #expect(clock.now - begun >= .seconds(3))
    }

    enum Ender: CaseIterable { case task, registry, shutdown, turn }

    @Test(arguments: Ender.allCases) func `the wait ends with whatever ends it`(ender: Ender) async throws {
        var resilience = Resilience()
        resilience.rates = [.init(1, per: .seconds(10))]
        let (mocked, clock) = try Self.mocked(resilience)
        mocked.transport.otherwise { _ in .respond(body: "ok") }
        _ = try await mocked.session.get("x", as: .string)
        let waiting = Task { try await mocked.session.get("x", as: .string).value }
        try await clock.waitForRetries()
        #expect(mocked.session.resilienceGauges.waiting.values.reduce(0, +) == 1)
        switch ender {
        case .task: waiting.cancel()
        case .registry: #expect(await mocked.session.tasks.cancelAll() == 1)
        case .shutdown: await mocked.session.shutdown()
        case .turn: break
        }
        if ender == .turn {
            try await clock.advance(by: .seconds(10))
            #expect(try await waiting.value == "ok")
        } else {
            let outcome = await waiting.result
            #expect(throws: (any Error).self) { try outcome.get() }
            #expect(mocked.transport.requests.count == 1)
        }
        #expect(mocked.session.resilienceGauges.waiting.isEmpty)
        #expect(await mocked.session.tasks.count == 0)
    }
}

extension `A session that is resilient` {
    @Test func `a request that is suspended at its limit is sent once it is resumed`() async throws {
        var resilience = Resilience()
        resilience.rates = [.init(1, per: .seconds(10))]
        let (mocked, clock) = try Self.mocked(resilience)
        mocked.transport.otherwise { _ in .respond(body: "ok") }
        _ = try await mocked.session.get("x", as: .string)
        let task = try mocked.session.task("x", as: .string)
        task.resume()
        try await clock.waitForRetries()
        #expect(task.suspend())
        try await clock.advance(by: .seconds(30))
        #expect(mocked.transport.requests.count == 1)
        task.resume()
        #expect(try await task.value == "ok")
    }

    @Test func `a breaker that is open is not forgotten, however many other servers are asked`() async throws {
        let (mocked, _) = try Self.mocked(Self.breaker)
        mocked.transport.otherwise { .respond($0.origin.host == "api.test" ? .serviceUnavailable : .ok) }
        for _ in 0..<4 { _ = await Self.code(mocked) }
        for number in 0..<1100 { #expect(await Self.code(mocked, .url("http://\(number).test/")) == nil) }
        #expect(await Self.code(mocked) == .circuitOpen)
    }

    @Test func `a limit that is in force is not forgotten, however many others have requests`() async throws {
        var resilience = Resilience()
        resilience.rates = [.init(1, per: .seconds(1000)) { String($0.path) }]
        let (mocked, _) = try Self.mocked(resilience)
        mocked.transport.otherwise { _ in .respond(body: "ok") }
        // All of them are in force.
        for number in 0..<1100 { #expect(await Self.code(mocked, .url("http://api.test/\(number)")) == nil) }
        #expect(await Self.code(mocked, "0") == .rateLimited)
    }
}

extension `A session that is resilient` {
    @Test func `who is suspended at a limit holds up nobody behind it`() async throws {
        var resilience = Resilience()
        resilience.rates = [.init(1, per: .seconds(10))]
        let (mocked, clock) = try Self.mocked(resilience)
        mocked.transport.otherwise { _ in .respond(body: "ok") }
        _ = try await mocked.session.get("x", as: .string)
        let task = try mocked.session.task("held", as: .string)
        task.resume()
        try await clock.waitForRetries()
        #expect(task.suspend())
        async let behind = mocked.session.get("behind", as: .string)
        try await clock.waitForRetries(2)
        for _ in 0..<2 { try await clock.advance(by: .seconds(10)) }
        #expect(try await behind.value == "ok")
        #expect(mocked.transport.requests.map(\.path) == ["/x", "/behind"])
        task.cancel()
    }

    @Test func `a Retry-After of a success silences nobody`() async throws {
        let (mocked, _) = try Self.mocked(Resilience())
        mocked.transport.otherwise { _ in .respond(.accepted, fields: ["Retry-After": "120"]) }
        for _ in 0..<3 { #expect(await Self.code(mocked) == nil) }
    }
}

// MARK: - The settings

extension `A session that is resilient` {
    @Test func `one line sets attempts and retries that are not set`() throws {
        var configuration = HTTPSession.Configuration(baseURL: "http://api.test")
        configuration.resilience = .standard
        #expect(configuration.timeouts.attempt == .seconds(10) && configuration.retry.attempts == 3)
        configuration.timeouts.attempt = .seconds(1)
        configuration.resilience = .standard
        #expect(configuration.timeouts.attempt == .seconds(1))
        configuration.resilience = nil
        #expect(configuration.resilience == nil)
    }

    @Test func `bad settings are refused when the session is made`() throws {
        let changes: [(String, (inout Resilience) -> Void)] = [
            ("resilience.rates: requests must be at least 1, not 0", { $0.rates = [.init(0)] }),
            ("resilience.breaker.failureRate must be above 0 and at most 1, not 2.0", { $0.breaker?.failureRate = 2 }),
            ("resilience.breaker.probes must be at least 1, not 0", { $0.breaker?.probes = 0 }),
            ("resilience.longestWait must be at least zero", { $0.longestWait = .seconds(-1) }),
        ]
        for (text, change) in changes {
            var resilience = Resilience()
            change(&resilience)
            let error = #expect(throws: NetworkError.self) { _ = try Self.mocked(resilience) }
            #expect("\(error!)".contains(text), "\(error!)")
        }
    }

    @Test func `sessions of one configuration share what they learn`() async throws {
        let (mocked, _) = try Self.mocked(Self.breaker)
        mocked.transport.otherwise { _ in .respond(.serviceUnavailable) }
        let other = try HTTPSession(mocked.session.configuration)
        for _ in 0..<4 { _ = await Self.code(mocked) }
        let error = try await NetworkError.thrown { _ = try await other.get("x") }
        #expect(error.code == .circuitOpen)
    }
}
