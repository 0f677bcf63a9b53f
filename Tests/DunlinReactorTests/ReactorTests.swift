import DunlinTesting
import DunlinTypes
import Glibc
import Synchronization
import Testing

@testable import DunlinReactor

@Suite(.timeLimit(.minutes(10))) struct `Loop` {
    @Test func `a loop runs jobs from elsewhere and from its own thread`() async throws {
        let reactor = try Reactor(name: "test")
        defer { reactor.retire() }
        #expect(!reactor.isCurrent)
        let total = await withTaskExecutorPreference(reactor) {
            await withTaskGroup(of: Int.self) { group in
                for number in 1...1000 {
                    group.addTask {
                        await Task.yield()
                        return reactor.isCurrent ? number : 0
                    }
                }
                return await group.reduce(0, +)
            }
        }
        #expect(total == 500_500)
        #expect(!reactor.isCurrent)
    }

    /// Whoever is lent a channel relies on it: what a full batch left out has not been looked at.
    @Test func `a loop counts as a look only what the kernel told to the end`() async throws {
        let reactor = try Reactor(name: "test")
        defer { reactor.retire() }
        let lines = try (0..<300).map { _ in try ChannelPair(on: reactor) }
        let polls = Polls()
        await withTaskExecutorPreference(reactor) {
            await withTaskGroup(of: Void.self) { group in
                for pair in lines { group.addTask { await polls.note(pair) } }
                // Once all wait; while this speaks the loop hears nothing.
                group.addTask { await polls.speak(to: lines) }
            }
        }
        // One place may be the wake-up's.
        #expect((255...256).contains(polls.countOfEarlier))
    }

    /// When the loop said it had polled last, for each line that it woke.
    private final class Polls: Sendable {
        private let times = Mutex<[Int64]>([])
        private let spoken = Mutex<Int64>(0)

        func note(_ pair: ChannelPair) async {
            #expect(await pair.channel.waitReadable(until: .never) == .ready)
            times.withLock { $0.append(pair.reactor.lastPoll.load(ordering: .relaxed)) }
        }

        func speak(to lines: [ChannelPair]) async {
            await Task.yield()
            for pair in lines { pair.say("x") }
            spoken.withLock { $0 = Reactor.lookTime.nanoseconds }
        }

        /// How many were woken by a poll that did not count.
        var countOfEarlier: Int {
            let spoken = spoken.withLock { $0 }
            return times.withLock { $0.count { $0 < spoken } }
        }
    }

    @Test func `a task tells two loops apart`() async throws {
        let (one, two) = (try Reactor(), try Reactor())
        defer {
            one.retire()
            two.retire()
        }
        let seen = await withTaskExecutorPreference(one) {
            let outside = (one.isCurrent, two.isCurrent)
            let inside = await withTaskExecutorPreference(two) { (one.isCurrent, two.isCurrent) }
            return [outside.0, outside.1, inside.0, inside.1, one.isCurrent]
        }
        #expect(seen == [true, false, false, true, true])
    }

    @Test func `a loop wakes for jobs however they fall against its sleep`() async throws {
        let reactor = try Reactor()
        defer { reactor.retire() }
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<2000 { await withTaskExecutorPreference(reactor) { await Task.yield() } }
                }
            }
        }
    }

    @Test func `a retired loop ends once nothing is registered, and its jobs run elsewhere`() async throws {
        let gone = Flag()
        let held: Int
        do {
            let reactor = try Reactor(name: "test")
            let timer = reactor.schedule(Held(gone), at: HTTP.Instant(nanoseconds: .max - 1))
            reactor.retire()
            // Registered still, so the loop is there and runs what comes.
            held = await withTaskExecutorPreference(reactor) { reactor.isCurrent ? reactor.ledger.openTimers : -1 }
            reactor.forget(timer)
            while await withTaskExecutorPreference(reactor, operation: { reactor.isCurrent }) {}
            // Gone: the global executor runs it.
            #expect(await withTaskExecutorPreference(reactor) { !reactor.isCurrent })
            #expect(reactor.ledger.openTimers == 0)
        }
        #expect(held == 1)
        #expect(gone.isSet)
    }

    @Test func `a loop that is retired from its own thread ends as well`() async throws {
        let reactor = try Reactor()
        await withTaskExecutorPreference(reactor) { reactor.retire() }
        while await withTaskExecutorPreference(reactor, operation: { reactor.isCurrent }) {}
        #expect(!reactor.isCurrent)
    }

    @Test func `a task that leaves goes on after the rest, and at once if it is elsewhere`() async throws {
        let reactor = try Reactor()
        defer { reactor.retire() }
        await reactor.leave()
        let order = await withTaskExecutorPreference(reactor) {
            await withTaskGroup(of: Int.self) { group in
                group.addTask {
                    await reactor.leave()
                    return 2
                }
                group.addTask {
                    for _ in 0..<10 { await Task.yield() }
                    return 1
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(order == [1, 2])
    }

    @Test func `a group starts its loops once`() throws {
        let group = ReactorGroup(count: 2)
        let first = try group.reactors()
        let second = try group.reactors()
        #expect(first.count == 2)
        #expect(zip(first, second).allSatisfy { $0 === $1 })
        #expect(first[0] !== first[1])
        for reactor in first { reactor.retire() }
        #expect(
            ["1", "4", "16", "0", "17", "-1", "", "four"].map(ReactorGroup.loops(said:))
                == [1, 4, 16, nil, nil, nil, nil, nil])
        #expect(try ReactorGroup(count: -3).reactors().map { $0.retire() }.count == 1)
    }
}

@Suite(.timeLimit(.minutes(10))) struct `Deadlines of a loop` {
    private static func moved() throws -> (Reactor, ManualTime) {
        let time = ManualTime()
        return (try Reactor(time: .manual(time)), time)
    }

    @Test func `a deadline fires when time is moved there, and not before`() async throws {
        let (reactor, time) = try Self.moved()
        defer { reactor.retire() }
        let (early, late) = (ValueWaiter<Int>(on: reactor), ValueWaiter<Int>(on: reactor))
        let start = time.now
        async let first = early.wait(until: start.advanced(by: 100), cancellation: nil)
        async let second = late.wait(until: start.advanced(by: 200), cancellation: nil)
        try await reactor.reach(timers: 2)
        time.advance(by: 99)
        // The loop has looked by the time it has run a job twice.
        for _ in 0..<2 { await withTaskExecutorPreference(reactor) { await Task.yield() } }
        #expect(reactor.ledger.openTimers == 2)
        time.advance(by: 1)
        #expect(await first.text == "timed out")
        #expect(late.deliver(7))
        #expect(await second.text == "value 7")
        #expect(reactor.ledger.openTimers == 0)
    }

    @Test func `deadlines that others set or give up are reported to the loop's followers`() async throws {
        let reactor = try Reactor()
        defer { reactor.retire() }
        let start = reactor.now()
        for _ in 0..<20 {
            let (early, late) = (ValueWaiter<Int>(on: reactor), ValueWaiter<Int>(on: reactor))
            async let first = early.wait(until: start.advanced(by: 1_000_000_000_000), cancellation: nil)
            try await reactor.comes(to: 1)
            // It is later than what the loop sleeps for, which need not wake for it otherwise.
            async let second = late.wait(until: start.advanced(by: 2_000_000_000_000), cancellation: nil)
            try await reactor.comes(to: 2)
            #expect(late.deliver(2))
            #expect(await second.text == "value 2")
            try await reactor.comes(to: 1)
            #expect(early.deliver(1))
            #expect(await first.text == "value 1")
            try await reactor.comes(to: 0)
        }
    }

    @Test func `a deadline that has passed already fires at once`() async throws {
        let (reactor, time) = try Self.moved()
        defer { reactor.retire() }
        time.advance(by: 1000)
        let past = time.now.advanced(by: -1)
        for _ in 0..<100 {
            let here = ValueWaiter<Int>(on: reactor)
            #expect(await here.wait(until: past, cancellation: nil).text == "timed out")
            let outcome = await withTaskExecutorPreference(reactor) {
                await ValueWaiter<Int>(on: reactor).wait(until: past, cancellation: nil).text
            }
            #expect(outcome == "timed out")
        }
    }

    @Test func `a deadline is not missed however time moves against the loop's sleep`() async throws {
        let (reactor, time) = try Self.moved()
        defer { reactor.retire() }
        await withTaskGroup { group in
            for _ in 0..<3 {
                group.addTask {
                    for _ in 0..<1000 {
                        let until = time.now.advanced(by: 5)
                        async let outcome = ValueWaiter<Int>(on: reactor).wait(until: until, cancellation: nil)
                        time.advance(by: 5)
                        #expect(await outcome.text == "timed out")
                    }
                }
            }
        }
        #expect(reactor.ledger.openTimers == 0)
    }

    @Test func `a deadline comes from the kernel's clock unless time is moved`() async throws {
        let reactor = try Reactor()
        defer { reactor.retire() }
        let until = reactor.now().advanced(by: 3_000_000)
        #expect(await ValueWaiter<Int>(on: reactor).wait(until: until, cancellation: nil).text == "timed out")
        #expect(reactor.now() >= until)
    }

    /// It may never have to wait, as a reader whose server is always ready. Long pieces of work, each a job or two,
    /// would otherwise come before what is due.
    @Test func `a task that lets others run is followed by what is due and by jobs of other threads`() async throws {
        let reactor = try Reactor()
        defer { reactor.retire() }
        let (timed, job, sent) = (Flag(), Flag(), Flag())
        let pieces = try await withTaskExecutorPreference(reactor) { @concurrent in
            let timer = reactor.schedule(Due(timed), at: reactor.now())
            defer { reactor.forget(timer) }
            try SystemThread.start(name: "other") {
                Task.detached(executorPreference: reactor) { job.set() }
                sent.set()
            }
            while !sent.isSet { sched_yield() }
            var pieces = 0
            while !timed.isSet || !job.isSet {
                await reactor.letOthersRun()
                pieces += 1
            }
            return pieces
        }
        #expect(pieces <= 2)
    }
}

extension Reactor {
    /// Comes back once so many timers are open.
    func reach(timers: Int) async throws {
        try await eventually("\(timers) timers", following: Turns(of: self)) { ledger.openTimers >= timers }
    }

    /// The same for just so many, which the loop alone tells of.
    fileprivate func comes(to timers: Int) async throws {
        try await eventually("\(timers) timers", following: Turns(of: self), every: .seconds(1000)) {
            ledger.openTimers == timers
        }
    }
}

extension ValueWaiter.Outcome {
    var text: String {
        switch self {
        case .value(let value): "value \(value)"
        case .timedOut: "timed out"
        case .cancelled: "interrupted"
        }
    }
}

final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

/// Says so when the loop lets go of it.
private final class Held: Timed {
    private let flag: Flag

    init(_ flag: Flag) {
        self.flag = flag
    }

    deinit {
        flag.set()
    }

    func deadlinePassed(at now: HTTP.Instant) -> HTTP.Instant { .never }
}

/// Says that its time has come.
private final class Due: Timed {
    private let flag: Flag

    init(_ flag: Flag) {
        self.flag = flag
    }

    func deadlinePassed(at now: HTTP.Instant) -> HTTP.Instant {
        flag.set()
        return .never
    }
}
