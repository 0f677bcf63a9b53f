import Dunlin
import DunlinService
import DunlinTesting
import Logging
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct `A session as a service` {
    private let transport = MockTransport()

    private func session() throws -> HTTPSession {
        try HTTPSession(.init(baseURL: "http://api.test", transport: transport))
    }

    @Test func `it runs until a graceful shutdown, and lets running requests end`() async throws {
        let session = try session()
        transport.on(.get, "/slow").delay(.milliseconds(100)).respond(body: "there")
        try await testGracefulShutdown { trigger in
            async let running: Void = session.run()
            async let answer = session.get("slow", as: .string).value
            try await transport.waitForRequests(1)
            #expect(!session.isShutDown)
            trigger.triggerGracefulShutdown()
            #expect(try await answer == "there")
            try await running
        }
        #expect(session.isShutDown)
    }

    @Test func `it cancels what does not end in its time`() async throws {
        let session = try session()
        transport.on(.get, "/never").never()
        try await testGracefulShutdown { trigger in
            async let running: Void = session.service(grace: .milliseconds(20)).run()
            let answer = Task { try await session.get("never") }
            try await transport.waitForRequests(1)
            trigger.triggerGracefulShutdown()
            try await running
            await #expect(throws: NetworkError.self) { try await answer.value }
        }
        #expect(session.isShutDown)
    }

    @Test func `a cancelled task shuts it down at once`() async throws {
        let session = try session()
        transport.on(.get, "/never").never()
        let answer = Task { try await session.get("never") }
        try await transport.waitForRequests(1)
        let running = Task { try await session.run() }
        running.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
        #expect(session.isShutDown)
        let error = await #expect(throws: NetworkError.self) { try await answer.value }
        #expect(error?.code == .cancelled)
    }

    @Test func `a task that is cancelled during the shutdown ends the time for requests`() async throws {
        let session = try session()
        transport.on(.get, "/never").never()
        try await testGracefulShutdown { trigger in
            let answer = Task { try await session.get("never") }
            try await transport.waitForRequests(1)
            let running = Task { try await session.service(grace: .seconds(600)).run() }
            trigger.triggerGracefulShutdown()
            try await eventually("the session is closed") { session.isShutDown }
            running.cancel()
            try await running.value
            await #expect(throws: NetworkError.self) { try await answer.value }
        }
    }

    @Test func `a session that was shut down before runs on until its group ends`() async throws {
        let session = try session()
        await session.shutdown()
        try await testGracefulShutdown { trigger in
            trigger.triggerGracefulShutdown()
            try await session.run()
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct `A session in a group of services` {
    /// A service that uses the session for its last work, when it is told to shut down.
    private struct Reporter: Service {
        let session: HTTPSession

        func run() async throws {
            try await session.get("hello")
            try await gracefulShutdown()
            try await session.get("goodbye")
        }
    }

    private struct Broken: Service {
        let session: HTTPSession

        func run() async throws {
            try await session.get("hello")
            throw CancellationError()
        }
    }

    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test func `it is there until the services after it have ended, over real connections`() async throws {
        let server = try LoopbackServer()
        server.respond { _ in .response(body: "hello") }
        let session = try HTTPSession(baseURL: server.baseURL)
        let group = ServiceGroup(services: [session, Reporter(session: session)], logger: logger)
        async let running: Void = group.run()
        _ = try await server.waitForRequests(1)
        #expect(session.connections.open == 1)
        await group.triggerGracefulShutdown()
        try await running
        #expect(server.requests.map(\.target) == ["/hello", "/goodbye"])
        #expect(session.isShutDown && session.connections.open == 0)
        server.stop()
    }

    @Test func `it is shut down too when another service fails`() async throws {
        let transport = MockTransport()
        transport.on(.get, "/hello").respond()
        let session = try HTTPSession(.init(baseURL: "http://api.test", transport: transport))
        let group = ServiceGroup(services: [session, Broken(session: session)], logger: logger)
        await #expect(throws: (any Error).self) { try await group.run() }
        #expect(session.isShutDown)
    }

    @Test func `a group's limit ends a shutdown that takes too long`() async throws {
        let transport = MockTransport()
        transport.on(.get, "/never").never()
        let session = try HTTPSession(.init(baseURL: "http://api.test", transport: transport))
        var configuration = ServiceGroupConfiguration(
            services: [.init(service: session.service(grace: .seconds(600)))], logger: logger)
        configuration.maximumGracefulShutdownDuration = .milliseconds(100)
        let group = ServiceGroup(configuration: configuration)
        async let running: Void = group.run()
        let answer = Task { try await session.get("never") }
        try await transport.waitForRequests(1)
        await group.triggerGracefulShutdown()
        _ = try? await running
        await #expect(throws: NetworkError.self) { try await answer.value }
        #expect(session.isShutDown)
    }
}
