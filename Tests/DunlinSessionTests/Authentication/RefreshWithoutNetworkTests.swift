import Dunlin
import DunlinTesting
import LeakChecking
import Mocking
import Synchronization
import Testing

/// Refreshes that find no network, and refreshes that a session does not outlive.
@Suite(.leakChecked, .timeLimit(.minutes(10))) struct `A refresh that cannot be made` {
    private static let noWay = NetworkError(
        .connectionFailed, "no address accepted a connection", phase: .connect, isSafeToRetry: true,
        underlying: NetworkError.ConnectionFailures([
            .init(address: .v4(0x0101_0101, port: 80), errno: 101, reason: "Network is unreachable")
        ]))

    private static func mocked(_ change: (inout HTTPSession.Configuration) throws -> Void) throws -> Mocked {
        try Mocked {
            $0.useLoopOfTest()
            $0.authentication = .bearer(refreshTimeout: .seconds(1000)) { client in
                .init(try await client.post("/token", as: .string).value)
            }
            try change(&$0)
        }
    }

    @Test func `a refresh without a network waits for one as its request would`() async throws {
        let network = ManualNetwork()
        let mock = try Self.mocked {
            $0.waitsForConnectivity = true
            $0.reachability = Reachability(source: network)
        }
        mock.transport.on(.post, "/token").fail(Self.noWay).fail(Self.noWay).respond(body: "t")
        mock.transport.on(.get, "/x").respond(body: "in")
        async let value = mock.session.get("x", as: .string).value
        try await eventually("it looks", following: network) { network.lookCount >= 1 }
        network.change(to: .wifi)
        try await mock.transport.waitForRequests(2)
        // That was too early, or it went again.
        network.change(to: .notReachable)
        network.change(to: .wired)
        #expect(try await value == "in")
        #expect(mock.transport.requests.map(\.path) == ["/token", "/token", "/token", "/x"])
        await mock.session.shutdown()
        #expect(network.listenerCount == 0)
    }

    @Test(arguments: [true, false])
    func `a policy for failed connections has a request sent again whose refresh reached nobody`(
        isCovered: Bool
    ) async throws {
        let mock = try Self.mocked {
            $0.retry = .constant(
                attempts: 3, every: .zero, when: isCovered ? [.connectionFailure] : [.timeout], budget: .unlimited)
        }
        mock.transport.on(.post, "/token").fail(Self.noWay).fail(Self.noWay).respond(body: "t")
        mock.transport.on(.get, "/x").respond(body: "in")
        let options = HTTPSession.Options()
        let error = try await networkError { _ = try await mock.session.get("x", options: options, as: .string) }
        #expect(error?.code == (isCovered ? nil : .authenticationFailed))
        #expect((error?.underlying as? NetworkError)?.code == (isCovered ? nil : .connectionFailed))
        await mock.session.shutdown()
    }

    @Test(arguments: [(101, 2), (111, 1), (110, 1)] as [(Int32, Int)])
    func `a refresh that found no network is followed by no pause, and one that the server refused is`(
        errno: Int32, refreshes: Int
    ) async throws {
        let failure = NetworkError(
            .connectionFailed, "no address accepted a connection", phase: .connect, isSafeToRetry: true,
            underlying: NetworkError.ConnectionFailures([
                .init(address: .v4(0x0101_0101, port: 80), errno: errno, reason: "of the table")
            ]))
        let mock = try Self.mocked { try $0.use(ManualClock()) }
        mock.transport.on(.post, "/token").fail(failure).fail(failure)
        for _ in 0..<2 {
            let error = try await networkError { _ = try await mock.session.get("x", as: .string) }
            #expect(error?.code == .authenticationFailed)
        }
        #expect(mock.transport.requests.count == refreshes)
        await mock.session.shutdown()
    }

    @Test(arguments: [true, false])
    func `a shutdown ends a refresh and waits for its code, and a restart begins another`(obeys: Bool) async throws {
        let (begun, mayEnd) = (LoopbackServer.Gate(), LoopbackServer.Gate())
        let ends = Mutex(0)
        let calls = Mutex(0)
        let mock = try Mocked {
            $0.useLoopOfTest()
            $0.authentication = .bearer(refreshTimeout: .seconds(1000)) { _ in
                let number = calls.withLock { calls in
                    calls += 1
                    return calls
                }
                if number > 1 { return .init("t") }
                begun.open()
                defer { ends.withLock { $0 += 1 } }
                if obeys {
                    for await _ in AsyncStream<Void>.makeStream().stream {}
                    try Task.checkCancellation()
                } else {
                    try await Task { try await mayEnd.opened() }.value
                }
                return .init("late")
            }
        }
        mock.transport.otherwise { _ in .respond(body: "in") }
        let waiting = Task { try await networkError { _ = try await mock.session.get("x", as: .string) } }
        try await begun.opened()
        async let count = mock.session.shutdown()
        #expect(try await waiting.value?.code == .cancelled)
        mayEnd.open()
        #expect(await count == 1)
        #expect(ends.withLock { $0 } == 1, "its code is over")
        await mock.session.restart()
        #expect(try await mock.session.get("x", as: .string).value == "in")
        #expect(mock.transport.requests.last?.fields["authorization"] == (obeys ? "Bearer t" : "Bearer late"))
        await mock.session.shutdown()
    }

    @Test func `a refresh that shuts its session down is not waited for by itself`() async throws {
        let mock = try Mocked {
            $0.useLoopOfTest()
            $0.authentication = .bearer { client in
                await client.shutdown()
                return "t"
            }
        }
        let error = try await networkError { _ = try await mock.session.get("x", as: .string) }
        #expect(error?.code == .cancelled)
        await mock.session.shutdown()
    }
}
