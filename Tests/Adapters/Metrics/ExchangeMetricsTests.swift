import CoreMetrics
import Dunlin
import DunlinMetrics
import DunlinTesting
import MetricsTestKit
import Testing

@Suite("Metrics of exchanges")
struct ExchangeMetricsTests {
    static let duration = "http.client.request.duration"

    @Test func `An exchange is a duration in seconds with the labels of OpenTelemetry`() async throws {
        let measured = try Measured()
        measured.transport.on(.get, "/users/42").respond(body: "Ada")
        _ = try await measured.client.get("users/\(42)", as: .string)
        let timer = try #require(measured.metrics.timers.first { $0.label == Self.duration })
        #expect(timer.displayUnit == .seconds)
        #expect(timer.values.count == 1)
        #expect((timer.lastValue ?? 0) > 0)
        #expect(
            try measured.metrics.only(Self.duration).labels == [
                "http.request.method": "GET", "server.address": "api.test", "server.port": "8080",
                "http.response.status_code": "200", "network.protocol.version": "1.1",
            ])
    }

    @Test(arguments: [(HTTP.Status.ok, nil), (.found, nil), (.notFound, "404"), (.serviceUnavailable, "503")])
    func `A status of 400 or more is the type of the error`(status: HTTP.Status, error: String?) async throws {
        let measured = try Measured()
        measured.transport.on(.get, "/a").respond(status)
        _ = try? await measured.client.get("a", as: .string)
        let series = try measured.metrics.only(Self.duration)
        #expect(series["http.response.status_code"] == "\(status.code)")
        #expect(series["error.type"] == error)
    }

    @Test func `A failure has the code of its error, and no status`() async throws {
        let measured = try Measured()
        measured.transport.on(.get, "/a").fail(.connectionReset)
        var thrown: NetworkError?
        do { _ = try await measured.client.get("a", as: .string) } catch { thrown = error as? NetworkError }
        let series = try measured.metrics.only(Self.duration)
        #expect(series["error.type"] == thrown?.code.rawValue)
        #expect(series["http.response.status_code"] == nil)
        #expect(series["network.protocol.version"] == nil)
    }

    @Test func `A body that breaks off has both the status and the code`() async throws {
        let measured = try Measured()
        let error = NetworkError(.connectionClosed, "gone")
        measured.transport.on(.get, "/a").reply(.stream(["some"], length: 100, failing: error))
        _ = try? await measured.client.get("a", as: .string)
        let series = try measured.metrics.only(Self.duration)
        #expect(series["http.response.status_code"] == "200")
        #expect(series["error.type"] == "connectionClosed")
    }

    struct OwnError: Error {}

    @Test(arguments: [
        (NetworkError(NetworkError.Code("bad \"code\"\n"), "x") as any Error, "_OTHER"),
        (OwnError(), "interceptorFailed"),
        (NetworkError(NetworkError.Code("ownCode"), "x"), "ownCode"),
    ])
    func `A code that is no word is _OTHER`(error: any Error, type: String) async throws {
        let measured = try Measured(configuring: {
            $0.interceptors = [.exchange { _, _ in throw error }]
        })
        _ = try? await measured.client.get("a", as: .string)
        #expect(try measured.metrics.only(Self.duration)["error.type"] == type)
    }

    @Test func `A cancelled exchange is measured as cancelled`() async throws {
        let measured = try Measured()
        measured.transport.on(.get, "/a").never()
        let (client, transport) = (measured.client, measured.transport)
        let task = Task { try await client.get("a", as: .string) }
        try await transport.waitForRequests()
        task.cancel()
        _ = try? await task.value
        #expect(try measured.metrics.only(Self.duration)["error.type"] == "cancelled")
    }

    @Test func `Unknown methods are _OTHER, and a program says which ones it knows`() async throws {
        let measured = try Measured(measuring: { $0.knownMethods.insert("PURGE") })
        measured.transport.otherwise { _ in .respond() }
        for method in ["PURGE", "X-\(1)", "X-\(2)", "get"] {
            _ = try await measured.client.request("a", method: HTTP.Method(method), as: .string)
        }
        let methods = Set(measured.metrics.series(Self.duration).compactMap { $0["http.request.method"] })
        #expect(methods == ["PURGE", "_OTHER"])
    }

    @Test func `Each retry and each redirect is an exchange of its own`() async throws {
        let measured = try Measured(configuring: { $0.retry = .constant(attempts: 2, every: .zero) })
        measured.transport.on(.get, "/a").respond(.serviceUnavailable).thenRespond(
            .found, fields: ["Location": "http://other.test/b"])
        measured.transport.on(.get, "/b").respond(body: "done")
        _ = try await measured.client.get("a", as: .string)
        let series = measured.metrics.series(Self.duration)
        #expect(
            Set(series.map { "\($0["server.address"] ?? "") \($0["http.response.status_code"] ?? "")" })
                == ["api.test 503", "api.test 302", "other.test 200"])
        #expect(
            try measured.metrics.only("dunlin.client.retries").labels == [
                "http.request.method": "GET", "error.type": "503",
            ])
        #expect(try measured.metrics.only("dunlin.client.redirects").labels == ["http.response.status_code": "302"])
        let call = try measured.metrics.only("dunlin.client.request.duration")
        #expect(call.values.count == 1)
        #expect(call.labels == ["http.request.method": "GET"])
    }

    @Test func `A stream is measured when its body has ended`() async throws {
        let measured = try Measured()
        measured.transport.on(.get, "/a").stream(["one", "two"])
        let response = try await measured.client.stream("a")
        #expect(measured.metrics.series(Self.duration).isEmpty)
        for try await _ in response.body {}
        #expect(try measured.metrics.only(Self.duration).values.count == 1)
    }

    @Test func `Own metrics are off when they are not wanted`() async throws {
        let measured = try Measured(measuring: { $0.includesOwn = false })
        measured.transport.on(.get, "/a").respond()
        _ = try await measured.client.get("a", as: .string)
        #expect(measured.metrics.series.map(\.name) == [Self.duration])
    }

    @Test func `What is in development is off unless it is wanted`() async throws {
        for isWanted in [false, true] {
            let measured = try Measured(measuring: { $0.includesDevelopment = isWanted })
            measured.transport.on(.get, "/users/7").respond(body: "12345")
            _ = try await measured.client.get("users/\(7, name: "id")", as: .string)
            #expect(try measured.metrics.only(Self.duration)["url.template"] == (isWanted ? "/users/{id}" : nil))
            let names = Set(measured.metrics.series.map(\.name).filter { $0.hasPrefix("http.") })
            guard isWanted else {
                #expect(names == [Self.duration])
                continue
            }
            #expect(
                names == [Self.duration, "http.client.response.body.size", "http.client.active_requests"])
            #expect(try measured.metrics.only("http.client.response.body.size").values == [5])
            let active = try measured.metrics.only("http.client.active_requests")
            #expect(active.values == [1, 0])
            #expect(
                active.labels == [
                    "http.request.method": "GET", "server.address": "api.test", "server.port": "8080",
                    "url.template": "/users/{id}",
                ])
        }
    }

    @Test func `A request's body has a size, and one without has none`() async throws {
        let measured = try Measured(measuring: { $0.includesDevelopment = true })
        measured.transport.otherwise { _ in .respond() }
        _ = try await measured.client.get("a", as: .bytes)
        #expect(measured.metrics.series("http.client.request.body.size").isEmpty)
        _ = try await measured.client.post("a", body: .bytes("12345"), as: .bytes)
        let sizes = try measured.metrics.only("http.client.request.body.size")
        #expect(sizes.values == [5])
        #expect(measured.metrics.series(Self.duration).contains { $0.labels == sizes.labels })
        #expect(sizes["http.request.method"] == "POST" && sizes["http.response.status_code"] == "200")
    }

    @Test func `A template is that of the program, and not where a redirect leads`() async throws {
        let measured = try Measured(measuring: { $0.includesDevelopment = true })
        measured.transport.on(.get, "/users/7").respond(.found, fields: ["Location": "/people/7"])
        measured.transport.on(.get, "/people/7").respond()
        measured.transport.on(.get, "/variable/1").respond()
        _ = try await measured.client.get("users/\(7)?page=\(1)", as: .string)
        let variable = "variable/1"
        _ = try await measured.client.get(HTTP.Target(variable), as: .string)
        let series = measured.metrics.series(Self.duration)
        let templates = series.flatMap { series in series.values.map { _ in series["url.template"] ?? "-" } }
        #expect(templates.sorted() == ["-", "-", "/users/{}"])
    }

    @Test func `Labels of the session are in every metric, and none of them twice`() async throws {
        let measured = try Measured(measuring: {
            $0.labels = ["client": "billing", "server.address": "mine"]
        })
        measured.transport.on(.get, "/a").respond()
        _ = try await measured.client.get("a", as: .string)
        #expect(measured.metrics.series.allSatisfy { $0["client"] == "billing" })
        #expect(try measured.metrics.only(Self.duration)["server.address"] == "api.test")
    }

    @Test func `Labels without a value can be left out`() async throws {
        let measured = try Measured(measuring: { $0.omitsEmptyLabels = true })
        measured.transport.on(.get, "/a").respond()
        _ = try await measured.client.get("a", as: .string)
        #expect(
            Set(try measured.metrics.only(Self.duration).labels.keys) == [
                "http.request.method", "server.address", "server.port", "http.response.status_code",
                "network.protocol.version",
            ])
    }

    @Test func `To measure twice for one factory measures once`() async throws {
        let metrics = TestMetrics()
        let transport = MockTransport()
        transport.on(.get, "/a").respond()
        var configuration = HTTPSession.Configuration(baseURL: "http://api.test", transport: transport)
        let settings = HTTPSession.MetricsSettings(factory: metrics)
        configuration.measure(with: settings)
        configuration.measure(with: settings)
        _ = try await HTTPSession(configuration).get("a", as: .string)
        #expect(try metrics.only(Self.duration).values.count == 1)
    }

    @Test func `What is requested before the system has a factory is not measured, and all that follows is`()
        async throws
    {
        let transport = MockTransport()
        transport.otherwise { _ in .respond() }
        var configuration = HTTPSession.Configuration(baseURL: "http://api.test", transport: transport)
        configuration.measure()
        let client = try HTTPSession(configuration)
        _ = try await client.get("a", as: .bytes)
        let metrics = TestMetrics()
        MetricsSystem.bootstrap(metrics)
        _ = try await client.get("a", as: .bytes)
        #expect(try metrics.only(Self.duration).values.count == 1)
    }
}
