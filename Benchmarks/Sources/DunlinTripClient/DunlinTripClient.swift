import BenchmarkLoad
import Dunlin

/// The way to the session's loop and back, and nothing else: an ordinary caller on the default pool, without a request.
/// What a request costs such a caller more than one on the loop can be compared with it.
@main
struct DunlinTripClient {
    static func main() async throws {
        let load = try Load()
        let session = try HTTPSession()
        try await load.measure(Trip(session: session, reply: Reply(status: 200, length: load.length)))
        await session.shutdown()
    }
}

private struct Trip: Sender {
    let session: HTTPSession
    let reply: Reply

    func send() async throws -> Reply {
        try await session.onEventLoop { @concurrent in reply }
    }
}
