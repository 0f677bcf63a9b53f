import Dunlin
import DunlinReactor
import DunlinTesting
import DunlinTypes
import Testing

/// A loopback server, a session on a loop of its own, and the promise that nothing of either is left afterwards.
struct Stage: Sendable {
    let server: LoopbackServer
    let loop: PrivateLoop
    let session: HTTPSession

    /// Runs a test on a stage of its own; ends with the loop's ledger at zero and no complaint of the server's.
    static func with(
        _ endpoint: LoopbackServer.Endpoint = .ipv4, server: LoopbackServer.Configuration = .init(),
        clock: ManualClock? = nil, tolerating: Bool = false,
        configure: (inout HTTPSession.Configuration) -> Void = { _ in }, _ play: (Stage) async throws -> Void
    ) async throws {
        let server = try LoopbackServer(endpoint, configuration: server)
        defer { server.stop() }
        let loop = try clock.map { try PrivateLoop(clock: $0) } ?? PrivateLoop()
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        if case .unix(let path) = server.address { configuration.socketPath = path }
        configuration.use(loop)
        configure(&configuration)
        do {
            let session = try HTTPSession(configuration)
            try await play(Stage(server: server, loop: loop, session: session))
            await session.shutdown()
        }
        try await loop.verifyNothingLeft()
        if !tolerating { #expect(server.failures.isEmpty) }
    }

    /// Looks now and then whether `condition` holds; fails after a generous while. Waits on a loop, not on a thread
    /// that others need.
    func eventually(_ what: String, _ condition: () -> Bool) async throws {
        let loop = try ReactorGroup.shared.reactors()[0]
        let start = loop.now()
        while !condition() {
            try #require(loop.now().duration(since: start) < .seconds(30), "never came: \(what)")
            _ = await Parking<Void>(on: loop).wait(until: loop.now().advanced(by: 1_000_000), interrupt: nil)
        }
    }

    /// Proves that earlier mishaps left the session fit for use.
    func expectHealthy() async throws {
        server.onConnect { _ in .accept }
        server.route(.get, "/health", .response(body: "fit"))
        #expect(try await session.get("health", as: .string).value == "fit")
    }
}

extension NetworkError {
    /// The `NetworkError` that `work` throws; anything else fails the test.
    static func thrown(_ work: () async throws -> Void) async throws -> NetworkError {
        do {
            try await work()
        } catch let error as NetworkError {
            return error
        }
        throw NothingThrown()
    }

    struct NothingThrown: Error {}
}
