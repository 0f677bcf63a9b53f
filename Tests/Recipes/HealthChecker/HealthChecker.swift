import Dunlin
import DunlinLogging
import DunlinMetrics
import DunlinService
import DunlinTracing
import Hummingbird
import Logging
import Metrics
import Prometheus
import RecipeTracing
import ServiceLifecycle
import Tracing

/// Why each service is down, for those that are.
actor Down {
    private(set) var reasons: [String: String] = [:]

    func set(_ reason: String?, of url: String) { reasons[url] = reason }
}

/// Polls the services whose URLs it reads, and tells Prometheus which are
/// up, and who asks for `/down` why the others are not.
@main struct HealthChecker: Service {
    let client: HTTPSession, urls = Array(AnyIterator { readLine() })
    let down = Down()

    static func main() async throws {
        MetricsSystem.bootstrap(PrometheusMetricsFactory())
        InstrumentationSystem.bootstrap(W3CTracer())
        var configuration = HTTPSession.Configuration(
            timeouts: .init(total: .seconds(5)))
        configuration.queue.running = 20
        configuration.log(to: Logger(label: "health")) {
            $0.levels.success = .info
            $0.requestIDField = "X-Request-ID"
        }
        configuration.measure()
        configuration.recordSpans()
        let checker = HealthChecker(client: try HTTPSession(configuration))
        let router = Router().get("metrics") { _, _ in
            PrometheusMetricsFactory.defaultRegistry.emitToString()
        }
        router.get("down") { _, _ in await checker.down.reasons }
        let port = Int(CommandLine.arguments.last ?? "") ?? 8080
        try await Application(
            router: router,
            configuration: .init(address: .hostname(port: port)),
            services: [checker.client, checker]
        ).runService()
    }

    func run() async throws {
        while !Task.isShuttingDownGracefully && !Task.isCancelled {
            await withDiscardingTaskGroup { group in
                for url in urls { group.addTask { await check(url) } }
            }
            try? await cancelWhenGracefulShutdown {
                try await Task.sleep(for: .seconds(15))
            }
        }
    }

    func check(_ url: String) async {
        var reason: String?
        do {
            try await client.get(url: url)
        } catch {
            reason = (error as? NetworkError)?.summary ?? "\(error)"
        }
        await down.set(reason, of: url)
        Gauge(label: "service_up", dimensions: [("url", url)])
            .record(reason == nil ? 1 : 0)
    }
}
