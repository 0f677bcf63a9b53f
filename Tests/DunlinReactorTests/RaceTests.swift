import DunlinTypes
import Glibc
import Synchronization
import Testing

@testable import DunlinReactor

@Suite(.timeLimit(.minutes(10))) struct `Parking storm` {
    /// Delivery, deadline and interrupt at once from three tasks: exactly one of them is what the wait ended with.
    @Test func `a wait ends once, and only the winner believes that it won`() async throws {
        let time = ManualTime()
        let reactor = try Reactor(time: .manual(time))
        defer { reactor.retire() }
        var seen: [String: Int] = [:]
        for round in 0..<6000 {
            let waiter = ValueWaiter<Int>(on: reactor)
            let cancellation = Cancellation()
            let until = time.now.advanced(by: 1)
            let first = round % 3
            async let outcome = waiter.wait(until: until, cancellation: cancellation)
            async let delivered = Self.act(atOnce: first == 0) { waiter.deliver(round) }
            async let cancelled = Self.act(atOnce: first == 1) { cancellation.cancel(.handle) }
            async let moved = Self.act(atOnce: first == 2) { time.advance(by: 1) }
            let (result, won) = await (outcome, delivered)
            _ = await (cancelled, moved)
            switch result {
            case .value(let value): #expect(value == round && won)
            case .timedOut, .cancelled: #expect(!won)
            }
            seen[result.text.split(separator: " ")[0].description, default: 0] += 1
            #expect(!waiter.deliver(-1))
        }
        #expect(reactor.ledger.openTimers == 0)
        #expect(seen.values.reduce(0, +) == 6000)
        #expect(seen["value", default: 0] > 0)
    }

    /// Lets another of the three go first each round.
    @concurrent private static func act<Value>(atOnce: Bool, _ action: () -> Value) async -> Value {
        if !atOnce { await Task.yield() }
        return action()
    }

    @Test(arguments: [(true, false, "value 5"), (false, true, "interrupted")])
    func `a value or an interrupt that came before the wait counts`(delivers: Bool, interrupts: Bool, expected: String)
        async throws
    {
        let reactor = try Reactor()
        defer { reactor.retire() }
        let waiter = ValueWaiter<Int>(on: reactor)
        if delivers { #expect(waiter.deliver(5)) }
        if interrupts { waiter.cancel() }
        #expect(!waiter.deliver(6))
        waiter.cancel()
        #expect(await waiter.wait(until: .never, cancellation: nil).text == expected)
        #expect(!waiter.deliver(7))
    }

    @Test(arguments: [Cancellation.Cause.task, .handle])
    func `a part is cancelled with the whole, and the whole not with a part`(cause: Cancellation.Cause) async throws {
        let reactor = try Reactor()
        defer { reactor.retire() }
        let whole = Cancellation()
        let (first, second) = (Cancellation(partOf: whole), Cancellation(partOf: whole))
        first.cancel(.task)
        #expect(first.cause == .task && second.cause == nil && whole.cause == nil)
        async let outcome = ValueWaiter<Int>(on: reactor).wait(until: .never, cancellation: second)
        whole.cancel(cause)
        #expect(await outcome.text == "interrupted")
        #expect(first.cause == .task && second.cause == cause)
        #expect(Cancellation(partOf: whole).cause == cause, "it was too late")
    }

    @Test func `a cancelled request does not begin to wait`() async throws {
        let reactor = try Reactor()
        defer { reactor.retire() }
        let cancellation = Cancellation()
        cancellation.cancel(.task)
        let waiter = ValueWaiter<Int>(on: reactor)
        #expect(await waiter.wait(until: .never, cancellation: cancellation).text == "interrupted")
        #expect(!waiter.deliver(1))
    }

    @Test func `a cancel after the wait does nothing`() async throws {
        let reactor = try Reactor()
        defer { reactor.retire() }
        let cancellation = Cancellation()
        let waiter = ValueWaiter<Int>(on: reactor)
        #expect(waiter.deliver(3))
        #expect(await waiter.wait(until: .never, cancellation: cancellation).text == "value 3")
        let counter = InterruptCounter()
        #expect(cancellation.arm(counter))
        cancellation.cancel(.handle)
        #expect(counter.rings == 1)
    }
}

/// Counts the interrupts it was hit by.
private final class InterruptCounter: Cancellable {
    private let count = Atomic(0)
    var rings: Int { count.load(ordering: .acquiring) }
    func cancel() { count.add(1, ordering: .acquiringAndReleasing) }
}

@Suite(.timeLimit(.minutes(10))) struct `Cancel switch` {
    @Test(arguments: [(Cancellation.Cause.task, Cancellation.Cause.handle), (.handle, .task)])
    func `a cancel counts once, the first cause stays, and arming later is refused`(
        first: Cancellation.Cause, second: Cancellation.Cause
    ) {
        let (cancellation, counter) = (Cancellation(), InterruptCounter())
        #expect(cancellation.cause == nil)
        #expect(cancellation.arm(counter))
        cancellation.cancel(first)
        cancellation.cancel(second)
        #expect(cancellation.cause == first)
        #expect(counter.rings == 1)
        #expect(!cancellation.arm(counter))
        cancellation.disarm()
        #expect(!cancellation.arm(counter))
        #expect(counter.rings == 1)
    }

    @Test func `a cancel reaches only what was armed last, and nothing once disarmed`() {
        let (cancellation, old, new) = (Cancellation(), InterruptCounter(), InterruptCounter())
        #expect(cancellation.arm(old))
        #expect(cancellation.arm(new))
        cancellation.cancel(.handle)
        #expect([old.rings, new.rings] == [0, 1])
        let (other, spared) = (Cancellation(), InterruptCounter())
        #expect(other.arm(spared))
        other.disarm()
        other.cancel(.handle)
        #expect(spared.rings == 0)
        #expect(other.cause == .handle)
    }

    @Test func `a cancel reaches the channel and what is waited for beside it`() async throws {
        for isWaiting in [true, false] {
            let pair = try ChannelPair()
            let (cancellation, counter) = (Cancellation(), InterruptCounter())
            let channel = pair.channel
            let turn = try #require(channel.beginTurn())
            #expect(cancellation.arm(channel, turn: turn))
            #expect(cancellation.arm(counter))
            if !isWaiting { cancellation.disarm(counter as any Cancellable) }
            cancellation.cancel(.handle)
            #expect(counter.rings == (isWaiting ? 1 : 0))
            #expect(await channel.waitReadable(until: .never) == .cancelled)
        }
    }

    @Test func `a cancelled switch refuses a channel`() throws {
        let (pair, cancellation) = (try ChannelPair(), Cancellation())
        #expect(cancellation.arm(pair.channel, turn: 1))
        cancellation.cancel(.task)
        #expect(!cancellation.arm(pair.channel, turn: 1))
    }

    /// Each request arms a counter of its own and is cancelled by four at once: one interrupt for each, none more.
    @Test func `many cancels interrupt once`() async {
        for _ in 0..<2000 {
            let (cancellation, counter) = (Cancellation(), InterruptCounter())
            let armed = await withTaskGroup(of: Void.self) { group in
                for number in 0..<4 { group.addTask { cancellation.cancel(number < 2 ? .task : .handle) } }
                return cancellation.arm(counter)
            }
            #expect(counter.rings == (armed ? 1 : 0))
            #expect(cancellation.cause != nil)
        }
    }

    /// A request is cancelled while it goes from turn to turn of one channel, as the next request already uses it.
    @Test func `a cancel never reaches the turn of the next request`() async throws {
        let reactor = try Reactor()
        defer { reactor.retire() }
        let pair = try Pair()
        let far = pair.far.descriptor
        let channel = try Channel(Socket(adopting: dup(pair.near.descriptor)), on: reactor)
        defer { channel.close() }
        for _ in 0..<3000 {
            let cancellation = Cancellation()
            let turn = try #require(channel.beginTurn())
            async let cancelled: Void = Self.cancel(cancellation)
            if cancellation.arm(channel, turn: turn) { cancellation.disarm() }
            #expect(channel.endTurn())
            _ = try #require(channel.beginTurn())
            async let wake = channel.waitReadable(until: .never)
            await cancelled
            #expect(send(far, "x", 1, 0) == 1)
            #expect(await wake == .ready)
            #expect(try channel.read(upTo: 2)?.count == 1)
            _ = channel.endTurn()
        }
    }

    @concurrent private static func cancel(_ cancellation: Cancellation) async {
        cancellation.cancel(.handle)
    }
}
