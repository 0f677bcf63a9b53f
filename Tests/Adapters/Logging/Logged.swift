import Dunlin
import DunlinLogging
import DunlinTesting
import InMemoryLogging
import Logging

/// A session over a mock transport, with a log in memory.
struct Logged {
    typealias Entry = InMemoryLogHandler.Entry

    let transport = MockTransport()
    let log = InMemoryLogHandler()
    let session: HTTPSession

    init(
        _ level: Logger.Level = .info, _ settings: (inout HTTPSession.LogSettings) -> Void = { _ in },
        configure: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) throws {
        var configuration = HTTPSession.Configuration(baseURL: "http://api.test/v1", transport: transport)
        try configure(&configuration)
        configuration.log(to: log.logger(level)) {
            // Most tests want a line for each request, and none for the steps before its end.
            $0.levels.success = .info
            settings(&$0)
        }
        session = try HTTPSession(configuration)
    }

    /// All lines, with their metadata as text.
    var text: String { log.text }
    var last: Entry? { log.entries.last }
    /// What happened before the ends of requests, in order.
    var steps: [String] { log.entries.compactMap { $0[.step] } }
}

extension InMemoryLogHandler {
    /// A logger that writes here, and has something to say of itself.
    func logger(_ level: Logger.Level = .info, label: String = "client") -> Logger {
        var logger = Logger(label: label) { _ in self }
        logger.logLevel = level
        logger[metadataKey: "service"] = "shop"
        return logger
    }

    var text: String {
        entries.map { "\($0.level) \($0.message) \($0.metadata) \($0.error.map { "\($0)" } ?? "")" }
            .joined(separator: "\n")
    }
}

extension InMemoryLogHandler.Entry {
    subscript(_ key: HTTPSession.LogKey) -> String? { metadata[key.rawValue].map { "\($0)" } }
}
