import BenchmarkLoad
import Dunlin
import DunlinLoad

/// Dunlin in the fast lane: the whole load runs on the session's own loop, so no request changes threads.
@main
struct DunlinFastClient {
    static func main() async throws {
        let load = try Load()
        let session = try load.session()
        try await session.onEventLoop { @concurrent in
            try await load.measure(session)
        }
        await session.shutdown()
    }
}
