import Dunlin
import DunlinTesting

/// The same request twice, with a cache.
struct CacheDemo: DemoPart {
    let title = "A cached response"
    let code = "configuration.cache = HTTPSession.Cache(.standard)"

    func run(on page: DemoPage) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.route(
            .get, "/rates",
            .response(fields: ["Cache-Control": "max-age=60"], body: "1.08").delayed(.milliseconds(180)))
        let cache = HTTPSession.Cache(.standard)
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        configuration.cache = cache
        try await withSession(configuration) { client in
            var uses: [String] = []
            for _ in 0..<2 {
                let start = ContinuousClock.now
                let response = try await client.get("rates", as: .string)
                let time = (ContinuousClock.now - start).readable
                guard let use = response.cacheUse else { return }
                uses.append("\(use.source.rawValue) in \(time)")
                await cache.waitUntilWritten()
            }
            let count = page.count(server.requests.count, "request")
            page.say("From \(uses.joined(separator: ", from ")); the server read \(count).")
        }
        await cache.close()
    }
}
