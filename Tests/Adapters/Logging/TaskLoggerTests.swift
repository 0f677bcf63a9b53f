import Dunlin
import DunlinLogging
import DunlinTesting
import InMemoryLogging
import Logging
import Synchronization
import Testing

/// A handler that writes nothing, and counts what it is asked.
private struct CountingHandler: LogHandler {
    final class Counts: Sendable {
        let lines = Atomic(0)
        let provided = Atomic(0)
    }

    let counts = Counts()
    var logLevel = Logger.Level.error
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    init() {
        let counts = counts
        metadataProvider = Logger.MetadataProvider {
            counts.provided.add(1, ordering: .relaxed)
            return [:]
        }
    }

    func log(event: LogEvent) { counts.lines.add(1, ordering: .relaxed) }

    subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }
}

@Suite(.timeLimit(.minutes(1))) struct `The logger of the task` {
    @TaskLocal static var trace: String?

    @Test func `it adds its metadata, and neither its level nor its handler`() async throws {
        let (logged, other) = (try Logged(.notice), InMemoryLogHandler())
        logged.transport.otherwise { _ in .respond(404) }
        var own = other.logger(.critical, label: "job")
        own[metadataKey: "job"] = "42"
        own[metadataKey: "service"] = "billing"
        // What a server's logger may say of the request that it answers.
        own[metadataKey: HTTPSession.LogKey.status.rawValue] = "999"
        own[metadataKey: HTTPSession.LogKey.path.rawValue] = "/incoming"
        _ = await withLogger(own) { _ in try? await logged.session.get("a") }
        #expect(other.entries.isEmpty)
        #expect(logged.last?.metadata["job"] == "42" && logged.last?.metadata["service"] == "billing")
        #expect(logged.last?[.status] == "404" && logged.last?[.path] == nil)
    }

    @Test func `metadata merged in a task without a logger is added too`() async throws {
        let logged = try Logged()
        logged.transport.otherwise { _ in .respond() }
        _ = try await withLogger(mergingMetadata: ["job": "42"]) { _ in try await logged.session.get("a") }
        #expect(logged.last?.metadata["job"] == "42" && logged.last?.metadata["service"] == "shop")
    }

    @Test func `a task without a logger changes nothing`() async throws {
        let logged = try Logged()
        logged.transport.otherwise { _ in .respond() }
        try await logged.session.get("a")
        let own = Set(HTTPSession.LogKey.allCases.map(\.rawValue))
        #expect(Set(try #require(logged.last).metadata.keys).subtracting(own) == ["service"])
    }

    @Test func `providers are asked in the task that makes the request`() async throws {
        var log = InMemoryLogHandler()
        log.metadataProvider = Logger.MetadataProvider { Self.trace.map { ["trace": "\($0)"] } ?? [:] }
        let transport = MockTransport()
        transport.otherwise { _ in .respond() }
        var configuration = HTTPSession.Configuration(baseURL: "http://api.test", transport: transport)
        configuration.log(to: log.logger(.debug))
        let session = try HTTPSession(configuration)
        let handle = try Self.$trace.withValue("abc") { try session.task("a") }
        handle.resume()
        _ = try await handle.value
        #expect(log.entries.last?.metadata["trace"] == "abc")
    }

    @Test func `a logger whose level has no line is asked nothing more`() async throws {
        let (transport, handler) = (MockTransport(), CountingHandler())
        transport.otherwise { _ in .respond(503) }
        var configuration = HTTPSession.Configuration(baseURL: "http://api.test", transport: transport)
        configuration.log(to: Logger(label: "off") { _ in handler })
        let session = try HTTPSession(configuration)
        for _ in 0..<3 { _ = try? await session.get("a") }
        let counts = handler.counts
        #expect(counts.lines.load(ordering: .relaxed) == 0 && counts.provided.load(ordering: .relaxed) == 0)
    }

    @Test func `a request below the level writes no line, and asks its providers once`() async throws {
        let transport = MockTransport()
        var handler = CountingHandler()
        handler.logLevel = .warning
        transport.otherwise { _ in .respond() }
        var configuration = HTTPSession.Configuration(
            baseURL: "http://api.test", retry: .constant(attempts: 3, every: .zero), transport: transport)
        configuration.log(to: Logger(label: "quiet") { [handler] _ in handler })
        try await HTTPSession(configuration).get("a")
        let counts = handler.counts
        #expect(counts.lines.load(ordering: .relaxed) == 0 && counts.provided.load(ordering: .relaxed) == 1)
    }
}
