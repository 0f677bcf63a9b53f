import Articles
import CoreMetrics
import Dunlin
import DunlinMetrics
import DunlinTesting
import Foundation
import MetricsTestKit
import Testing

@Suite("The article on metrics")
struct ArticleTests {
    private static let article = "Sources/Dunlin/Dunlin.docc/DunlinMetrics.md"

    /// What the article shows, compiled.
    private func snippets() async throws {
        var configuration = HTTPSession.Configuration(
            baseURL: "https://api.example.com/v1/")
        configuration.measure()
        let client = try HTTPSession(configuration)

        var settings = HTTPSession.MetricsSettings()
        settings.includesDevelopment = true
        settings.labels = ["client": "billing"]
        configuration.measure(with: settings)

        settings.omitsEmptyLabels = true

        let measuring = Task { [settings] in
            await client.measureConnections(
                every: .seconds(10), with: settings)
        }

        measuring.cancel()
    }

    @Test func `Every snippet is code of this test`() throws {
        let article = try Article(on: "Metrics")
        #expect(article.parts.count >= 5)
        #expect(article.blocksWithoutCode(except: "Prometheus") == [])
    }

    /// The rows of the tables: the labels of each name, and its kind.
    private static func table() throws -> [String: (kind: String, labels: Set<String>)] {
        var table: [String: (kind: String, labels: Set<String>)] = [:]
        for line in try Article.lines(article) where line.hasPrefix("| `") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
            // The unit follows the kind.
            guard cells.count >= 5, let kind = cells[2].split(separator: ",").first.map({ String($0).trimmed }),
                ["timer", "recorder", "counter", "meter"].contains(kind)
            else { continue }
            var labels = Set(cells[3].quoted.filter { $0.contains(".") })
            if cells[3].contains("those of the duration") {
                labels = table["http.client.request.duration"]?.labels ?? []
            }
            for name in cells[1].quoted { table[name] = (kind, labels) }
        }
        return table
    }

    @Test func `Every metric is in a table with its kind and its labels`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.enqueue(.response(.serviceUnavailable), .response(.found, fields: ["Location": "/b"]))
        server.respond { _ in .response(body: "x") }
        let metrics = TestMetrics()
        var settings = HTTPSession.MetricsSettings(factory: metrics)
        settings.includesDevelopment = true
        settings.includesOperations = true
        settings.includesPeers = true
        settings.omitsEmptyLabels = false
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        configuration.retry = .constant(attempts: 2, every: .zero)
        configuration.cache = HTTPSession.Cache()
        configuration.queue.running = 5
        configuration.measure(with: settings)
        let client = try HTTPSession(configuration)
        _ = try await client.get("a", as: .bytes)
        _ = try await client.post("a", body: .bytes("x"), as: .bytes)
        let measuring = Task { [settings] in
            await client.measureConnections(every: .milliseconds(1), with: settings)
        }
        try await eventually("connections are measured") { metrics.meters.count >= 5 }
        await client.shutdown()
        await measuring.value
        let table = try Self.table()
        let found =
            metrics.timers.map { ($0.label, "timer", $0.dimensions) }
            + metrics.recorders.map { ($0.label, "recorder", $0.dimensions) }
            + metrics.counters.map { ($0.label, "counter", $0.dimensions) }
            + metrics.meters.map { ($0.label, "meter", $0.dimensions) }
        for (name, kind, dimensions) in found {
            #expect(table[name]?.kind == kind, "\(name)")
            #expect(table[name]?.labels == Set(dimensions.map(\.0)), "\(name)")
        }
        #expect(Set(found.map(\.0)).count >= 14)
        #expect(table.count == 26)
    }

    @Test func `The buckets are those of the article`() throws {
        let line = try #require(try Article.lines(Self.article).first { $0.hasPrefix("0.005, ") })
        let seconds = line.split(separator: ", ").compactMap { Double($0) }
        #expect(HTTPSession.MetricsSettings.durationBuckets.map { $0 / .seconds(1) } == seconds)
    }
}

extension String {
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespaces) }

    /// What stands between backticks.
    fileprivate var quoted: [String] {
        split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
            .map { String($0.element) }
    }
}
