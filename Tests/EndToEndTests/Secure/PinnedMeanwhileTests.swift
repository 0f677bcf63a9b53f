import Dunlin
import DunlinTesting
import Synchronization
import Testing

/// A session that pins by now sends nothing in clear text, whenever it was asked to.
@Suite(.timeLimit(.minutes(10))) struct `A request in clear text and pins that come meanwhile` {
    /// Has a session pin, once there is one.
    private final class Pinner: Sendable {
        private let pin = Mutex<(@Sendable () throws -> Void)?>(nil)

        func use(_ session: HTTPSession, _ policy: SecurityPolicy) {
            pin.withLock { pin in
                pin = {
                    var tls = session.tls
                    tls.policy = policy
                    try session.replace(tls: tls)
                }
            }
        }

        func callAsFunction() throws { try pin.withLock { $0 }?() }
        func forget() { pin.withLock { $0 = nil } }
    }

    private struct Scene: Sendable {
        let clear: LoopbackServer
        let stage: SecureStage
        let pin: Pinner

        var session: HTTPSession { stage.session }

        func url(_ path: String) -> HTTP.Target { HTTP.Target(clear.baseURL + path) }

        /// Expects a refusal, and that the server in clear text has seen `seen`.
        func expectRefusal(seen: [String], _ ask: () async throws -> Void) async throws {
            let error = try await NetworkError.thrown { try await ask() }
            #expect(error.code == .clearTextRefused)
            #expect(clear.requests.map(\.target) == seen)
        }
    }

    private static func with(
        _ configure: @escaping (inout HTTPSession.Configuration, Pinner) -> Void = { _, _ in },
        _ play: (Scene) async throws -> Void
    ) async throws {
        let clear = try LoopbackServer()
        defer { clear.stop() }
        clear.respond { _ in .response(body: "clear") }
        let pin = Pinner()
        defer { pin.forget() }
        try await SecureStage.with(configure: { configuration, _ in configure(&configuration, pin) }) {
            (stage: SecureStage) async throws in
            defer { pin.forget() }
            stage.server.respond { _ in .response(body: "secure") }
            pin.use(stage.session, try SecurityPolicy(mode: .publicKey, pins: [.init(stage.cast.issued.pin)]))
            try await play(Scene(clear: clear, stage: stage, pin: pin))
        }
    }

    @Test func `a handle that was made before is refused when it begins`() async throws {
        try await Self.with { scene in
            let task = try scene.session.task(scene.url("/x"), as: .string)
            try scene.pin()
            try await scene.expectRefusal(seen: []) { _ = try await task.value }
        }
    }

    @Test func `a request that was suspended before it was sent is refused when it is resumed`() async throws {
        try await Self.with { scene in
            let task = try scene.session.task(scene.url("/x"), as: .string)
            task.suspend()
            try scene.pin()
            task.resume()
            try await scene.expectRefusal(seen: []) { _ = try await task.value }
        }
    }

    @Test func `a request that waits in the queue is refused when its turn comes`() async throws {
        try await Self.with({ configuration, _ in configuration.queue = .init(running: 1) }) { scene in
            let (session, gate) = (scene.session, LoopbackServer.Gate())
            scene.stage.server.route(.get, "/slow", LoopbackServer.Reply.response().waiting(for: gate))
            let running = Task { try await session.get("slow", as: .bytes) }
            _ = try await scene.stage.server.waitForRequests(1)
            let url = scene.url("/x")
            let queued = Task { try await session.get(url, as: .string).value }
            try await eventually("it waits", following: scene.stage.loop, scene.clear) {
                await session.tasks.count == 2
            }
            try scene.pin()
            gate.open()
            try await scene.expectRefusal(seen: []) { _ = try await queued.value }
            _ = try await running.value
        }
    }

    @Test func `a request that waits for a connection is refused when it gets one`() async throws {
        try await Self.with({ configuration, _ in configuration.connections.perOrigin = 1 }) { scene in
            let (session, gate) = (scene.session, LoopbackServer.Gate())
            scene.clear.route(.get, "/first", LoopbackServer.Reply.response(body: "first").waiting(for: gate))
            let (first, second) = (scene.url("/first"), scene.url("/second"))
            let running = Task { try await session.get(first, as: .string).value }
            _ = try await scene.clear.waitForRequests(1)
            let waiting = Task { try await session.get(second, as: .string).value }
            try await eventually("it waits", following: scene.stage.loop, scene.clear) {
                session.connections.waiting == 1
            }
            try scene.pin()
            gate.open()
            #expect(try await running.value == "first", "it was sent before")
            try await scene.expectRefusal(seen: ["/first"]) { _ = try await waiting.value }
            try await eventually("nothing is left", following: scene.stage.loop, scene.clear) {
                session.connections.leased == 0 && session.connections.waiting == 0
            }
        }
    }

    @Test func `no further attempt is made in clear text once a session pins`() async throws {
        try await Self.with { scene in
            scene.clear.route(.get, "/x", .response(503), .response(body: "clear"))
            var options = HTTPSession.Options(retry: .constant(attempts: 3, every: .milliseconds(1)))
            options.hooks.retrying = { [pin = scene.pin] _, _ in try? pin() }
            try await scene.expectRefusal(seen: ["/x"]) {
                _ = try await scene.session.get(scene.url("/x"), options: options, as: .string)
            }
        }
    }

    @Test(arguments: [true, false])
    func `an interceptor's next request in clear text is refused once a session pins`(isAroundCall: Bool) async throws {
        try await Self.with({ configuration, pin in
            let twice: HTTPSession.Interception.Intercept = { request, next in
                _ = try await next(request)
                try pin()
                return try await next(request)
            }
            configuration.interceptors = [isAroundCall ? .call(twice) : .exchange(twice)]
        }) { scene in
            try await scene.expectRefusal(seen: ["/x"]) {
                _ = try await scene.session.get(scene.url("/x"), as: .string)
            }
        }
    }

    @Test func `a stored response that came in clear text is not served once a session pins`() async throws {
        try await Self.with({ configuration, _ in configuration.cache = HTTPSession.Cache() }) { scene in
            scene.clear.route(.get, "/x", .response(fields: ["Cache-Control": "max-age=600"], body: "clear"))
            let asked = try scene.session.task(scene.url("/x"), as: .string)
            #expect(try await asked.value == "clear")
            let task = try scene.session.task(scene.url("/x"), as: .string)
            try scene.pin()
            try await scene.expectRefusal(seen: ["/x"]) { _ = try await task.value }
        }
    }
}
