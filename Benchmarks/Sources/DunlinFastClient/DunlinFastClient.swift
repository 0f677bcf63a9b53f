import BenchmarkLoad
import Dunlin

/// Dunlin in the fast lane: the whole load runs on the session's own loop, so no request changes threads.
@main
struct DunlinFastClient {
    static func main() async throws {
        let load = try Load()
        let target = HTTPSession.Target(load.path)
        var configuration = HTTPSession.Configuration(baseURL: "http://\(load.host):\(load.port)")
        configuration.connections.perOrigin = load.concurrency
        configuration.connections.total = load.concurrency
        let session = try HTTPSession(configuration)
        try await session.withExecutor { @concurrent in
            try await load.measure {
                let response = try await session.get(target, as: .bytes)
                return Reply(status: Int(response.status.code), length: response.value.count)
            }
        }
        await session.shutdown()
    }
}
