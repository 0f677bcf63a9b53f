import DunlinTypes
import Testing

@testable import DunlinReactor

@Suite(.timeLimit(.minutes(10))) struct `An actor pinned to a loop` {
    @Test func `a pinned actor runs on its loop from wherever it is called, and its caller stays elsewhere`()
        async throws
    {
        let reactor = try Reactor(name: "test")
        defer { reactor.retire() }
        let counter = Counter(on: reactor)
        #expect(await counter.add())
        #expect(!reactor.isCurrent)
        #expect(await counter.addWaiting())
        #expect(await counter.visitPool() == [true, false, true])
        #expect(await counter.count == 2)
        #expect(!reactor.isCurrent)
    }

    @Test func `a task that prefers the loop enters and leaves a pinned actor without leaving its thread`() async throws
    {
        let reactor = try Reactor(name: "test")
        defer { reactor.retire() }
        let counters = [Counter(on: reactor), Counter(on: reactor)]
        let plain = PlainCounter()
        let seen = await withTaskExecutorPreference(reactor) { @concurrent in
            var seen: [Bool] = []
            for counter in counters {
                seen += [reactor.isCurrent, await counter.add(), reactor.isCurrent, await counter.add(plain)]
            }
            return seen
        }
        #expect(seen.allSatisfy { $0 })
        #expect(seen.count == 8)
        #expect(await plain.count == 2)
    }

    @Test func `a pinned actor lets a task that prefers the loop go elsewhere and come back`() async throws {
        let reactor = try Reactor(name: "test")
        defer { reactor.retire() }
        let counter = Counter(on: reactor)
        let seen = await withTaskExecutorPreference(reactor) { @concurrent in
            let seen = await counter.visitPool()
            return await counter.addWaiting() ? seen + [reactor.isCurrent] : seen
        }
        #expect(seen == [true, false, true, true])
    }

    @Test func `a pinned actor may be assumed isolated by whoever is on the loop's thread`() async throws {
        let reactor = try Reactor(name: "test")
        defer { reactor.retire() }
        let counter = Counter(on: reactor)
        await withTaskExecutorPreference(reactor) { @concurrent in counter.addAssuming() }
        let timer = reactor.schedule(Caller { counter.addAssuming() }, at: reactor.now())
        while await counter.count < 2 {}
        reactor.forget(timer)
        #expect(reactor.isIsolatingCurrentContext() == false)
    }

    @Test(arguments: [Life.running, .gone]) func `a pinned actor keeps the order in which one thread calls`(life: Life)
        async throws
    {
        let reactor = try Reactor(name: "test")
        defer { reactor.retire() }
        if life == .gone {
            reactor.retire()
            await reactor.end()
        }
        for _ in 0..<20 {
            let list = List(on: reactor)
            await withTaskGroup { group in
                for number in 0..<100 { group.addImmediateTask { await list.append(number) } }
            }
            #expect(await list.numbers == Array(0..<100))
        }
    }

    @Test func `a pinned actor shares the loop's thread with tasks in turn`() async throws {
        let reactor = try Reactor(name: "test")
        defer { reactor.retire() }
        let list = List(on: reactor)
        await withTaskExecutorPreference(reactor) { @concurrent in
            await withTaskGroup { group in
                group.addTask { await list.appendYielding([1, 3, 5, 7]) }
                group.addTask {
                    for number in [2, 4, 6, 8] {
                        list.appendAssuming(number)
                        await Task.yield()
                    }
                }
            }
        }
        let numbers = await list.numbers
        #expect(numbers.sorted() == Array(1...8))
        #expect(numbers != [1, 3, 5, 7, 2, 4, 6, 8])
        #expect(numbers != [2, 4, 6, 8, 1, 3, 5, 7])
    }

    @Test func `a call to a pinned actor from a task of its loop gives no turn to others`() async throws {
        let reactor = try Reactor(name: "test")
        defer { reactor.retire() }
        let (counter, list) = (Counter(on: reactor), List(on: reactor))
        await withTaskExecutorPreference(reactor) { @concurrent in
            await withTaskGroup { group in
                for number in 1...3 {
                    group.addTask {
                        for step in 0..<4 {
                            _ = await counter.add()
                            list.appendAssuming(number * 10 + step)
                        }
                    }
                }
            }
        }
        #expect(await list.numbers == [10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33])
    }

    @Test func `a task that only calls a pinned actor leaves others their turn`() async throws {
        let reactor = try Reactor(name: "test")
        defer { reactor.retire() }
        let (counter, list, isDone) = (Counter(on: reactor), List(on: reactor), Flag())
        let timer = reactor.schedule(Caller { isDone.set() }, at: reactor.now().advanced(by: 20_000_000))
        await withTaskExecutorPreference(reactor) { @concurrent in
            await withTaskGroup { group in
                group.addTask {
                    while !isDone.isSet { _ = await counter.add() }
                    list.appendAssuming(2)
                }
                group.addTask {
                    // Others have their turn meanwhile, and what the clock says is heard.
                    for _ in 0..<3 { await Task.yield() }
                    list.appendAssuming(1)
                }
                await group.waitForAll()
            }
        }
        reactor.forget(timer)
        #expect(await list.numbers == [1, 2])
    }

    enum Life: CaseIterable {
        case running, retiringMeanwhile, retiredButHeld, gone
    }

    @Test(arguments: Life.allCases) func `a pinned actor loses no call of a hundred tasks at once`(life: Life)
        async throws
    {
        for _ in 0..<(life == .retiringMeanwhile ? 50 : 5) {
            let reactor = try Reactor(name: "test")
            defer { reactor.retire() }
            let timer = reactor.schedule(Caller {}, at: HTTP.Instant(nanoseconds: .max - 1))
            if life == .retiredButHeld || life == .gone { reactor.retire() }
            if life == .retiringMeanwhile || life == .gone { reactor.forget(timer) }
            if life == .gone { await reactor.end() }
            let counter = Counter(on: reactor)
            await withTaskGroup { group in
                for number in 0..<100 {
                    group.addTask {
                        for turn in 0..<20 {
                            if life == .retiringMeanwhile, number == 50, turn == 3 { reactor.retire() }
                            _ = number % 2 == 0 ? await counter.add() : await counter.addWaiting()
                        }
                    }
                    group.addTask(executorPreference: reactor) { _ = await counter.add() }
                }
            }
            #expect(await counter.count == 2100)
            reactor.forget(timer)
        }
    }

    /// One thread of the pool must do, as on a machine with one processor.
    @Test func `a pinned actor whose loop has ended leaves the pool to what it waits for`() async throws {
        let reactor = try Reactor(name: "test")
        reactor.retire()
        await reactor.end()
        let counters = (0..<16).map { _ in Counter(on: reactor) }
        let isDone = Flag()
        await withTaskGroup { group in
            for counter in counters { group.addTask { await counter.yield(until: isDone) } }
            group.addTask {
                for _ in 0..<1000 { await Task.yield() }
                isDone.set()
            }
        }
    }

    @Test func `a pinned actor whose loop has ended is isolated, and keeps the loop as long as it needs it`()
        async throws
    {
        let last: Task<Int, Never>
        do {
            let reactor = try Reactor(name: "test")
            reactor.retire()
            await reactor.end()
            let counter = Counter(on: reactor)
            #expect(await counter.addAsserting())
            last = Task {
                for _ in 0..<100 { _ = await counter.addWaiting() }
                return await counter.count
            }
        }
        #expect(await last.value == 101)
    }
}

private actor Counter {
    nonisolated let loop: Reactor
    private(set) var count = 0

    init(on loop: Reactor) {
        self.loop = loop
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Whether the loop's thread did it.
    func add() -> Bool {
        // In two steps, lest the compiler make one of them that no other thread can come between.
        let before = count
        for _ in 0..<10 where before != count { Issue.record("not alone") }
        count = before + 1
        return loop.isCurrent
    }

    func add(_ other: PlainCounter) async -> Bool {
        await other.add()
        return loop.isCurrent
    }

    func addWaiting() async -> Bool {
        await withUnsafeContinuation { task in Task.detached { task.resume() } }
        return add()
    }

    func addAsserting() -> Bool {
        preconditionIsolated()
        return !add() && loop.isIsolatingCurrentContext() == true
    }

    nonisolated func addAssuming() { assumeIsolated { _ = $0.add() } }

    func visitPool() async -> [Bool] {
        let before = loop.isCurrent
        let away = await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in self.loop.isCurrent }
        return [before, away, loop.isCurrent]
    }

    func yield(until isDone: Flag) async {
        while !isDone.isSet { await Task.yield() }
    }
}

private actor List {
    private let loop: Reactor
    private(set) var numbers: [Int] = []

    init(on loop: Reactor) {
        self.loop = loop
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    func append(_ number: Int) { numbers.append(number) }
    nonisolated func appendAssuming(_ number: Int) { assumeIsolated { $0.append(number) } }

    func appendYielding(_ numbers: [Int]) async {
        for number in numbers {
            append(number)
            await Task.yield()
        }
    }
}

/// On no loop: it runs wherever its callers do.
private actor PlainCounter {
    private(set) var count = 0
    func add() { count += 1 }
}

/// Calls when its time has come, on the loop's thread.
private final class Caller: Timed {
    private let call: @Sendable () -> Void

    init(_ call: @escaping @Sendable () -> Void) {
        self.call = call
    }

    func deadlinePassed(at now: HTTP.Instant) -> HTTP.Instant {
        call()
        return .never
    }
}

extension Reactor {
    /// Comes back once the loop, which is retired and has nothing registered, has left.
    func end() async {
        while await withTaskExecutorPreference(self, operation: { isCurrent }) {}
    }
}
