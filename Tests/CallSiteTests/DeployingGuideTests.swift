import Dunlin
import DunlinTesting
import Testing

/// The snippets of the guide to deploying, word for word.
@Suite(.timeLimit(.minutes(10)))
struct `Guide to deploying` {
    private let transport = MockTransport()

    private func session(_ change: (inout HTTPSession.Configuration) -> Void = { _ in }) throws -> HTTPSession {
        try HTTPSession(baseURL: "https://api.test/") {
            $0.transport = transport
            try $0.use(ManualClock())
            change(&$0)
        }
    }

    @Test func `the limits of the example are accepted`() throws {
        let client = try session { configuration in
            configuration.connections.total = 200
            configuration.connections.perOrigin = 100
            configuration.queue.running = 500
            configuration.limits.bodyBytes = 4 << 20
        }
        #expect(client.configuration.connections.total == 200)
    }

    func isReady(_ client: HTTPSession) async -> Bool {
        let options = HTTPSession.Options(retry: .never)
        let answer = try? await client.get(
            "health", timeout: .seconds(1), options: options)
        return answer != nil
    }

    @Test func `a service that is down is not ready, after one request`() async throws {
        transport.on(.get, "/health").respond(.serviceUnavailable).thenRespond(body: "fit")
        let client = try session { $0.retry = .exponential(attempts: 3) }
        #expect(await isReady(client) == false)
        #expect(transport.requests.count == 1)
        #expect(await isReady(client))
    }
}
