import Dunlin
import DunlinLogging
import DunlinMetrics
import DunlinService
import Hummingbird
import Logging
import Metrics
import Prometheus
import ServiceLifecycle

/// Polls the services whose URLs it reads, and tells Prometheus which are
/// up.
@main struct HealthChecker: Service {
    let client: HTTPSession, urls = Array(AnyIterator { readLine() })

    static func main() async throws {
        MetricsSystem.bootstrap(PrometheusMetricsFactory())
        var configuration = HTTPSession.Configuration(
            timeouts: .init(total: .seconds(5)))
        configuration.queue.running = 20
        configuration.log(to: Logger(label: "health")) {
            $0.requestIDField = "X-Request-ID"
        }
        configuration.measure()
        let checker = HealthChecker(client: try HTTPSession(configuration))
        let router = Router().get("metrics") { _, _ in
            PrometheusMetricsFactory.defaultRegistry.emitToString()
        }
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
        let ids = [16, 8].map { count in
            Bytes((0..<count).map { _ in UInt8.random(in: 0...255) }).hex
        }
        let answer = try? await client.get(
            url: url,
            fields: ["traceparent": "00-\(ids[0])-\(ids[1])-01"])
        Gauge(label: "service_up", dimensions: [("url", url)])
            .record(answer == nil ? 0 : 1)
    }
}
