import BenchmarkLoad
import Dunlin

/// Dunlin as an ordinary caller uses it: tasks on the default pool, nothing said about executors.
@main
struct DunlinClient {
    static func main() async throws {
        let load = try Load()
        let path = String(load.path.drop { $0 == "/" })
        var configuration = HTTPSession.Configuration(baseURL: "http://\(load.host):\(load.port)")
        configuration.pool.connectionsPerOrigin = load.concurrency
        let session = try HTTPSession(configuration)
        try await load.measure {
            let response = try await session.get(path, as: .bytes)
            return Reply(status: Int(response.status.code), length: response.value.count)
        }
        await session.shutdown()
    }
}
