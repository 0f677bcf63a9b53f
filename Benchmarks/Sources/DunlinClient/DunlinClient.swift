import BenchmarkLoad
import Dunlin

/// Dunlin as an ordinary caller uses it: tasks on the default pool, nothing said about executors.
@main
struct DunlinClient {
    static func main() async throws {
        let load = try Load()
        let target = HTTPSession.Target(load.path)
        var configuration = HTTPSession.Configuration(baseURL: "http://\(load.host):\(load.port)")
        configuration.connections.perOrigin = load.concurrency
        configuration.connections.total = load.concurrency
        let session = try HTTPSession(configuration)
        try await load.measure {
            let response = try await session.get(target, as: .bytes)
            return Reply(status: Int(response.status.code), length: response.value.count)
        }
        await session.shutdown()
    }
}
