import Dunlin
import DunlinTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct `The guide to observers` {
    nonisolated struct SlowRequests: HTTPSession.Observer, HTTPSession.RequestObserver {
        func began(
            _ request: HTTPSession.TaskSnapshot
        ) -> (any HTTPSession.RequestObserver)? {
            self
        }

        func ended(_ end: HTTPSession.Completion) {
            if end.task.age > .seconds(1) { print("slow:", end) }
        }
    }

    @Test func `an observer of slow requests`() async throws {
        let transport = MockTransport()
        transport.on(.get, "/a").respond(body: "x")
        var configuration = HTTPSession.Configuration(baseURL: "http://api.test", transport: transport)

        configuration.observers.append(SlowRequests())

        #expect(try await HTTPSession(configuration).get("a", as: .string).value == "x")
    }
}
