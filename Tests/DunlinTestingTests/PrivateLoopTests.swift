import Dunlin
import DunlinTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct PrivateLoopTests {
    @Test func `an idle connection stays open until its session has gone`() async throws {
        let server = try LoopbackServer()
        server.respond { _ in .response(body: "hello") }
        let loop = try PrivateLoop()
        try await fetch(from: server, on: loop) {
            #expect(loop.openChannels == 1)
            let leak = await #expect(throws: PrivateLoop.Leak.self) {
                try await loop.verifyNothingLeft(within: .milliseconds(10))
            }
            #expect(leak?.channels == 1)
        }
        try await loop.verifyNothingLeft()
        #expect(loop.openChannels == 0)
        server.stop()
    }

    private func fetch(
        from server: LoopbackServer, on loop: PrivateLoop, _ then: () async throws -> Void
    ) async throws {
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        configuration.use(loop)
        // When all tests begin at once, a minute may pass before this one goes on.
        configuration.connections.idleTime = .seconds(1000)
        let session = try HTTPSession(configuration)
        #expect(try await session.get("/", as: .string).value == "hello")
        try await then()
        await session.shutdown()
    }
}
