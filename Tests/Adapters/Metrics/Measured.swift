import CoreMetrics
import Dunlin
import DunlinMetrics
import DunlinTesting
import MetricsTestKit

/// A session whose requests a mock transport answers, and what was measured of it.
struct Measured {
    let metrics = TestMetrics()
    let transport = MockTransport()
    let client: HTTPSession

    init(
        at baseURL: String = "http://api.test:8080",
        measuring change: (inout HTTPSession.MetricsSettings) -> Void = { _ in },
        configuring: (inout HTTPSession.Configuration) -> Void = { _ in }
    ) throws {
        var settings = HTTPSession.MetricsSettings(factory: metrics)
        change(&settings)
        var configuration = HTTPSession.Configuration(baseURL: baseURL, transport: transport)
        configuring(&configuration)
        configuration.measure(with: settings)
        client = try HTTPSession(configuration)
    }
}

/// One time series: its labels, and what was recorded in it. Durations are in nanoseconds.
struct Series: Sendable {
    let name: String
    let labels: [String: String]
    let values: [Double]

    subscript(_ label: String) -> String? { labels[label] }
}

extension TestMetrics {
    var series: [Series] {
        timers.map { Series(name: $0.label, labels: Dictionary($0.dimensions), values: $0.values.map(Double.init)) }
            + counters.map {
                Series(name: $0.label, labels: Dictionary($0.dimensions), values: $0.values.map(Double.init))
            }
            + recorders.map { Series(name: $0.label, labels: Dictionary($0.dimensions), values: $0.values) }
            + meters.map { Series(name: $0.label, labels: Dictionary($0.dimensions), values: $0.values) }
    }

    func series(_ name: String) -> [Series] { series.filter { $0.name == name } }

    /// The only time series of a metric.
    func only(_ name: String) throws -> Series {
        let all = series(name)
        guard let first = all.first, all.count == 1 else { throw NotOne(name: name, found: all) }
        return first
    }

    struct NotOne: Error {
        let name: String
        let found: [Series]
    }
}

extension Dictionary<String, String> {
    init(_ dimensions: [(String, String)]) {
        self.init(uniqueKeysWithValues: dimensions)
    }
}
