import Dunlin
import DunlinTesting
import Hummingbird
import InMemoryLogging
import Logging
import RecipeTracing
import ServiceLifecycle
import Testing

@testable import Gateway

/// All tests of this module, one after the other: some of them measure the memory of the process.
@Suite(.serialized, .timeLimit(.minutes(5))) enum Recipes {}

/// A gateway on a free port, the server behind it, and a session that calls it.
struct RunningGateway {
    let backend: LoopbackServer
    let log: InMemoryLogHandler
    /// The gateway's own session.
    let client: HTTPSession
    let group: ServiceGroup
    let port: Int
    /// What calls the gateway.
    let caller: HTTPSession

    /// Runs a gateway while `operation` does; then it shuts down gracefully.
    static func whileRunning(
        backend configuration: LoopbackServer.Configuration = .init(),
        _ operation: (RunningGateway) async throws -> Void
    ) async throws {
        _ = W3CTracer.shared
        let backend = try LoopbackServer(configuration: configuration)
        defer { backend.stop() }
        let log = InMemoryLogHandler()
        var logger = Logger(label: "gateway") { _ in log }
        // The level of a call that succeeded.
        logger.logLevel = .debug
        let client = try makeClient(of: backend.baseURL, logger: logger)
        let application = makeApplication(client, at: .hostname(port: 0), logger: logger)
        let silent = Logger(label: "group") { _ in SwiftLogNoOpLogHandler() }
        let group = ServiceGroup(services: [application], logger: silent)
        async let running: Void = group.run()
        let port = try await log.port()
        let caller = try HTTPSession(baseURL: "http://127.0.0.1:\(port)")
        try await operation(
            RunningGateway(backend: backend, log: log, client: client, group: group, port: port, caller: caller))
        await caller.shutdown()
        await group.triggerGracefulShutdown()
        try await running
        #expect(client.isShutDown)
        #expect(backend.failures.isEmpty)
    }

    /// The last lines that the gateway's session has logged.
    var lines: [InMemoryLogHandler.Entry] { log.entries.filter { $0.metadata["dunlin.task"] != nil } }

    func line(of path: String) async throws -> InMemoryLogHandler.Entry {
        try await eventually("the gateway logs \(path)") { lines.contains { $0.text("gateway.path") == path } }
        return try #require(lines.first { $0.text("gateway.path") == path })
    }
}

extension InMemoryLogHandler.Entry {
    func text(_ key: String) -> String? { metadata[key].map { "\($0)" } }
}

extension InMemoryLogHandler {
    /// The port that the server says it listens on.
    fileprivate func port() async throws -> Int {
        let start = "Server started and listening on 127.0.0.1:"
        try await eventually("the server listens") { entries.contains { "\($0.message)".hasPrefix(start) } }
        let line = try #require(entries.first { "\($0.message)".hasPrefix(start) })
        return try #require(Int("\(line.message)".dropFirst(start.count)))
    }
}
