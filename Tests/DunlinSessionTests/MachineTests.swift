import Dunlin
import LedgerRows
import Testing

@testable import DunlinContent
@testable import DunlinSession
@testable import DunlinTransfers

@Suite struct `Task machine` {
    @Test func `a task counts how often its request was sent`() {
        var machine = TaskMachine()
        #expect(machine.state == .waiting)
        let begun = [machine.begin(), machine.begin()]
        #expect(begun == [true, true])
        #expect(machine.state == .running(hop: 2))
    }

    @Test(.rows("SM-51", "OP-4"), arguments: [TaskMachine.State.finished, .failed, .cancelled], [0, 1, 2])
    func `the first end of a task counts, and later ones change nothing`(end: TaskMachine.State, hops: Int) {
        var machine = TaskMachine()
        for _ in 0..<hops { _ = machine.begin() }
        let ended = [machine.end(end), machine.end(.finished), machine.end(.failed), machine.end(.cancelled)]
        #expect(ended == [true, false, false, false])
        let begun = machine.begin()
        #expect(!begun)
        #expect(machine.state == end)
    }
}

/// What becomes of a request in each state, and what is told of it: all there is.
@Suite struct `Task states` {
    enum Event: CaseIterable {
        case begin
        case pause
        case finish
        case fail
        case cancel
    }

    private static let states: [TaskMachine.State] = [
        .waiting, .running(hop: 1), .running(hop: 7), .pausing(hop: 7), .finished, .failed, .cancelled,
    ]

    /// By state, in the order of events.
    private static let table: [[TaskMachine.State]] = [
        [.running(hop: 1), .waiting, .finished, .failed, .cancelled],
        [.running(hop: 2), .pausing(hop: 1), .finished, .failed, .cancelled],
        [.running(hop: 8), .pausing(hop: 7), .finished, .failed, .cancelled],
        [.running(hop: 8), .pausing(hop: 7), .finished, .failed, .cancelled],
        [.finished, .finished, .finished, .finished, .finished],
        [.failed, .failed, .failed, .failed, .failed],
        [.cancelled, .cancelled, .cancelled, .cancelled, .cancelled],
    ]

    private static func machine(in state: TaskMachine.State) -> TaskMachine {
        var machine = TaskMachine()
        switch state {
        case .waiting: break
        case .running(let hop): for _ in 0..<hop { _ = machine.begin() }
        case .pausing(let hop):
            for _ in 0..<hop { _ = machine.begin() }
            _ = machine.pause()
        case .finished, .failed, .cancelled: _ = machine.end(state)
        }
        return machine
    }

    @Test(.rows("OP-3"), arguments: states.indices, Event.allCases.indices)
    func `each event leads a task from its state to the one in the table`(state: Int, event: Int) {
        var machine = Self.machine(in: Self.states[state])
        let changes =
            switch Event.allCases[event] {
            case .begin: machine.begin()
            case .pause: machine.pause()
            case .finish: machine.end(.finished)
            case .fail: machine.end(.failed)
            case .cancel: machine.end(.cancelled)
            }
        #expect(machine.state == Self.table[state][event])
        #expect(changes == (Self.table[state][event] != Self.states[state]))
    }

    @Test(.rows("OP-2"), arguments: states.indices)
    func `a task's state tells whether the request is suspended, until it is over`(state: Int) {
        let told = [false, true].map { Self.states[state].shown(isSuspended: $0) }
        let expected: [[HTTPSession.TaskSnapshot.State]] = [
            [.waiting, .suspended], [.running(hop: 1), .suspended], [.running(hop: 7), .suspended],
            [.waitingToRetry(hop: 7), .suspended], [.over, .over], [.over, .over], [.over, .over],
        ]
        #expect(told == expected[state])
    }
}

@Suite struct `Registry machine` {
    private static func add(_ name: String, to machine: inout RegistryMachine<String, Int>) throws -> Int {
        let slot = machine.add(name, of: 1)
        return try #require(slot)
    }

    /// Those who are told.
    private static func remove(_ slot: Int, from machine: inout RegistryMachine<String, Int>) -> [Int] {
        if machine.remove(slot, at: nil) { return [] }
        return machine.end(slot, at: nil)
    }

    @Test(.rows("SM-8")) func `the registry knows which requests run, and uses free slots again`() {
        var machine = RegistryMachine<String, Int>()
        let slots = ["a", "b", "c"].map { machine.add($0, of: 1) }
        #expect(Set(slots.compactMap(\.self)).count == 3)
        #expect(machine.running.sorted() == ["a", "b", "c"])
        if let slot = slots[1] { _ = Self.remove(slot, from: &machine) }
        #expect(machine.running.sorted() == ["a", "c"])
        #expect(machine.count == 2)
        let again = machine.add("d", of: 1)
        #expect(again == slots[1])
        #expect(machine.running.sorted() == ["a", "c", "d"])
    }

    @Test func `those who wait for all requests are told once, when the last has ended`() throws {
        var machine = RegistryMachine<String, Int>()
        let (a, b) = (try Self.add("a", to: &machine), try Self.add("b", to: &machine))
        let endObservers = [machine.wait(1), machine.wait(2), machine.wait(3)]
        #expect(Set(endObservers.map(\.id)).count == 3)
        machine.leave(endObservers[1].id)
        let told = [Self.remove(a, from: &machine), Self.remove(b, from: &machine)]
        #expect(told == [[], [1, 3]])
        let c = try Self.add("c", to: &machine)
        let later = Self.remove(c, from: &machine)
        #expect(later == [])
    }

    @Test func `a wait within a request leaves out that request, and others that wait themselves`() throws {
        var machine = RegistryMachine<String, Int>()
        let (a, b) = (try Self.add("a", to: &machine), try Self.add("b", to: &machine))
        let c = try Self.add("c", to: &machine)
        _ = machine.wait(9)
        let first = machine.wait(1) { $0 == "a" }
        #expect(first.told == [])
        let second = machine.wait(2) { $0 == "b" }
        #expect(second.told == [])
        var told = Self.remove(c, from: &machine)
        #expect(told == [1, 2])
        told = Self.remove(a, from: &machine)
        #expect(told == [])
        told = Self.remove(b, from: &machine)
        #expect(told == [9])
    }

    @Test func `a wait for an ended era does not include later requests`() throws {
        var machine = RegistryMachine<String, Int>()
        let (a, b) = (try Self.add("a", to: &machine), try Self.add("b", to: &machine))
        machine.close(1)
        machine.unlist(b)
        let new = machine.add("new", of: 2)
        let c = try #require(new)
        #expect(machine.running(upTo: 1) == ["a"])
        let first = machine.observeEnd(upTo: 1)
        // Within a request, it leaves that out, and those that others wait within.
        let (second, _) = (machine.observeEnd(upTo: 1), machine.leaveOut { $0 == "a" })
        let isWaiting = [machine.wait(first, isWithin: false, 1), machine.wait(second, isWithin: true, 2)]
        #expect(isWaiting == [true, true])
        let told = [b, a].map { Self.remove($0, from: &machine) }
        #expect(told == [[2], [1]])
        // Nobody waits for a request that was given the place of another.
        let third = machine.observeEnd(upTo: 1)
        let isWaitingStill = machine.wait(third, isWithin: false, 3)
        #expect(!isWaitingStill)
        #expect(Self.remove(c, from: &machine) == [])
    }

    @Test func `a wait within all the requests that run ends at once`() throws {
        var machine = RegistryMachine<String, Int>()
        _ = try Self.add("a", to: &machine)
        _ = try Self.add("b", to: &machine)
        let observing = machine.wait(1) { _ in true }
        #expect(observing.told == [1])
    }

    @Test func `a wait for all requests ends at once while none runs`() {
        var machine = RegistryMachine<String, Int>()
        let observing = machine.wait(1)
        #expect(observing.told == [1])
    }

    @Test func `only waiters of a request are told when it has ended`() throws {
        var machine = RegistryMachine<String, Int>()
        let (a, b) = (try Self.add("a", to: &machine), try Self.add("b", to: &machine))
        let followings = try [("a", 1), ("b", 2), ("a", 3), ("a", 4)].map { name, observer in
            let following = machine.observeRequest(observer) { $0 == name }
            return try #require(following)
        }
        _ = machine.wait(9)
        machine.leave(followings[2])
        let told = [Self.remove(a, from: &machine), Self.remove(b, from: &machine)]
        #expect(told == [[1, 4], [2, 9]])
    }

    @Test func `a reused place ends no wait for another request`() throws {
        var machine = RegistryMachine<String, Int>()
        let a = try Self.add("a", to: &machine)
        let early = machine.observeRequest(1) { $0 == "a" }
        _ = Self.remove(a, from: &machine)
        #expect(try Self.add("b", to: &machine) == a)
        let late = machine.observeRequest(2) { $0 == "b" }
        machine.leave(try #require(early))
        let told = Self.remove(a, from: &machine)
        #expect(told == [2])
        machine.leave(try #require(late))
    }

    @Test func `a request that is not on the list, or no longer, is not waited for`() throws {
        var machine = RegistryMachine<String, Int>()
        let a = try Self.add("a", to: &machine)
        machine.unlist(a)
        let followings = ["a", "b"].map { name in machine.observeRequest(1) { $0 == name } == nil }
        #expect(followings == [true, true])
        let told = Self.remove(a, from: &machine)
        #expect(told == [])
    }

    @Test func `a wait within another session's request leaves out requests that wait themselves`() throws {
        var machine = RegistryMachine<String, Int>()
        let (a, b) = (try Self.add("a", to: &machine), try Self.add("b", to: &machine))
        let waiter = machine.observeEnd()
        let isWaiting = machine.wait(waiter, isWithin: true, 1)
        #expect(isWaiting)
        let other = machine.leaveOut { $0 == "a" }
        #expect(other.informed == [])
        var told = Self.remove(b, from: &machine)
        #expect(told == [1])
        // It may fill again while another list is waited for.
        let c = try Self.add("c", to: &machine)
        let isWaitingAgain = machine.wait(waiter, isWithin: true, 2)
        #expect(isWaitingAgain)
        told = Self.remove(c, from: &machine)
        #expect(told == [2])
        told = Self.remove(a, from: &machine)
        #expect(told == [])
    }

    @Test func `a caller who has left is told of nothing and may not wait again`() throws {
        var machine = RegistryMachine<String, Int>()
        let a = try Self.add("a", to: &machine)
        let observing = machine.wait(1)
        machine.leave(observing.id)
        let isWaiting = machine.wait(observing.id, isWithin: false, 2)
        #expect(!isWaiting)
        let told = Self.remove(a, from: &machine)
        #expect(told == [])
    }

    @Test func `a closed registry takes no more requests made before, and lets the rest end`() throws {
        var machine = RegistryMachine<String, Int>()
        let a = try Self.add("a", to: &machine)
        machine.close(1)
        let refused = machine.add("b", of: 1)
        #expect(refused == nil)
        #expect(machine.running == ["a"])
        _ = machine.wait(1)
        let told = Self.remove(a, from: &machine)
        #expect(told == [1])
    }

    @Test(
        arguments: [
            (0, 0, 1, nil), (1, 0, 1, .closed), (0, 1, 1, .cancelled), (1, 0, 2, nil), (1, 2, 2, .cancelled),
            (2, 1, 2, .closed), (2, 1, 1, .closed), (1, 2, 1, .closed), (3, 2, 4, nil),
        ] as [(UInt64, UInt64, UInt64, RegistryMachine<String, Int>.Refusal?)])
    func `a request made before a cancel of all or a shutdown is refused, however late it comes`(
        closed: UInt64, cancelled: UInt64, era: UInt64, refusal: RegistryMachine<String, Int>.Refusal?
    ) {
        var machine = RegistryMachine<String, Int>()
        machine.close(closed)
        machine.cancel(cancelled)
        // What is told late counts no less.
        machine.close(0)
        machine.cancel(0)
        #expect((machine.add("a", of: era) == nil) == (refusal != nil))
        var thrown: RegistryMachine<String, Int>.Refusal?
        do { _ = try machine.admit("b", of: era, moves: true) } catch { thrown = error }
        #expect(thrown == refusal)
        #expect(machine.count == (refusal == nil ? 2 : 0) && machine.arrivals == UInt64(machine.count))
    }
}

extension RegistryMachine {
    /// Waits for the last to end, within some requests if there are any. Those who are told at once.
    mutating func wait(
        _ observer: Observer, leavingOut isLeftOut: ((Delegate) -> Bool)? = nil
    ) -> (id: UInt64, told: [Observer]) {
        let informed = isLeftOut.map { leaveOut(where: $0).informed } ?? []
        let id = observeEnd()
        return (id, informed + (wait(id, isWithin: isLeftOut != nil, observer) ? [] : [observer]))
    }
}
