import Dunlin
import DunlinTesting

/// A server that is overloaded, then breaks off, then answers.
struct RetryDemo: DemoPart {
    let title = "Failures, retried"
    let code = "configuration.retry = .exponential(attempts: 4)"

    func run(on page: DemoPage) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.enqueue(
            .response(.serviceUnavailable), .response(body: "never complete").resetAfter(48), .response(body: "ready"))
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        configuration.retry = .exponential(attempts: 4, base: .milliseconds(900))
        configuration.hooks.retrying = { _, retry in
            page.say("\(retry.cause); trying again in \(retry.wait.readable)")
        }
        try await withSession(configuration) { client in
            let response = try await client.get("status", as: .string)
            page.say("\(response.status) at attempt \(response.retries.count + 1): \(response.value)")
        }
    }
}
