import CoreMetrics
import Dunlin
import DunlinMetrics
import DunlinTesting
import MetricsTestKit
import Testing

@Suite("The number of time series")
struct CardinalityTests {
    static let duration = "http.client.request.duration"

    /// Sends requests, many at a time.
    static func send(
        _ count: Int, by client: HTTPSession, _ target: @escaping @Sendable (Int) -> HTTP.Target
    ) async {
        await withTaskGroup { group in
            for start in 0..<8 {
                group.addTask {
                    for number in stride(from: start, to: count, by: 8) {
                        _ = try? await client.get(target(number), as: .bytes)
                    }
                }
            }
        }
    }

    @Test func `Of 10,000 hosts the first hundred have names`() async throws {
        let measured = try Measured()
        measured.transport.otherwise { _ in .respond() }
        await Self.send(10_000, by: measured.client) { "http://host-\($0 % 5000).test:\(1000 + $0 % 2)/" }
        let series = measured.metrics.series(Self.duration)
        #expect(series.count == 101)
        #expect(series.filter { $0["server.address"] == "_other" }.map { $0["server.port"] } == [nil])
        #expect(series.reduce(0) { $0 + $1.values.count } == 10_000)
        #expect(measured.metrics.series.count < 1000)
    }

    @Test func `Redirects to ever new hosts leave names for the program's own`() async throws {
        let measured = try Measured(measuring: { $0.hostLimit = 10 })
        measured.transport.otherwise { request in
            request.path == "/leave"
                ? .respond(.found, fields: ["Location": "http://host-\(UInt32.random(in: 0...UInt32.max)).test/"])
                : .respond()
        }
        for _ in 0..<30 { _ = try await measured.client.get("leave", as: .bytes) }
        _ = try await measured.client.get("http://own.test/", as: .bytes)
        let hosts = Set(measured.metrics.series(Self.duration).compactMap { $0["server.address"] })
        #expect(hosts.count == 7)
        #expect(hosts.isSuperset(of: ["api.test", "own.test", "_other"]))
    }

    @Test func `Of 10,000 templates the first two hundred have names`() async throws {
        let measured = try Measured(measuring: { $0.includesDevelopment = true })
        measured.transport.otherwise { _ in .respond() }
        await Self.send(10_000, by: measured.client) { HTTP.Target(template: "t\($0)/{id}", ["id": 1]) }
        let series = measured.metrics.series(Self.duration)
        #expect(series.count == 201)
        #expect(series.filter { $0["url.template"] == "_other" }.count == 1)
        #expect(series.reduce(0) { $0 + $1.values.count } == 10_000)
    }

    @Test func `Targets from text are no templates`() async throws {
        let measured = try Measured(measuring: { $0.includesDevelopment = true })
        measured.transport.otherwise { _ in .respond() }
        await Self.send(1000, by: measured.client) { number in
            let text = "users/\(number)"
            return HTTP.Target(text)
        }
        #expect(measured.metrics.series(Self.duration).map { $0["url.template"] } == [nil])
    }

    @Test func `Codes of a program's own are limited too`() async throws {
        let measured = try Measured(configuring: {
            $0.interceptors = [
                .exchange { request, _ in throw NetworkError(NetworkError.Code("code\(request.head.target.count)"), "")
                }
            ]
        })
        await Self.send(1000, by: measured.client) { number in
            let text = String(repeating: "a", count: number + 1)
            return HTTP.Target(text)
        }
        let series = measured.metrics.series(Self.duration)
        #expect(series.count == 201)
        #expect(series.contains { $0["error.type"] == "_OTHER" })
    }

    @Test(arguments: [1, 7, 100])
    func `No more handlers than the limit are alive, and the others are destroyed once`(limit: Int) async throws {
        let factory = StrictFactory()
        let transport = MockTransport()
        transport.otherwise { _ in .respond() }
        var settings = HTTPSession.MetricsSettings(factory: factory)
        settings.hostLimit = 5000
        settings.templateLimit = 5000
        settings.handlerLimit = limit
        settings.includesDevelopment = true
        var configuration = HTTPSession.Configuration(baseURL: "http://api.test", transport: transport)
        configuration.measure(with: settings)
        let client = try HTTPSession(configuration)
        await Self.send(1000, by: client) {
            HTTP.Target(template: "http://host-\($0 % 600).test/t\($0 % 50)/{id}", ["id": 1])
        }
        #expect(factory.problems == [])
        // Each of the eight tasks may have made one for which there is no room yet.
        #expect(factory.most <= limit + 8)
        #expect(factory.live.count <= limit)
        #expect(factory.destroyed > 1000)
        // What has a level stays until that is 0 again.
        #expect(factory.live.filter { $0.key.first == "http.client.active_requests" }.allSatisfy { $0.total == 0 })
    }

    @Test func `What is used stays when there is no room for all`() async throws {
        let measured = try Measured(measuring: {
            $0.includesOwn = false
            $0.handlerLimit = 10
            $0.hostLimit = 5000
        })
        measured.transport.otherwise { _ in .respond() }
        for number in 0..<100 {
            _ = try await measured.client.get("http://often.test/", as: .bytes)
            _ = try await measured.client.get("http://host-\(number).test/", as: .bytes)
        }
        let often = measured.metrics.series(Self.duration).filter { $0["server.address"] == "often.test" }
        #expect(often.map(\.values.count) == [100])
        #expect(measured.metrics.timers.count == 10)
    }

    @Test func `All time series of a metric have the same labels, whatever happens`() async throws {
        let factory = StrictFactory()
        let transport = MockTransport()
        transport.on(.get, "/a").respond(.serviceUnavailable).thenFail(.connectionReset).thenRespond(
            .found, fields: ["Location": "/b"])
        transport.on(.get, "/b").respond(body: "x")
        transport.on(.get, "/c").respond(.notFound)
        for isDevelopment in [false, true] {
            var settings = HTTPSession.MetricsSettings(factory: factory)
            settings.includesDevelopment = isDevelopment
            settings.omitsEmptyLabels = false
            var configuration = HTTPSession.Configuration(baseURL: "http://api.test", transport: transport)
            configuration.retry = .constant(attempts: 3, every: .zero)
            configuration.measure(with: settings)
            let client = try HTTPSession(configuration)
            _ = try? await client.get("a", as: .string)
            _ = try? await client.get("c", as: .string)
            _ = try? await client.get("d", as: .string)
        }
        #expect(factory.problems == [])
        #expect(!factory.live.isEmpty)
    }

    @Test func `Sessions with settings of their own for one factory destroy no handler of each other`() async throws {
        let factory = StrictFactory()
        func session(upTo limit: Int) throws -> HTTPSession {
            let transport = MockTransport()
            transport.otherwise { _ in .respond() }
            var settings = HTTPSession.MetricsSettings(factory: factory)
            settings.includesOwn = false
            settings.handlerLimit = limit
            var configuration = HTTPSession.Configuration(transport: transport)
            configuration.measure(with: settings)
            return try HTTPSession(configuration)
        }
        let (small, large) = (try session(upTo: 2), try session(upTo: 100))
        try await large.get("http://host-0.test/")
        for number in 0..<10 { try await small.get(HTTP.Target("http://host-\(number).test/")) }
        try await large.get("http://host-0.test/")
        #expect(factory.live.filter { $0.key[1...].contains("host-0.test") }.map(\.total) == [3])
        // What only one had is destroyed by that one.
        #expect(factory.live.count == 3 && factory.destroyed == 7 && factory.problems == [])
    }

    @Test func `Of the labels of ever new sessions the first hundred sets are reported`() async throws {
        let (metrics, transport) = (TestMetrics(), MockTransport())
        transport.otherwise { _ in .respond() }
        var settings = HTTPSession.MetricsSettings(factory: metrics)
        for number in 0..<150 {
            settings.labels = ["client": "\(number)"]
            var configuration = HTTPSession.Configuration(baseURL: "http://api.test", transport: transport)
            configuration.measure(with: settings)
            try await HTTPSession(configuration).get("a")
        }
        let series = metrics.series(Self.duration)
        #expect(series.count == 101)
        #expect(series.filter { $0["client"] == "_other" }.map(\.values.count) == [50])
    }

    @Test func `Sessions with copies of one value share handlers`() async throws {
        let factory = StrictFactory()
        let settings = HTTPSession.MetricsSettings(factory: factory)
        for _ in 0..<3 {
            let transport = MockTransport()
            transport.on(.get, "/a").respond()
            var configuration = HTTPSession.Configuration(baseURL: "http://api.test", transport: transport)
            configuration.measure(with: settings)
            _ = try await HTTPSession(configuration).get("a", as: .string)
        }
        #expect(factory.live.filter { $0.key.first == Self.duration }.map(\.total) == [3])
    }
}
