import Dunlin
import DunlinTesting
import LeakChecking
import Synchronization
import Testing

/// The trait that other suites rely on.
@Suite(.timeLimit(.minutes(10))) struct LeakCheckedTests {
    @Test func `a session that outlives its test is reported with what it holds`() async throws {
        let server = try LoopbackServer()
        server.respond { _ in .response(body: "hello") }
        let kept = Mutex<HTTPSession?>(nil)
        var trait = LeakChecked()
        trait.limit = .milliseconds(10)
        let test = try #require(Test.current)
        try await withKnownIssue {
            try await trait.provideScope(for: test, testCase: nil) { @concurrent in
                var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
                configuration.useLoopOfTest()
                // When all tests begin at once, a minute may pass before this one goes on.
                configuration.connections.idleTime = .seconds(1000)
                let session = try HTTPSession(configuration)
                #expect(try await session.get("/", as: .string).value == "hello")
                kept.withLock { $0 = session }
            }
        } matching: { issue in
            issue.comments.contains { "\($0)".contains("channels 1") }
        }
        server.stop()
    }

    @Test(.leakChecked) func `a session that is released leaves nothing behind`() async throws {
        let server = try LoopbackServer()
        server.respond { _ in .response(body: "hello") }
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        configuration.useLoopOfTest()
        #expect(try await HTTPSession(configuration).get("/", as: .string).value == "hello")
        server.stop()
    }
}
