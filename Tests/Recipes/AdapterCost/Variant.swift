import CoreMetrics
import Dunlin
import DunlinLogging
import DunlinMetrics
import DunlinTracing
import InMemoryTracing
import Logging
import Prometheus

/// A session with some adapters, or none.
enum Variant: String, CaseIterable {
    case none
    case loggingOff = "logging, lines off"
    case logging = "logging, a line each"
    case requestIDs = "logging, with request ids"
    case metricsDropped = "metrics, into nothing"
    case metrics = "metrics, into Prometheus"
    case tracing = "tracing, into memory"
    case all = "all three, with request ids"

    private static let tracer = InMemoryTracer()

    /// They would be more and more memory.
    static func forgetSpans() { tracer.clearAll(includingActive: true) }

    func session(_ url: String) throws -> HTTPSession {
        var configuration = HTTPSession.Configuration(baseURL: url)
        switch self {
        case .none: break
        case .loggingOff: log(&configuration, level: .critical, requestIDs: false)
        case .logging: log(&configuration, level: .info, requestIDs: false)
        case .requestIDs: log(&configuration, level: .info, requestIDs: true)
        case .metricsDropped: measure(&configuration, NOOPMetricsHandler.instance)
        case .metrics: measure(&configuration)
        case .tracing: configuration.recordSpans(with: Self.tracer)
        case .all:
            log(&configuration, level: .info, requestIDs: true)
            measure(&configuration)
            configuration.recordSpans(with: Self.tracer)
        }
        return try HTTPSession(configuration)
    }

    private func log(_ configuration: inout HTTPSession.Configuration, level: Logger.Level, requestIDs: Bool) {
        var logger = Logger(label: "cost") { _ in DroppingHandler() }
        logger.logLevel = level
        configuration.log(to: logger) {
            $0.levels.success = .info
            $0.requestIDField = requestIDs ? "X-Request-ID" : nil
        }
    }

    private func measure(
        _ configuration: inout HTTPSession.Configuration,
        _ factory: any MetricsFactory = PrometheusMetricsFactory(registry: PrometheusCollectorRegistry())
    ) {
        configuration.measure(with: HTTPSession.MetricsSettings(factory: factory))
    }
}

/// Drops the lines, so that what is measured is how they come about.
private struct DroppingHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {}
}
