import Dunlin
import DunlinLogging
import DunlinTracing
import Logging

/// The client of the service behind the gateway. All requests share its
/// connections.
func makeClient(of backend: String, logger: Logger) throws -> HTTPSession {
    var configuration = HTTPSession.Configuration(baseURL: backend)
    configuration.log(to: logger) { $0.requestIDField = "X-Request-ID" }
    configuration.recordSpans()
    return try HTTPSession(configuration)
}
