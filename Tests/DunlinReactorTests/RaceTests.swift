import DunlinTypes
import Glibc
import Synchronization
import Testing

@testable import DunlinReactor

@Suite(.timeLimit(.minutes(10))) struct `Parking storm` {
    /// Delivery, deadline and interrupt at once from three tasks: exactly one of them is what the wait ended with.
    @Test func `a parking ends once, and only the winner believes that it won`() async throws {
        let time = ManualTime()
        let reactor = try Reactor(time: .manual(time))
        defer { reactor.retire() }
        var seen: [String: Int] = [:]
        for round in 0..<6000 {
            let parking = Parking<Int>(on: reactor)
            let interrupt = Interrupt()
            let until = time.now.advanced(by: 1)
            let first = round % 3
            async let outcome = parking.wait(until: until, interrupt: interrupt)
            async let delivered = Self.act(atOnce: first == 0) { parking.deliver(round) }
            async let cancelled = Self.act(atOnce: first == 1) { interrupt.cancel(.handle) }
            async let moved = Self.act(atOnce: first == 2) { time.advance(by: 1) }
            let (result, won) = await (outcome, delivered)
            _ = await (cancelled, moved)
            switch result {
            case .value(let value): #expect(value == round && won)
            case .timedOut, .interrupted: #expect(!won)
            }
            seen[result.text.split(separator: " ")[0].description, default: 0] += 1
            #expect(!parking.deliver(-1))
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
        let parking = Parking<Int>(on: reactor)
        if delivers { #expect(parking.deliver(5)) }
        if interrupts { parking.interrupt() }
        #expect(!parking.deliver(6))
        parking.interrupt()
        #expect(await parking.wait(until: .never, interrupt: nil).text == expected)
        #expect(!parking.deliver(7))
    }

    @Test(arguments: [Interrupt.Cause.task, .handle])
    func `a part is cancelled with the whole, and the whole not with a part`(cause: Interrupt.Cause) async throws {
        let reactor = try Reactor()
        defer { reactor.retire() }
        let whole = Interrupt()
        let (first, second) = (Interrupt(partOf: whole), Interrupt(partOf: whole))
        first.cancel(.task)
        #expect(first.cause == .task && second.cause == nil && whole.cause == nil)
        async let outcome = Parking<Int>(on: reactor).wait(until: .never, interrupt: second)
        whole.cancel(cause)
        #expect(await outcome.text == "interrupted")
        #expect(first.cause == .task && second.cause == cause)
        #expect(Interrupt(partOf: whole).cause == cause, "it was too late")
    }

    @Test func `a cancelled request does not begin to wait`() async throws {
        let reactor = try Reactor()
        defer { reactor.retire() }
        let interrupt = Interrupt()
        interrupt.cancel(.task)
        let parking = Parking<Int>(on: reactor)
        #expect(await parking.wait(until: .never, interrupt: interrupt).text == "interrupted")
        #expect(!parking.deliver(1))
    }

    @Test func `a cancel after the wait does nothing`() async throws {
        let reactor = try Reactor()
        defer { reactor.retire() }
        let interrupt = Interrupt()
        let parking = Parking<Int>(on: reactor)
        #expect(parking.deliver(3))
        #expect(await parking.wait(until: .never, interrupt: interrupt).text == "value 3")
        let bell = Bell()
        #expect(interrupt.arm(bell))
        interrupt.cancel(.handle)
        #expect(bell.rings == 1)
    }
}

/// Counts the interrupts it was hit by.
private final class Bell: Interruptible {
    private let count = Atomic(0)
    var rings: Int { count.load(ordering: .acquiring) }
    func interrupt() { count.add(1, ordering: .acquiringAndReleasing) }
}

@Suite(.timeLimit(.minutes(10))) struct `Cancel switch` {
    @Test(arguments: [(Interrupt.Cause.task, Interrupt.Cause.handle), (.handle, .task)])
    func `a cancel counts once, the first cause stays, and arming later is refused`(
        first: Interrupt.Cause, second: Interrupt.Cause
    ) {
        let (interrupt, bell) = (Interrupt(), Bell())
        #expect(interrupt.cause == nil)
        #expect(interrupt.arm(bell))
        interrupt.cancel(first)
        interrupt.cancel(second)
        #expect(interrupt.cause == first)
        #expect(bell.rings == 1)
        #expect(!interrupt.arm(bell))
        interrupt.disarm()
        #expect(!interrupt.arm(bell))
        #expect(bell.rings == 1)
    }

    @Test func `a cancel reaches only what was armed last, and nothing once disarmed`() {
        let (interrupt, old, new) = (Interrupt(), Bell(), Bell())
        #expect(interrupt.arm(old))
        #expect(interrupt.arm(new))
        interrupt.cancel(.handle)
        #expect([old.rings, new.rings] == [0, 1])
        let (other, spared) = (Interrupt(), Bell())
        #expect(other.arm(spared))
        other.disarm()
        other.cancel(.handle)
        #expect(spared.rings == 0)
        #expect(other.cause == .handle)
    }

    @Test func `a cancel reaches the channel and what is waited for beside it`() async throws {
        for isWaiting in [true, false] {
            let line = try Line()
            let (interrupt, bell) = (Interrupt(), Bell())
            let channel = line.channel
            let turn = try #require(channel.beginTurn())
            #expect(interrupt.arm(channel, turn: turn))
            #expect(interrupt.arm(bell))
            if !isWaiting { interrupt.disarm(bell as any Interruptible) }
            interrupt.cancel(.handle)
            #expect(bell.rings == (isWaiting ? 1 : 0))
            #expect(await channel.waitReadable(until: .never) == .interrupted)
        }
    }

    @Test func `a cancelled switch refuses a channel`() throws {
        let (line, interrupt) = (try Line(), Interrupt())
        #expect(interrupt.arm(line.channel, turn: 1))
        interrupt.cancel(.task)
        #expect(!interrupt.arm(line.channel, turn: 1))
    }

    /// Each request arms a bell of its own and is cancelled by four at once: one ring for each armed bell, none more.
    @Test func `many cancels ring one bell once`() async {
        for _ in 0..<2000 {
            let (interrupt, bell) = (Interrupt(), Bell())
            let armed = await withTaskGroup(of: Void.self) { group in
                for number in 0..<4 { group.addTask { interrupt.cancel(number < 2 ? .task : .handle) } }
                return interrupt.arm(bell)
            }
            #expect(bell.rings == (armed ? 1 : 0))
            #expect(interrupt.cause != nil)
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
            let interrupt = Interrupt()
            let turn = try #require(channel.beginTurn())
            async let cancelled: Void = Self.cancel(interrupt)
            if interrupt.arm(channel, turn: turn) { interrupt.disarm() }
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

    @concurrent private static func cancel(_ interrupt: Interrupt) async {
        interrupt.cancel(.handle)
    }
}
