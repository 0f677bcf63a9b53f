import Dunlin
import DunlinRules
import DunlinTesting
import Synchronization
import Testing

@testable import DunlinSession

@Suite struct `Waits in a circle` {
    /// A machine that expectations may change.
    private final class Machine {
        private var machine = WaitMachine<Int>()
        private var numbers: [Int: UInt64] = [:]

        func begin(_ call: Int, within outer: Set<Int>, for target: Int) -> Bool {
            numbers[call] = machine.begin(holdingUp: outer.union([call]), for: target)
            return numbers[call] != nil
        }

        func end(_ call: Int) { if let number = numbers[call] { machine.end(number) } }

        var isEmpty: Bool { machine.isEmpty }
    }

    @Test func `a wait outside a circle begins`() {
        let machine = Machine()
        #expect(machine.begin(1, within: [], for: 2))
        #expect(machine.begin(3, within: [], for: 2))
        #expect(machine.begin(4, within: [5], for: 2))
        #expect(machine.begin(6, within: [2], for: 7))
        for call in [1, 3, 4, 6] { machine.end(call) }
        #expect(machine.isEmpty)
    }

    @Test func `a call that is made within another never waits for that`() {
        let machine = Machine()
        #expect(!machine.begin(2, within: [1], for: 1))
        #expect(!machine.begin(3, within: [1, 2], for: 1))
        #expect(machine.isEmpty)
    }

    /// Each of as many calls makes one that would wait for the next call.
    @Test(arguments: 2...6) func `the wait that would close a circle does not begin`(count: Int) {
        let machine = Machine()
        for call in 0..<count {
            let begins = machine.begin(100 + call, within: [call], for: (call + 1) % count)
            #expect(begins == (call < count - 1))
        }
        // The one that did not wait has brought what it was made for, and all others may end.
        machine.end(100)
        #expect(machine.begin(100 + count, within: [count - 1], for: 0))
    }

    @Test func `a circle is found however many others wait`() {
        let machine = Machine()
        for waiter in 10..<30 { #expect(machine.begin(waiter, within: [1], for: 2)) }
        for waiter in 30..<50 { #expect(machine.begin(waiter, within: [2], for: 3)) }
        #expect(!machine.begin(50, within: [3], for: 1))
        #expect(!machine.begin(50, within: [3], for: 2))
        #expect(machine.begin(50, within: [], for: 1))
    }

    @Test func `a wait in a call within two others holds up all three`() {
        let machine = Machine()
        #expect(machine.begin(3, within: [1, 2], for: 4))
        #expect(!machine.begin(5, within: [4], for: 1))
        #expect(!machine.begin(5, within: [4], for: 2))
        #expect(machine.begin(5, within: [4], for: 6))
    }

    @Test func `a call that waits twice waits until both have ended`() {
        var machine = WaitMachine<Int>()
        let (first, second) = (machine.begin(holdingUp: [1], for: 2), machine.begin(holdingUp: [1], for: 3))
        if let first { machine.end(first) }
        #expect(machine.begin(holdingUp: [3], for: 1) == nil)
        #expect(machine.begin(holdingUp: [2], for: 1) != nil)
        if let second { machine.end(second) }
        #expect(machine.begin(holdingUp: [3], for: 1) != nil)
    }

    @Test func `many waits cost little each`() {
        var machine = WaitMachine<Int>()
        let begun = ContinuousClock.now
        var numbers: [UInt64] = []
        for call in 1...50_000 { if let number = machine.begin(holdingUp: [call], for: 0) { numbers.append(number) } }
        #expect(numbers.count == 50_000)
        for number in numbers { machine.end(number) }
        #expect(machine.isEmpty && begun.duration(to: .now) < .seconds(30))
    }

    // MARK: - By sessions

    private enum Within {
        @TaskLocal static var isInner = false
    }

    enum Asking: CaseIterable, Sendable {
        /// A hook that is asked while the answer is received.
        case hook
        case interceptor
    }

    /// What `/0` runs asks for `/1`, that of `/1` for `/2`, and the last one's for `/0`.
    @Test(.timeLimit(.minutes(10)), arguments: Asking.allCases, [(2, 1), (2, 2), (3, 1), (3, 3), (4, 2)])
    func `requests that ask for each other are sent, and answered`(asking: Asking, size: (Int, Int))
        async throws
    {
        let ((count, sessionCount), transport) = (size, MockTransport())
        transport.otherwise { .respond(fields: ["Cache-Control": "no-cache"], body: Bytes($0.target.utf8)) }
        let started = Atomic(0)
        let all = Settlement<Void>()
        let known = Mutex<[HTTPSession]>([])
        let ask: @Sendable (String) async throws -> Void = { target in
            guard !Within.isInner, let index = Int(target.dropFirst()) else { return }
            if started.add(1, ordering: .relaxed).newValue == count { all.settle(()) }
            await all.value
            let next = (index + 1) % count
            let session = known.withLock { $0[next % $0.count] }
            let body = try await Within.$isInner.withValue(true) {
                try await session.get("/\(next)", as: .string).value
            }
            #expect(body == "/\(next)")
        }
        for _ in 0..<sessionCount {
            var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
            configuration.coalescing.isOn = true
            switch asking {
            case .hook:
                configuration.cache = HTTPSession.Cache(MapStore(isAtHand: true))
                configuration.hooks.storing = { snapshot, _ in
                    do { try await ask(snapshot.targetTemplate) } catch { Issue.record(error) }
                    return nil
                }
            case .interceptor:
                configuration.interceptors = [
                    .exchange { request, next in
                        try await ask(request.head.target)
                        return try await next(request)
                    }
                ]
            }
            let session = try HTTPSession(configuration)
            known.withLock { $0.append(session) }
        }
        let sessions = known.withLock(\.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<count {
                let session = sessions[index % sessions.count]
                group.addTask {
                    let body = try await session.get("/\(index)", as: .string).value
                    #expect(body == "/\(index)")
                }
            }
            try await group.waitForAll()
        }
        for session in sessions { #expect(await session.gauges().coalesced == 0) }
    }

    /// The only turn of one session has a request that waits for one of the other, which waits for a turn.
    @Test(.timeLimit(.minutes(1))) func `who waits for a turn waits for no request that waits for it`() async throws {
        let transport = MockTransport()
        transport.otherwise { .respond(body: Bytes($0.target.utf8)) }
        let known = Mutex<[HTTPSession]>([])
        let started = Atomic(0)
        let all = Settlement<Void>()
        func session(_ index: Int, asking target: String, _ change: (inout HTTPSession.Configuration) -> Void) throws {
            var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
            configuration.interceptors = [
                .exchange { request, next in
                    if !Within.isInner {
                        if started.add(1, ordering: .relaxed).newValue == 2 { all.settle(()) }
                        await all.value
                        _ = try await Within.$isInner.withValue(true) {
                            try await known.withLock { $0[1 - index] }.get(HTTP.Target(target), as: .bytes)
                        }
                    }
                    return try await next(request)
                }
            ]
            change(&configuration)
            let session = try HTTPSession(configuration)
            known.withLock { $0.append(session) }
        }
        try session(0, asking: "/other") { $0.coalescing.isOn = true }
        try session(1, asking: "/x") { $0.queue.running = 1 }
        let sessions = known.withLock(\.self)
        async let first = sessions[0].get("/x", as: .string).value
        async let second = sessions[1].get("/y", as: .string).value
        #expect(try await [first, second] == ["/x", "/y"])
    }

    /// With a field that looks secret, which every request has.
    @Test(.timeLimit(.minutes(10))) func `a refresh whose request waits for it is not kept waiting`() async throws {
        let transport = MockTransport()
        transport.otherwise { .respond(body: Bytes(($0.fields["authorization"] ?? "the token").utf8)) }
        var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
        configuration.coalescing.isOn = true
        configuration.fields["X-Api-Key"] = "the app's"
        configuration.authentication = .bearer { session in
            HTTPSession.BearerToken(try await session.get("/a", as: .string).value)
        }
        let session = try HTTPSession(configuration)
        #expect(try await session.get("/a", as: .string).value == "Bearer the token")
        #expect(transport.requests.count == 2)
    }
}
