import CoreMetrics
import Dunlin
import DunlinMetrics
import DunlinTesting
import Foundation
import MetricsTestKit
import Testing

@Suite("Metrics of connections")
struct ConnectionMetricsTests {
    static let open = "http.client.open_connections"

    private static func ended(_ host: String, _ uses: Int = 3) -> HTTP.EndedConnection {
        HTTP.EndedConnection(
            number: 1, origin: HTTP.Origin(scheme: .https, host: host), reason: .idle, age: .milliseconds(1500),
            uses: uses)
    }

    @Test(arguments: [false, true])
    func `A closed connection has a reason, an age and a number of uses`(isDevelopment: Bool) throws {
        let metrics = TestMetrics()
        var settings = HTTPSession.MetricsSettings(factory: metrics)
        settings.includesDevelopment = isDevelopment
        var configuration = HTTPSession.Configuration()
        configuration.measure(with: settings)
        configuration.observers[0].connectionEnded(Self.ended("api.test"))
        let server = ["server.address": "api.test", "server.port": "443"]
        let ended = try metrics.only("dunlin.client.connections.ended")
        #expect(ended.labels == server.merging(["dunlin.reason": "idle"]) { $1 })
        #expect(ended.values == [1])
        #expect(try metrics.only("dunlin.client.connection.uses").values == [3])
        let ages = metrics.series("http.client.connection.duration")
        #expect(ages.map(\.values) == (isDevelopment ? [[1_500_000_000]] : []))
        #expect(ages.map(\.labels) == (isDevelopment ? [server] : []))
    }

    @Test(arguments: [
        (HTTP.SocketAddress.v4(0x7F00_0001, port: 443), "127.0.0.1"), (.v6(0, 1, port: 443), "::1"),
        (.unix("/run/x"), "_other"), (nil, nil),
    ])
    func `A closed connection says whom it was connected to, if that is wanted`(
        peer: HTTP.SocketAddress?, label: String?
    ) throws {
        let metrics = TestMetrics()
        var settings = HTTPSession.MetricsSettings(factory: metrics)
        (settings.includesDevelopment, settings.includesPeers, settings.hostLimit) = (true, true, 2)
        var configuration = HTTPSession.Configuration()
        configuration.measure(with: settings)
        var ended = Self.ended("api.test")
        ended.peer = peer
        configuration.observers[0].connectionEnded(ended)
        let age = try metrics.only("http.client.connection.duration")
        #expect(age["network.peer.address"] == label && age["network.protocol.version"] == "1.1")
        #expect(try metrics.only("dunlin.client.connections.ended")["network.peer.address"] == nil)
        for address: UInt32 in 1...9 {
            ended.peer = .v4(address, port: 443)
            configuration.observers[0].connectionEnded(ended)
        }
        let labels = Set(metrics.series("http.client.connection.duration").map { $0["network.peer.address"] })
        #expect(labels.contains("_other") && labels.count <= 4)
    }

    @Test(arguments: [false, true])
    func `A body over a socket is measured without its head and its framing`(expectsContinue: Bool) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in .response(body: "hello") }
        let metrics = TestMetrics()
        var settings = HTTPSession.MetricsSettings(factory: metrics)
        settings.includesDevelopment = true
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        configuration.measure(with: settings)
        let client = try HTTPSession(configuration)
        let large = Bytes([UInt8](repeating: 7, count: 3_000_000))
        let bodies: [RequestBody] = [
            .bytes("12345"), .bytes(large), .stream(AsyncStream { Self.feed($0) }),
            .stream(AsyncStream { Self.feed($0) }, length: 6), .file(#filePath),
        ]
        for body in bodies {
            let options = HTTPSession.Options(expectsContinue: expectsContinue)
            _ = try await client.post("a", body: body, options: options, as: .bytes)
        }
        let sizes = try metrics.only("http.client.request.body.size")
        let file = try Data(contentsOf: URL(filePath: #filePath)).count
        #expect(sizes.values == [5, 3_000_000, 6, 6, Double(file)])
        #expect(server.requests.map(\.bodyCount) == [5, 3_000_000, 6, 6, file])
        await client.shutdown()
    }

    private static func feed(_ continuation: AsyncStream<Bytes>.Continuation) {
        continuation.yield("123")
        continuation.yield("456")
        continuation.finish()
    }

    @Test func `A host that is none is reported as another`() throws {
        let metrics = TestMetrics()
        var configuration = HTTPSession.Configuration()
        configuration.measure(with: HTTPSession.MetricsSettings(factory: metrics))
        for host in ["a\"b", "a\nb", "", String(repeating: "a", count: 254)] {
            configuration.observers[0].connectionEnded(Self.ended(host))
        }
        #expect(try metrics.only("dunlin.client.connections.ended")["server.address"] == "_other")
    }

    @Test func `Requests over sockets have phases, bytes, and one connection`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in .response(body: "hello") }
        let metrics = TestMetrics()
        var settings = HTTPSession.MetricsSettings(factory: metrics)
        settings.includesDevelopment = true
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        configuration.measure(with: settings)
        let client = try HTTPSession(configuration)
        for _ in 0..<3 { _ = try await client.get("a", as: .string) }
        await client.shutdown()
        let phases = metrics.series("dunlin.client.phase.duration")
        let counts = Dictionary(uniqueKeysWithValues: phases.map { ($0["dunlin.phase"] ?? "", $0.values.count) })
        #expect(counts["connect"] == 1)
        #expect(counts["firstByte"] == 3)
        #expect(try metrics.only("dunlin.client.bytes.sent").values.allSatisfy { $0 > 30 })
        #expect(try metrics.only("dunlin.client.bytes.received").values.allSatisfy { $0 > 30 })
        #expect(try metrics.only("http.client.response.body.size").values == [5, 5, 5])
        try await eventually("the connection's end is told") {
            metrics.series("dunlin.client.connections.ended").count == 1
        }
        #expect(try metrics.only("dunlin.client.connections.ended")["dunlin.reason"] == "shutDown")
        #expect(try metrics.only("dunlin.client.connection.uses").values == [3])
        let age = try #require(metrics.timers.first { $0.label == "http.client.connection.duration" })
        #expect(age.values.count == 1)
    }

    @Test func `Connections are measured while they are open, and are 0 afterwards`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in .response(body: "hello") }
        let metrics = TestMetrics()
        var settings = HTTPSession.MetricsSettings(factory: metrics)
        (settings.includesDevelopment, settings.includesPeers) = (true, true)
        let client = try HTTPSession(HTTPSession.Configuration(baseURL: server.baseURL))
        for _ in 0..<3 { _ = try await client.get("a", as: .string) }
        let measuring = Task { [settings] in
            await client.measureConnections(every: .milliseconds(1), with: settings)
        }
        try await eventually("connections are measured") { metrics.series(Self.open).count == 2 }
        let state: @Sendable (String) -> Series? = { state in
            metrics.series(Self.open).first { $0["http.connection.state"] == state }
        }
        #expect(state("idle")?.values.last == 1)
        #expect(state("idle")?["server.port"] == "\(server.port)")
        #expect(state("idle")?["network.protocol.version"] == "1.1")
        #expect(try metrics.only("dunlin.client.connections.opened").values == [1])
        #expect(try metrics.only("dunlin.client.connections.reused").values == [2])
        await client.shutdown()
        await measuring.value
        #expect(state("idle")?.values.last == 0)
        #expect(metrics.series("dunlin.client.requests.running").allSatisfy { $0.values.last ?? 0 == 0 })
    }

    @Test func `What two sessions have open adds up`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in .response(body: "hello") }
        let factory = StrictFactory()
        var settings = HTTPSession.MetricsSettings(factory: factory)
        settings.includesDevelopment = true
        let clients = try (0..<2).map { _ in try HTTPSession(HTTPSession.Configuration(baseURL: server.baseURL)) }
        for client in clients { _ = try await client.get("a", as: .string) }
        let measuring = Task { [settings] in
            await withTaskGroup { group in
                for client in clients {
                    group.addTask { await client.measureConnections(every: .milliseconds(1), with: settings) }
                }
            }
        }
        let idle: @Sendable () -> Int? = {
            factory.live.first { $0.key.first == Self.open && $0.key.last == "idle" }?.total
        }
        try await eventually("both are measured") { idle() == 2 }
        measuring.cancel()
        await measuring.value
        #expect(idle() == 0)
        #expect(factory.problems == [])
        for client in clients { await client.shutdown() }
    }
}
