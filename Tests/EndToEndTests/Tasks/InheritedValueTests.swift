import Dunlin
import DunlinFoundation
import DunlinTesting
import Foundation
import Testing

/// What is bound to the task of whoever uses something first, and what goes on by itself from then on.
@Suite(.timeLimit(.minutes(10))) struct `Values of a task` {
    @TaskLocal static var bound: Bound?

    final class Bound: Sendable {}

    /// A transport of the user's around the session's own.
    private struct Passing: Transport {
        let inner: any Transport

        func exchange(_ request: TransportRequest) async throws -> TransportResponse {
            try await inner.exchange(request)
        }
    }

    @Test(.inClearAndOverTLS)
    func `a session whose transport somebody wraps is released with its connections, without a shutdown`()
        async throws
    {
        let server = try Stage.makeServer()
        defer { server.stop() }
        server.respond { _ in .response(body: "fit") }
        let loop = try PrivateLoop()
        for _ in 0..<3 {
            var configuration = try Stage.configuration(for: server)
            configuration.use(loop)
            configuration.interceptors = [.transport { Passing(inner: $0) }]
            let session = try HTTPSession(configuration)
            #expect(try await session.get("x", as: .string).value == "fit")
        }
        try await loop.verifyNothingLeft()
    }

    /// Where something is used.
    private struct Scene: Sendable {
        let server: LoopbackServer
        let loop: PrivateLoop

        func session(_ change: (inout HTTPSession.Configuration) -> Void = { _ in }) throws -> HTTPSession {
            var configuration = try Stage.configuration(for: server)
            configuration.use(loop)
            change(&configuration)
            return try HTTPSession(configuration)
        }
    }

    private typealias Use = @Sendable (Scene) async throws -> [any Sendable]

    /// Uses of things that go on by themselves afterwards; what is returned is kept meanwhile.
    private static let uses: [(name: String, use: Use)] = [
        (
            "a request by name",
            { scene in
                let port = scene.server.port
                let session = try scene.session {
                    $0.baseURL = "http://many.test:\(port)"
                    $0.resolver = FixedResolver(addresses: [.v4(0x7F00_0001, port: port)])
                }
                _ = try await session.get("x", as: .string)
                return [session]
            }
        ),
        (
            "a handle",
            { scene in
                let session = try scene.session()
                let task = try session.task("x", as: .string)
                task.resume()
                _ = try await task.value
                return [session, task]
            }
        ),
        (
            "events of the network, and a bridge to notifications",
            { scene in
                let session = try scene.session {
                    $0.reachability = Reachability(source: ManualNetwork(.wwan))
                    $0.emitsReachabilityEvents = true
                }
                let events = session.events(bufferingNewest: 16)
                for await _ in events { break }
                return [session, events, NotificationBridge(session, center: NotificationCenter())]
            }
        ),
        (
            "the links of the kernel",
            { _ in
                let reachability = Reachability()
                let statuses = reachability.statuses
                for await _ in statuses { break }
                return [reachability, statuses, reachability.statuses]
            }
        ),
        (
            "a monitor of activity",
            { scene in
                let session = try scene.session()
                let monitor = ActivityMonitor()
                await monitor.follow(session)
                await monitor.enable()
                return [session, monitor, monitor.beginActivity()]
            }
        ),
    ]

    @Test(arguments: uses.indices)
    func `nothing that outlives a request keeps the values of the task that began it`(index: Int) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in .response(body: "fit") }
        let loop = try PrivateLoop()
        weak var bound: Bound?
        var kept: [any Sendable] = []
        do {
            let value = Bound()
            bound = value
            let scene = Scene(server: server, loop: loop)
            kept = try await Self.$bound.withValue(value) { try await Self.uses[index].use(scene) }
        }
        // The last steps of a request may still be on their way.
        try await eventually("\(Self.uses[index].name) lets go of it") { bound == nil }
        withExtendedLifetime(kept) {}
    }
}
