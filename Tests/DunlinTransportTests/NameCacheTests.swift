import DunlinReactor
import DunlinTesting
import DunlinTypes
import LedgerRows
import Synchronization
import Testing

@testable import DunlinTransport

/// Answers when told to, and notes what it was asked and what was cancelled.
private final class TestResolver: Resolver {
    typealias Answer = Result<[HTTP.SocketAddress], any Error>

    private struct State {
        var open: [(id: Int, waiter: CheckedContinuation<Answer, Never>)] = []
        var asked = 0
        /// A cancel may come before the question has begun to wait.
        var cancelled: Set<Int> = []
    }

    private let state = Mutex(State())
    private let obeysCancels: Bool

    init(obeysCancels: Bool = true) {
        self.obeysCancels = obeysCancels
    }

    var asked: Int { state.withLock { $0.asked } }
    var cancelled: Int { state.withLock { $0.cancelled.count } }

    func addresses(of host: String, port: UInt16) async throws -> [HTTP.SocketAddress] {
        let id = state.withLock { state in
            state.asked += 1
            return state.asked
        }
        return try await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isOver = state.withLock { state in
                    if !state.cancelled.contains(id) { state.open.append((id, waiter)) }
                    return state.cancelled.contains(id)
                }
                if isOver { waiter.resume(returning: .failure(CancellationError())) }
            }
        } onCancel: {
            if !obeysCancels { return }
            let waiter = state.withLock { state -> CheckedContinuation<Answer, Never>? in
                state.cancelled.insert(id)
                return state.open.firstIndex { $0.id == id }.map { state.open.remove(at: $0).waiter }
            }
            waiter?.resume(returning: .failure(CancellationError()))
        }.get()
    }

    /// Answers whoever has waited longest; waits for somebody to wait.
    func answer(_ answer: Answer) async throws {
        try await eventually("somebody waits") { state.withLock { !$0.open.isEmpty } }
        state.withLock { $0.open.isEmpty ? nil : $0.open.removeFirst().waiter }?.resume(returning: answer)
    }

    func waitForQuestions(_ count: Int) async throws {
        try await eventually("question number \(count)") {
            state.withLock { $0.asked >= count && !$0.open.isEmpty }
        }
    }

    func waitForCancels(_ count: Int) async throws {
        try await eventually("cancel number \(count)") { cancelled >= count }
    }
}

/// A cache over a resolver on a string, by a clock that stands still.
private final class Bench: Sendable {
    let time = ManualTime()
    let resolver: TestResolver
    let reactor: Reactor
    let cache: NameCache

    init(life: Int64 = 100, lookUpLimit: Int64 = .max, _ resolver: TestResolver = TestResolver()) throws {
        self.resolver = resolver
        reactor = try Reactor(time: .manual(time))
        let limits = NameCache.Machine.Limits(timeToLive: life, negativeTimeToLive: 10, capacity: 8)
        cache = NameCache(resolver, limits: limits, lookUpLimit: lookUpLimit, on: reactor)
    }

    deinit { reactor.retire() }

    /// What comes of asking, in a word.
    func ask(_ host: String = "a", within limit: Int64? = nil, _ cancellation: Cancellation = Cancellation()) async
        -> String
    {
        let deadline = limit.map { time.now.advanced(by: $0) } ?? .never
        do throws(NameCache.Failure) {
            let found = try await cache.addresses(of: host, port: 80, until: deadline, cancellation, on: reactor)
            return found.map(\.host).joined(separator: " ")
        } catch {
            switch error {
            case .timedOut: return "timed out"
            case .cancelled: return "interrupted"
            case .unresolved(let cause): return "\(cause)"
            }
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct `Name cache` {
    private static let one: TestResolver.Answer = .success([.v4(1, port: 80)])
    private static let two: TestResolver.Answer = .success([.v4(2, port: 80)])

    @Test func `the name cache shares one look-up, and its answer later`() async throws {
        let bench = try Bench()
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { await bench.ask() } }
            try await bench.resolver.answer(Self.one)
            for try await answer in group { #expect(answer == "0.0.0.1") }
        }
        #expect(await bench.ask() == "0.0.0.1")
        #expect(bench.resolver.asked == 1)
        await bench.cache.close()
    }

    @Test func `the name cache remembers a bounded number of a name's addresses`() async throws {
        let bench = try Bench()
        async let first = bench.ask()
        try await bench.resolver.answer(.success((0..<10_000).map { .v4($0, port: 80) }))
        #expect(await first.split(separator: " ").count == AddressOrder.most)
        #expect(await bench.ask().split(separator: " ").count == AddressOrder.most)
        await bench.cache.close()
    }

    @Test func `an old answer is refreshed after its use, and an expired one before it`() async throws {
        let bench = try Bench()
        async let first = bench.ask()
        try await bench.resolver.answer(Self.one)
        #expect(await first == "0.0.0.1")
        bench.time.advance(by: 80)
        #expect(await bench.ask() == "0.0.0.1")
        try await bench.resolver.answer(Self.two)
        try await eventually("nobody is asked any more", following: Turns(of: bench.reactor)) {
            bench.cache.counts.lookUps == 0
        }
        #expect(await bench.ask() == "0.0.0.2")
        bench.time.advance(by: 100)
        async let last = bench.ask()
        try await bench.resolver.answer(Self.one)
        #expect(await last == "0.0.0.1")
        #expect(bench.resolver.asked == 3)
        await bench.cache.close()
    }

    @Test(arguments: [
        (TestResolver.Answer.success([]), "a has no address", 1),
        (.failure(ResolverError(.noSuchName, "unknown")), "unknown", 1),
        (.failure(ResolverError(.overloaded, "full")), "full", 2),
        (.failure(ResolverError(.unanswered, "silence")), "silence", 2),
        (.failure(Errno.connectionReset), "Connection reset by peer", 2),
    ])
    private func `the name cache remembers only the failure that there is no such name`(
        answer: TestResolver.Answer, text: String, questions: Int
    ) async throws {
        let bench = try Bench()
        for round in 0..<2 {
            async let result = bench.ask()
            if round < questions { try await bench.resolver.answer(answer) }
            #expect(await result == text)
        }
        #expect(bench.resolver.asked == questions)
        await bench.cache.close()
    }

    @Test(arguments: [true, false])
    func `a waiter who leaves takes no look-up from the others, and the last one ends it`(isCancel: Bool) async throws {
        let bench = try Bench()
        let cancellation = Cancellation()
        async let impatient = bench.ask(within: isCancel ? nil : 5, cancellation)
        try await bench.resolver.waitForQuestions(1)
        async let patient = bench.ask(within: 50)
        try await eventually("both wait", following: Turns(of: bench.reactor)) {
            bench.reactor.armedDeadlines == (isCancel ? 1 : 2)
        }
        if isCancel { cancellation.cancel(.handle) } else { bench.time.advance(by: 5) }
        #expect(await impatient == (isCancel ? "interrupted" : "timed out"))
        #expect(bench.resolver.cancelled == 0)
        #expect(bench.cache.counts.lookUps == 1)
        bench.time.advance(by: 50)
        #expect(await patient == "timed out")
        try await bench.resolver.waitForCancels(1)
        #expect(bench.cache.counts.lookUps == 0)
        async let later = bench.ask()
        try await bench.resolver.answer(Self.two)
        #expect(await later == "0.0.0.2")
        #expect(bench.resolver.asked == 2)
        await bench.cache.close()
    }

    @Test func `a look-up that hangs is replaced while somebody waits`() async throws {
        let bench = try Bench(lookUpLimit: 10)
        async let answer = bench.ask()
        try await bench.resolver.waitForQuestions(1)
        bench.time.advance(by: 10)
        try await bench.resolver.waitForQuestions(2)
        #expect(bench.resolver.cancelled == 1)
        try await bench.resolver.answer(Self.one)
        #expect(await answer == "0.0.0.1")
        await bench.cache.close()
        #expect(bench.reactor.ledger.openTimers == 0)
    }

    @Test func `a flush makes the name cache ask again`() async throws {
        let bench = try Bench()
        async let before = bench.ask()
        try await bench.resolver.answer(Self.one)
        #expect(await before == "0.0.0.1")
        bench.cache.flush()
        #expect(bench.cache.counts.known == 0)
        async let after = bench.ask()
        try await bench.resolver.answer(Self.two)
        #expect(await after == "0.0.0.2")
        await bench.cache.close()
    }

    @Test func `closing the name cache ends a refresh and waits for it, and no name is asked for after`() async throws {
        let bench = try Bench()
        async let first = bench.ask()
        try await bench.resolver.answer(Self.one)
        _ = await first
        bench.time.advance(by: 90)
        #expect(await bench.ask() == "0.0.0.1")
        try await bench.resolver.waitForQuestions(2)
        await bench.cache.close()
        #expect(bench.resolver.cancelled == 1)
        #expect(await bench.ask() == "the session is shut down")
        #expect(bench.reactor.ledger.openTimers == 0)
    }

    @Test func `a cancelled close of the name cache does not wait for a resolver that ignores cancellation`()
        async throws
    {
        let bench = try Bench(TestResolver(obeysCancels: false))
        async let first = bench.ask()
        try await bench.resolver.waitForQuestions(1)
        let closing = Task { await bench.cache.close() }
        #expect(await first == "the session is shut down")
        closing.cancel()
        await closing.value
        // Nobody was cancelled here, and so the end is waited for.
        async let closed: Void = bench.cache.close()
        try await bench.resolver.answer(Self.one)
        await closed
        await bench.cache.close()
    }

    @Test func `a dropped name cache ends its look-ups`() async throws {
        let time = ManualTime()
        let reactor = try Reactor(time: .manual(time))
        defer { reactor.retire() }
        let resolver = TestResolver()
        do {
            let cache = NameCache(resolver, limits: .init(timeToLive: 100), lookUpLimit: 1000, on: reactor)
            async let first = cache.addresses(of: "a", port: 1, until: .never, Cancellation(), on: reactor)
            try await resolver.answer(Self.one)
            _ = try await first
            time.advance(by: 90)
            _ = try await cache.addresses(of: "a", port: 1, until: .never, Cancellation(), on: reactor)
            try await resolver.waitForQuestions(2)
        }
        try await resolver.waitForCancels(1)
        try await eventually("nothing is left", following: Turns(of: reactor)) { reactor.ledger.openTimers == 0 }
    }

    @Test(.rows("G-5")) func `the name cache keeps no look-up after many cancels at once`() async throws {
        let bench = try Bench(life: 0)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<500 {
                group.addTask {
                    let cancellation = Cancellation()
                    async let outcome = bench.ask("h\(number % 7)", cancellation)
                    if number.isMultiple(of: 2) { await Task.yield() }
                    cancellation.cancel(.handle)
                    #expect(await outcome == "interrupted")
                }
            }
        }
        try await eventually("nobody is asked any more", following: Turns(of: bench.reactor)) {
            bench.cache.counts.lookUps == 0
        }
        await bench.cache.close()
    }
}
