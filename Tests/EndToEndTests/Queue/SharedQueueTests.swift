import Dunlin
import DunlinTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A queue that sessions share` {
    private typealias Limits = HTTPSession.QueueLimits

    /// Two sessions that share these limits. Both have the first one's server.
    private static func with(_ limits: Limits, _ play: (Stage, HTTPSession) async throws -> Void) async throws {
        try await Stage.with(configure: { $0.queue = limits }) { (stage: Stage) async throws in
            try await Stage.with(configure: { configuration in
                configuration.baseURL = stage.server.baseURL
                configuration.queue = limits
            }) { (other: Stage) async throws in try await play(stage, other.session) }
        }
    }

    @Test func `requests of several sessions, on loops of their own, keep to its limits together`() async throws {
        try await Self.with(Limits(running: 3).shared()) { stage, other in
            let turnstile = Turnstile(at: stage.server)
            try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<18 {
                    let session = number % 2 == 0 ? stage.session : other
                    group.addTask { try await session.get("\(number)", as: .string).value }
                }
                try await turnstile.pass(all: 18, atOnce: 3)
                for try await value in group { #expect(value == "x") }
            }
            #expect(turnstile.peak == 3)
            #expect(await stage.session.gauges().queued == 0)
        }
    }

    @Test func `its order goes by priority, whichever session asks`() async throws {
        try await Self.with(Limits(running: 1).shared()) { stage, other in
            let turnstile = Turnstile(at: stage.server)
            let first = try await stage.begin("first")
            let low = try await stage.begin("low", .init(priority: .low), behind: 0)
            let high = try other.task("high", options: .init(priority: .high), as: .string)
            high.resume()
            try await stage.eventually("both wait") { await other.gauges().queued == 2 }
            turnstile.open()
            for task in [first, low, high] { #expect(try await task.value == "x") }
            #expect(turnstile.arrived == ["/first", "/high", "/low"])
        }
    }

    @Test func `each key has room of its own`() async throws {
        let limits = Limits(runningPerOrigin: 1).shared { $0.fields["X-Tenant"] ?? "" }
        try await Self.with(limits) { stage, other in
            let turnstile = Turnstile(at: stage.server)
            func options(_ tenant: String) -> HTTPSession.Options { .init(fields: ["X-Tenant": tenant]) }
            let first = try await stage.begin("first", options("a"))
            let second = try other.task("second", options: options("a"), as: .string)
            second.resume()
            try await stage.eventually("the second waits") { await other.gauges().queued == 1 }
            let third = try await stage.begin("third", options("b"))
            #expect(turnstile.arrived == ["/first", "/third"])
            turnstile.open()
            for task in [first, second, third] { #expect(try await task.value == "x") }
            #expect(turnstile.arrived == ["/first", "/third", "/second"])
        }
    }

    @Test func `the end of one session gives its turns to the other's requests`() async throws {
        try await Self.with(Limits(running: 1).shared()) { stage, other in
            let turnstile = Turnstile(at: stage.server)
            let first = try await stage.begin("first")
            let second = try await stage.begin("second", behind: 0)
            let third = try other.task("third", as: .string)
            third.resume()
            try await stage.eventually("both wait") { await other.gauges().queued == 2 }
            await stage.session.shutdown()
            for task in [first, second] {
                await #expect(throws: NetworkError.self) { try await task.value }
            }
            turnstile.open()
            #expect(try await third.value == "x")
            #expect(turnstile.arrived == ["/first", "/third"])
        }
    }

    @Test func `a request within one of another session waits for no turn`() async throws {
        try await Self.with(Limits(running: 1).shared()) { stage, other in
            stage.server.respond { .response(body: Bytes($0.target.utf8)) }
            for (outer, inner) in [(stage.session, other), (other, stage.session)] {
                let value = try await outer.withResponse(from: "outer") { response in
                    let value = try await inner.get("inner", as: .string).value
                    for try await _ in response.body {}
                    return value
                }
                #expect(value == "/inner")
            }
        }
    }

    @Test func `an interceptor awaits a handle of another session`() async throws {
        let limits = Limits(running: 1).shared()
        try await Stage.with(configure: { $0.queue = limits }) { (stage: Stage) async throws in
            stage.server.respond { .response(body: Bytes($0.target.utf8)) }
            let inner = stage.session
            try await Stage.with(configure: { configuration in
                configuration.queue = limits
                configuration.baseURL = stage.server.baseURL
                let intercept: HTTPSession.Interception.Intercept = { request, next in
                    #expect(try await inner.task("inner", as: .string).value == "/inner")
                    return try await next(request)
                }
                configuration.interceptors = [.call(intercept)]
            }) { (outer: Stage) async throws in
                #expect(try await outer.session.get("outer", as: .string).value == "/outer")
            }
        }
    }

    @Test func `limits that were set after it was shared, and a key that counts for nothing, are refused`() throws {
        var changed = Limits(running: 1).shared()
        changed.running = 2
        let keyed = Limits(running: 1).shared { $0.origin.host }
        let none = Limits().shared()
        for (limits, reason) in [
            (changed, "call it last"), (keyed, "needs `queue.runningPerOrigin`"), (none, "needs a limit"),
        ] {
            var configuration = HTTPSession.Configuration()
            configuration.queue = limits
            let error = #expect(throws: NetworkError.self) { try HTTPSession(configuration) }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.reason.contains(reason) == true)
        }
    }

    @Test func `the same limits are equal where they are the same queue`() {
        let shared = Limits(running: 1).shared()
        #expect(shared == shared)
        #expect(shared != Limits(running: 1))
        #expect(shared != Limits(running: 1).shared())
    }
}
