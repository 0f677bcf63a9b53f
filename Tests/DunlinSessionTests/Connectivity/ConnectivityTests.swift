import Dunlin
import DunlinFoundation
import DunlinReactor
import DunlinTesting
import LeakChecking
import LedgerRows
import Mocking
import Synchronization
import Testing

/// Requests that wait for a network, over a transport that has none at first.
@Suite(.leakChecked, .timeLimit(.minutes(10))) struct `A request without a network` {
    private static let noWay = NetworkError(
        .connectionFailed, "no address accepted a connection", phase: .connect, isSafeToRetry: true,
        peer: "http://api.test",
        underlying: NetworkError.ConnectionFailures([
            .init(address: .v4(0x0101_0101, port: 80), errno: 101, reason: "Network is unreachable")
        ]))
    private static let nameless = NetworkError(
        .nameNotResolved, "api.test was not resolved", phase: .resolve, isSafeToRetry: true)

    private final class Told: Sendable {
        private let state = Mutex<[String]>([])
        var lines: [String] { state.withLock { $0 } }
        func append(_ line: String) { state.withLock { $0.append(line) } }
    }

    private static func mocked(
        _ network: ManualNetwork, waits: Bool = true, _ told: Told = Told()
    ) throws -> Mocked {
        try Mocked {
            $0.useLoopOfTest()
            $0.waitsForConnectivity = waits
            $0.reachability = Reachability(source: network)
            $0.hooks.waitingForConnectivity = { task, error in told.append("\(task.state) \(error.code)") }
        }
    }

    @Test(arguments: [noWay, nameless])
    func `a request without a network waits for one, says so once, and is then sent`(error: NetworkError) async throws {
        let (network, told) = (ManualNetwork(), Told())
        let mocked = try Self.mocked(network, told)
        mocked.transport.on(.post, "/x").fail(error).fail(error).respond(body: "there")
        async let response = mocked.session.post("x", body: .bytes("body"), as: .string)
        try await mocked.transport.waitForRequests(1)
        // Something changes, and there is still no way.
        try await eventually("it looks", following: network) { network.lookCount >= 1 }
        network.hint()
        try await eventually("it looks again", following: network) { network.lookCount >= 2 }
        network.change(to: .wifi)
        try await mocked.transport.waitForRequests(2)
        // That was too early, or it went again.
        network.change(to: .notReachable)
        network.change(to: .wired)
        let answer = try await response
        #expect(answer.value == "there")
        #expect(told.lines.count == 1)
        #expect(mocked.transport.requests.count == 3)
        await mocked.session.shutdown()
        #expect(network.listenerCount == 0)
    }

    @Test func `a request without a network fails at once unless it was asked to wait`() async throws {
        let network = ManualNetwork()
        let mocked = try Self.mocked(network, waits: false)
        mocked.transport.on(.get, "/x").fail(Self.noWay)
        let error = try await networkError { _ = try await mocked.session.get("x", as: .bytes) }
        #expect(error?.code == .connectionFailed && error?.foundationCode == .notConnected)
        #expect(network.lookCount == 0)
        // A request may say otherwise.
        mocked.transport.on(.get, "/y").fail(Self.noWay).respond(body: "y")
        var options = HTTPSession.Options()
        options.waitsForConnectivity = true
        async let waiting = mocked.session.get("y", options: options, as: .string).value
        try await eventually("it looks", following: network) { network.lookCount >= 1 }
        network.change(to: .wwan)
        #expect(try await waiting == "y")
        await mocked.session.shutdown()
    }

    @Test(arguments: [
        NetworkError(
            .connectionFailed, "", phase: .connect,
            underlying: NetworkError.ConnectionFailures([
                .init(address: .v4(0x0101_0101, port: 80), errno: 111, reason: "refused")
            ])),
        NetworkError(.timedOut, "", phase: .firstByte, requestMayHaveBeenSent: true),
        NetworkError(
            .connectionFailed, "", phase: .connect, requestMayHaveBeenSent: true,
            underlying: NetworkError.ConnectionFailures([
                .init(address: .v4(0x0101_0101, port: 80), errno: 101, reason: "sent")
            ])),
    ])
    func `a request that was refused, or may have been sent, does not wait for a network`(error: NetworkError)
        async throws
    {
        let network = ManualNetwork()
        let mocked = try Self.mocked(network)
        mocked.transport.on(.get, "/x").fail(error)
        let thrown = try await networkError { _ = try await mocked.session.get("x", as: .bytes) }
        #expect(thrown?.code == error.code)
        #expect(network.lookCount == 0)
        await mocked.session.shutdown()
    }

    @Test func `a request whose host has no address does not wait where there is a network`() async throws {
        let mocked = try Self.mocked(ManualNetwork(.wired))
        mocked.transport.on(.get, "/x").fail(Self.nameless)
        let error = try await networkError { _ = try await mocked.session.get("x", as: .bytes) }
        #expect(error?.code == .nameNotResolved)
        await mocked.session.shutdown()
    }

    @Test func `a wait for a network ends at the total limit, and the error says what it waited for`() async throws {
        let network = ManualNetwork()
        let clock = ManualClock()
        let loop = try PrivateLoop(clock: clock)
        let mocked = try Mocked {
            $0.use(loop)
            $0.waitsForConnectivity = true
            $0.reachability = Reachability(source: network)
            $0.timeouts.total = .seconds(90)
        }
        mocked.transport.on(.get, "/x").fail(Self.noWay)
        async let failure = networkError { _ = try await mocked.session.get("x", as: .bytes) }
        try await eventually("it looks", following: network) { network.lookCount >= 1 }
        try await clock.advance(by: .seconds(89))
        network.hint()
        try await eventually("it looks again", following: network) { network.lookCount >= 2 }
        try await clock.advance(by: .seconds(2))
        let error = try await failure
        #expect(error?.code == .timedOut && error?.phase == .connect)
        #expect(error?.exceeded == .total && error?.limit == .seconds(90))
        #expect(error?.reason == "timed out waiting for a network to the host")
        #expect((error?.underlying as? NetworkError)?.code == .connectionFailed)
        #expect(error?.requestMayHaveBeenSent == false && error?.isSafeToRetry == true)
        #expect(network.listenerCount == 0)
        await mocked.session.shutdown()
        try await loop.verifyNothingLeft()
    }

    @Test(arguments: [false, true])
    func `a request that waits for a network can be cancelled`(byTask: Bool) async throws {
        let network = ManualNetwork()
        let mocked = try Self.mocked(network)
        mocked.transport.on(.get, "/x").fail(Self.noWay)
        let task = Task { try await mocked.session.get("x", as: .bytes).value }
        try await eventually("it looks", following: network) { network.lookCount >= 1 }
        #expect(await mocked.session.tasks.all.first?.phase == .connect)
        if byTask { task.cancel() } else { await mocked.session.tasks.cancelAll() }
        switch await task.result {
        case .success: Issue.record("it cannot have succeeded")
        case .failure(let error):
            #expect(error is CancellationError == byTask)
            if !byTask { #expect((error as? NetworkError)?.code == .cancelled) }
        }
        await mocked.session.shutdown()
        #expect(network.listenerCount == 0)
    }

    @Test func `a request may be cancelled at any moment while networks come and go`() async throws {
        let network = ManualNetwork()
        let mocked = try Self.mocked(network)
        for index in 0..<100 {
            mocked.transport.on(.get, "/\(index)").fail(Self.noWay).fail(Self.nameless).respond(body: "x")
        }
        // In the end there is one.
        let loop = try ReactorGroup.shared.reactors()[0]
        let world = Task {
            while !Task.isCancelled {
                let soon = loop.now().advanced(by: 20_000_000)
                _ = await ValueWaiter<Void>(on: loop).wait(until: soon, cancellation: nil)
                network.change(to: .wired)
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<100 {
                group.addTask {
                    let request = Task { try await mocked.session.get(.init("\(index)"), as: .string).value }
                    for _ in 0..<(index % 11) { await Task.yield() }
                    network.change(to: index.isMultiple(of: 3) ? .notReachable : .wifi)
                    if index.isMultiple(of: 2) { request.cancel() }
                    switch await request.result {
                    case .success(let value): #expect(value == "x")
                    case .failure(let error): #expect(error is CancellationError, "\(error)")
                    }
                }
            }
        }
        world.cancel()
        await world.value
        await mocked.session.shutdown()
        #expect(network.listenerCount == 0)
    }

    @Test(.rows("SM-4", "RE-14", "NO-15"))
    func `observers are told of a wait for a network, and of the network if that is asked for`() async throws {
        let network = ManualNetwork()
        let mocked = try Mocked {
            $0.useLoopOfTest()
            $0.waitsForConnectivity = true
            $0.emitsReachabilityEvents = true
            $0.reachability = Reachability(source: network)
        }
        #expect(network.listenerCount == 0, "nobody listens yet")
        var events = mocked.session.events.makeAsyncIterator()
        mocked.transport.on(.get, "/x").fail(Self.noWay).respond(body: "x")
        async let value = mocked.session.get("x", as: .string).value
        var told: [String] = []
        while let event = await events.next() {
            switch event {
            case .resumed: told.append("resumed")
            case .waitingForConnectivity(_, let error):
                told.append("waiting \(error.code)")
                network.change(to: .wifi)
            case .reachability(let status): told.append("\(status)")
            case .completed: told.append("completed")
            default: Issue.record("\(event)")
            }
            if told.contains("completed"), told.contains("Reachable via WiFi") { break }
        }
        #expect(try await value == "x")
        #expect(
            told.filter { !$0.hasPrefix("Reach") && !$0.hasPrefix("Not") }
                == ["resumed", "waiting connectionFailed", "completed"])
        #expect(told.contains("Reachable via WiFi"))
        await mocked.session.shutdown()
        #expect(network.listenerCount == 0)
    }
}
