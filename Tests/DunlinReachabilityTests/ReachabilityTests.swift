import Dunlin
import DunlinTesting
import LedgerRows
import Mocking
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A reachability` {
    @Test(.rows("RE-4", "RE-6", "RE-7", "RE-9"))
    func `a reachability tells its status first, and then each change of it`() async throws {
        let network = ManualNetwork(.wifi)
        let reachability = Reachability(source: network)
        #expect(reachability.status == .unknown && !reachability.isReachable)
        var statuses = reachability.statuses.makeAsyncIterator()
        var seen: [Reachability.Status?] = [await statuses.next()]
        for status: Reachability.Status in [.notReachable, .wwan, .unknown, .wired] {
            network.hint()
            network.change(to: status)
            seen.append(await statuses.next())
        }
        #expect(seen == [.wifi, .notReachable, .wwan, .unknown, .wired])
        #expect(reachability.status == .wired && reachability.isReachable)
    }

    @Test(.rows("RE-9")) func `an observer of paths is told the result of every look`() async throws {
        let network = ManualNetwork(.wired)
        let reachability = Reachability(source: network)
        var paths = reachability.paths.makeAsyncIterator()
        for _ in 0..<3 {
            let path = await paths.next()
            #expect(path?.status == .wired && path?.interface?.name == "eth0")
            network.hint()
        }
    }

    @Test(.rows("RE-10")) func `a reachability has any number of observers, and looks once for all of them`()
        async throws
    {
        let network = ManualNetwork(.wired)
        let reachability = Reachability(source: network)
        try await withThrowingTaskGroup(of: [Reachability.Status].self) { group in
            for _ in 0..<50 {
                group.addTask {
                    var seen: [Reachability.Status] = []
                    for await status in reachability.statuses {
                        seen.append(status)
                        if status == .notReachable { break }
                    }
                    return seen
                }
            }
            try await eventually("it is known", following: network) { reachability.status == .wired }
            #expect(network.listenerCount == 1)
            network.change(to: .notReachable)
            for try await seen in group { #expect(seen == [.wired, .notReachable] || seen == [.notReachable]) }
        }
        try await eventually("nobody listens", following: network) { network.listenerCount == 0 }
        #expect(!reachability.isObserved)
    }

    @Test(.rows("RE-6", "RE-14"))
    func `a reachability looks only while it has an observer, and begins anew with the next`() async throws {
        let network = ManualNetwork(.wired)
        let reachability = Reachability(source: network)
        #expect(network.listenerCount == 0 && !reachability.isObserved)
        #expect(try await reachability.firstKnownStatus() == .wired)
        try await eventually("nobody listens", following: network) { network.listenerCount == 0 }
        network.change(to: .notReachable)
        #expect(reachability.status == .wired, "what was known last")
        #expect(try await reachability.firstKnownStatus() == .notReachable)
        _ = reachability.statuses
        try await eventually("nobody listens", following: network) { network.listenerCount == 0 }
    }

    @Test(.rows("RE-8")) func `a reachability that was stopped ends its streams and keeps its last status`()
        async throws
    {
        let network = ManualNetwork(.wired)
        let reachability = Reachability(source: network)
        var known = reachability.statuses.makeAsyncIterator()
        var unasked = reachability.statuses.makeAsyncIterator()
        _ = await known.next()
        network.change(to: .notReachable)
        try await eventually("it is known", following: network) { reachability.status == .notReachable }
        reachability.stop()
        network.change(to: .wwan)
        #expect(await known.next() == nil)
        #expect(await unasked.next() == nil)
        #expect(reachability.status == .notReachable)
        #expect(try await reachability.firstKnownStatus() == .wwan)
    }

    @Test(.rows("RE-12")) func `the streams of a reachability end with it`() async throws {
        let network = ManualNetwork(.wired)
        var reachability: Reachability? = Reachability(source: network)
        var statuses = reachability?.statuses.makeAsyncIterator()
        _ = await statuses?.next()
        reachability = nil
        #expect(await statuses?.next() == nil)
        try await eventually("nobody listens", following: network) { network.listenerCount == 0 }
    }

    @Test(.rows("RE-13")) func `a wait for a reachable network ends when its task is cancelled`() async throws {
        let network = ManualNetwork()
        let reachability = Reachability(source: network)
        let waiting = Task { try await reachability.waitUntilReachable() }
        try await eventually("it is known", following: network) { reachability.status == .notReachable }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        let patient = Task { try await reachability.waitUntilReachable() }
        network.change(to: .wifi)
        try await patient.value
    }

    @Test func `observers that come and go, are cancelled or stopped leave nothing behind`() async throws {
        let network = ManualNetwork()
        let reachability = Reachability(source: network)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<100 {
                group.addTask {
                    let listener = Task {
                        for await status in reachability.statuses where status == .wwan { break }
                        return try await reachability.firstKnownStatus()
                    }
                    for _ in 0..<(index % 7) { await Task.yield() }
                    network.change(to: index.isMultiple(of: 2) ? .wwan : .notReachable)
                    if index.isMultiple(of: 3) { listener.cancel() }
                    if index.isMultiple(of: 50) { reachability.stop() }
                    network.change(to: .wwan)
                    _ = await listener.result
                }
            }
            try await group.waitForAll()
        }
        try await eventually("nobody watches", following: network) {
            network.listenerCount == 0 && !reachability.isObserved
        }
    }

    // MARK: - Hosts and addresses

    @Test(.rows("RE-4")) func `the reachability of an address is that of the way to it`() async throws {
        let network = ManualNetwork()
        let near = HTTP.SocketAddress.v4(0xC0A8_0101, port: 80)
        network.change(to: .wifi, for: near)
        #expect(try await Reachability.address(near, source: network).firstKnownStatus() == .wifi)
        let far = HTTP.SocketAddress.v4(0x0808_0808, port: 443)
        #expect(try await Reachability.address(far, source: network).firstKnownStatus() == .notReachable)
    }

    @Test(.rows("RE-16"), arguments: ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "localhost", "10.0.0.1"])
    func `the reachability of a host on this machine needs no network`(host: String) async throws {
        let network = ManualNetwork()
        let reachability = Reachability.host(host, resolver: Names([.v4(0x7F00_0001, port: 0)]), source: network)
        #expect(try await reachability.firstKnownStatus() == (host == "10.0.0.1" ? .notReachable : .wired))
    }

    @Test(.rows("RE-4")) func `a host's reachability is the best of its addresses, looked up anew after a change`()
        async throws
    {
        let (four, six) = (HTTP.SocketAddress.v4(0x0101_0101, port: 0), HTTP.SocketAddress.v6(0x2001, 1, port: 0))
        let network = ManualNetwork()
        network.change(to: .wwan, for: six)
        let names = Names([four, six])
        let reachability = Reachability.host("host.test", resolver: names, source: network)
        var statuses = reachability.statuses.makeAsyncIterator()
        #expect(await statuses.next() == .wwan)
        names.answer = []
        network.hint()
        #expect(await statuses.next() == .notReachable)
        names.answer = [four]
        network.change(to: .wired, for: four)
        #expect(await statuses.next() == .wired)
        names.answer = nil
        network.hint()
        #expect(await statuses.next() == .notReachable)
    }

    @Test func `a look-up that is out of date is not waited for`() async throws {
        let network = ManualNetwork(.wired)
        let names = Names([.v4(0x0101_0101, port: 0)], hangs: 1)
        let reachability = Reachability.host("host.test", resolver: names, source: network)
        async let first = reachability.statuses.first { _ in true }
        try await eventually("the name is asked for") { names.asked == 1 }
        network.hint()
        #expect(await first == .wired)
        #expect(names.asked == 2)
    }

    // MARK: - Probes

    @Test(.rows("RE-17", "AP-6")) func `a reachability with a probe wants an answer as well as a way`() async throws {
        let network = ManualNetwork()
        let answers = Mutex([true, false])
        let probe = Reachability.Probe(every: .seconds(1000)) {
            try answers.withLock { answers in
                if answers.isEmpty { throw CancellationError() }
                return answers.removeLast()
            }
        }
        let reachability = Reachability(source: network, probing: probe)
        var paths = reachability.paths.makeAsyncIterator()
        #expect(await paths.next()?.status == .notReachable, "there is no way, so nobody is asked")
        #expect(answers.withLock { $0.count } == 2)
        for expected: Reachability.Status in [.notReachable, .wired, .notReachable] {
            network.change(to: .wired)
            #expect(await paths.next()?.status == expected)
        }
    }

    @Test(.rows("RE-17")) func `a probe is made again at its interval, though the network does not change`()
        async throws
    {
        let answers = Mutex(0)
        let told = LoopbackServer.Gate()
        var probe = Reachability.Probe {
            let isFirst = answers.withLock { count in
                count += 1
                return count == 1
            }
            if isFirst { return false }
            try await told.opened()
            return true
        }
        #expect(probe.interval == .seconds(60))
        probe.interval = .milliseconds(1)
        let reachability = Reachability(source: ManualNetwork(.wired), probing: probe)
        var paths = reachability.paths.makeAsyncIterator()
        #expect(await paths.next()?.status == .notReachable)
        told.open()
        #expect(await paths.next()?.status == .wired)
    }

    @Test func `a stored response says nothing of the server's reachability`() async throws {
        let mocked = try Mocked { $0.cache = HTTPSession.Cache() }
        mocked.transport.on(.get, "/health").respond(fields: ["Cache-Control": "max-age=1000"], body: "well")
        mocked.transport.on(.head, "/health").fail(NetworkError(.connectionFailed, "gone")).always()
        _ = try await mocked.session.get("/health", as: .bytes)
        let probe = Reachability.Probe.head("/health", of: mocked.session)
        let error = await #expect(throws: NetworkError.self) { _ = try await probe.check() }
        #expect(error?.code == .connectionFailed)
    }

    @Test(.rows("RE-17")) func `a server that answers a probe is reachable, whatever it answers`() async throws {
        let mocked = try Mocked()
        mocked.transport.on(.head, "/health").respond(.serviceUnavailable).always()
        let probe = Reachability.Probe.head("/health", of: mocked.session)
        #expect(try await probe.check())
        #expect(Reachability.Probe(every: .zero) { true }.interval == .seconds(1))
        let reachability = Reachability(source: ManualNetwork(.wifi), probing: probe)
        #expect(try await reachability.firstKnownStatus() == .wifi)
    }
}

/// Answers what it is told to; nil fails. The first few questions may get no answer at all.
private final class Names: Resolver {
    private let state: Mutex<(answer: [HTTP.SocketAddress]?, hangs: Int, asked: Int)>

    init(_ answer: [HTTP.SocketAddress], hangs: Int = 0) {
        state = Mutex((answer, hangs, 0))
    }

    var answer: [HTTP.SocketAddress]? {
        get { state.withLock { $0.answer } }
        set { state.withLock { $0.answer = newValue } }
    }

    var asked: Int { state.withLock { $0.asked } }

    func addresses(of host: String, port: UInt16) async throws -> [HTTP.SocketAddress] {
        let (answer, hangs) = state.withLock { state in
            state.asked += 1
            return (state.answer, state.asked <= state.hangs)
        }
        if hangs { for await _ in AsyncStream<Void>.makeStream().stream {} }
        guard let answer else { throw ResolverError(.unanswered, "no answer") }
        return answer
    }
}
