import BenchmarkLoad
import Dunlin
import DunlinLoad

/// Dunlin as an ordinary caller uses it: tasks on the default pool, nothing said about executors.
@main
struct DunlinClient {
    static func main() async throws {
        let load = try Load()
        let session = try load.session()
        try await load.measure(session)
        await session.shutdown()
    }
}
