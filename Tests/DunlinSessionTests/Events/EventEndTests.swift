import Dunlin
import DunlinTesting
import LedgerRows
import Mocking
import Testing

@Suite(.timeLimit(.minutes(10)))
struct `A session's events` {
    @Test(.rows("SM-14")) func `a session's events end when the session is released without being shut down`()
        async throws
    {
        let events: AsyncStream<HTTPSession.Event>
        do {
            let mock = try Mocked()
            events = mock.session.events
            mock.transport.on(.get, "/").respond(body: "x")
            _ = try await mock.session.get("/", as: .bytes)
        }
        var count = 0
        for await _ in events { count += 1 }
        #expect(count == 2)
    }
}
