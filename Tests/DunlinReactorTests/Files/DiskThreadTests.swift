import DunlinReactor
import DunlinTesting
import DunlinTypes
import Synchronization
import Testing

@testable import DunlinReactor

/// Adds work when it is released, as whoever tidies up a file does.
private final class Tidying: Sendable {
    private let threads: DiskThreads
    private let done: @Sendable () -> Void

    init(on threads: DiskThreads, _ done: @escaping @Sendable () -> Void) {
        (self.threads, self.done) = (threads, done)
    }

    deinit { threads.start(done) }
}

@Suite struct `Disk machine` {
    private typealias Machine = DiskMachine<Int, String>

    private static func text(_ action: Machine.Action) -> String {
        switch action {
        case .none: "none"
        case .wake(let thread): "wake \(thread)"
        case .startThread: "start"
        }
    }

    @Test func `the disk machine wakes a thread that rests before it starts another, up to its limit`() {
        var machine = Machine(limit: 2)
        #expect(Self.text(machine.add(1)) == "start")
        #expect(machine.next(for: "a") == 1)
        #expect(machine.next(for: "a") == nil)
        #expect(Self.text(machine.add(2)) == "wake a")
        #expect(Self.text(machine.add(3)) == "start")
        #expect(Self.text(machine.add(4)) == "none")
        let taken = [machine.next(for: "a"), machine.next(for: "b"), machine.next(for: "a")]
        #expect(taken == [2, 3, 4])
        #expect(machine.next(for: "b") == nil)
        #expect(machine.next(for: "a") == nil)
        #expect(Self.text(machine.add(5)) == "wake a", "the one that rested last")
    }

    @Test func `the disk machine lets a thread leave only while it rests`() {
        var machine = Machine(limit: 1)
        _ = machine.add(1)
        #expect(machine.next(for: "a") == 1)
        #expect(machine.mayLeave("a") == false)
        #expect(machine.next(for: "a") == nil)
        _ = machine.add(2)
        #expect(machine.mayLeave("a") == false, "it was woken")
        #expect(machine.next(for: "a") == 2)
        #expect(machine.next(for: "a") == nil)
        #expect(machine.mayLeave("a") == true)
        #expect(machine.threads == 0)
        #expect(Self.text(machine.add(3)) == "start")
    }

    @Test func `the disk machine knows a thread once, though it is woken for work that it has done`() {
        var machine = Machine(limit: 1)
        _ = machine.add(1)
        #expect(machine.next(for: "a") == 1)
        #expect(machine.next(for: "a") == nil)
        // Its wait ends between being chosen and being woken: it looks by itself, and then it is woken.
        #expect(Self.text(machine.add(2)) == "wake a")
        #expect(machine.mayLeave("a") == false)
        #expect(machine.next(for: "a") == 2)
        #expect(machine.next(for: "a") == nil)
        #expect(machine.next(for: "a") == nil)
        #expect(machine.mayLeave("a") == true)
        #expect(Self.text(machine.add(3)) == "start", "nobody who has left is woken")
    }

    @Test func `the disk machine gives back what no thread will do, and nothing while there is one`() {
        var machine = Machine(limit: 2)
        _ = machine.add(1)
        #expect(machine.startFailed() == [1])
        _ = machine.add(2)
        #expect(machine.next(for: "a") == 2)
        _ = machine.add(3)
        #expect(machine.startFailed() == [])
        #expect(machine.next(for: "a") == 3)
    }
}

@Suite(.timeLimit(.minutes(10))) struct `Disk threads` {
    private final class Meter: Sendable {
        let running = Atomic<Int>(0)
        let most = Atomic<Int>(0)
    }

    @Test func `the disk threads do everything once, on no more threads than the limit`() async {
        let threads = DiskThreads(threads: 3)
        let meter = Meter()
        let sum = await withTaskGroup(of: Int.self) { group in
            for number in 1...500 {
                group.addTask {
                    await threads.run {
                        meter.most.max(meter.running.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
                        defer { meter.running.subtract(1, ordering: .relaxed) }
                        return number
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(sum == 500 * 501 / 2)
        #expect((1...3).contains(meter.most.load(ordering: .relaxed)))
    }

    @Test func `work that adds work when it is released finds the disk threads unlocked`() async throws {
        let threads = DiskThreads(threads: 2)
        for _ in 0..<100 {
            let done = Atomic(0)
            for _ in 0..<10 {
                let tidying = Tidying(on: threads) { done.add(1, ordering: .relaxed) }
                threads.start { withExtendedLifetime(tidying) {} }
            }
            try await eventually("all is tidied up") { done.load(ordering: .relaxed) == 10 }
        }
    }

    @Test func `the disk threads leave when there is nothing to do, and come again`() async throws {
        let threads = DiskThreads(threads: 2, longestWait: .milliseconds(1))
        for _ in 0..<3 {
            #expect(await threads.run { 7 } == 7)
            try await eventually("they have left") { threads.count == 0 }
        }
    }
}
