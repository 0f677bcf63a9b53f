import Dunlin
import LedgerRows
import Testing

@testable import DunlinActivity

@Suite struct `Activity, by its rules` {
    private typealias Machine = ActivityMachine
    private typealias State = ActivityMonitor.State
    private typealias Work = ActivityMachine.Work

    private enum Event {
        case enable(Bool)
        case disable
        case look(Bool)
        /// Nothing goes on, and something that nobody saw ended so many milliseconds ago.
        case ended(Int)
        case waited(UInt64, Bool)
        case waitedAfterEnd(UInt64, Int)
        /// The last end was seen before.
        case waitedIdle(UInt64, Int)
    }

    private static func apply(_ event: Event, to machine: inout Machine) -> Machine.Action {
        switch event {
        case .enable(let isBusy):
            machine.enable()
            return machine.look(Work(goesOn: isBusy))
        case .disable: return machine.disable()
        case .look(let isBusy): return machine.look(Work(goesOn: isBusy))
        case .ended(let time): return machine.look(ended(time))
        case .waited(let number, let isBusy): return machine.waited(number, Work(goesOn: isBusy))
        case .waitedAfterEnd(let number, let time): return machine.waited(number, ended(time))
        case .waitedIdle(let number, let time):
            return machine.waited(number, Work(idleTime: .milliseconds(time)))
        }
    }

    private static func ended(_ milliseconds: Int) -> Work {
        Work(hasEnded: true, idleTime: .milliseconds(milliseconds))
    }

    private static let start = Machine.Action.wait(.seconds(1), number: 1)
    private static let stop = Machine.Action.wait(.milliseconds(170), number: 2)
    private static func left(_ milliseconds: Int, _ number: UInt64) -> Machine.Action {
        .wait(.milliseconds(milliseconds), number: number)
    }
    /// Work that is shown.
    private static let shown: [(Event, Machine.Action, State)] = [
        (.enable(true), start, .delayingStart), (.waited(1, true), .show, .active),
    ]
    /// Work that has just ended.
    private static let ending = shown + [(.look(false), stop, .delayingEnd)]

    private static let tables: [(String, [(Event, Machine.Action, State)])] = [
        ("nothing is shown while disabled", [(.look(true), .none, .notActive), (.look(false), .none, .notActive)]),
        ("disabled twice", [(.disable, .none, .notActive), (.disable, .none, .notActive)]),
        ("enabled while idle", [(.enable(false), .none, .notActive), (.look(true), start, .delayingStart)]),
        (
            "what happens meanwhile changes nothing",
            [
                (.enable(true), start, .delayingStart), (.look(false), .none, .delayingStart),
                (.look(true), .none, .delayingStart), (.waited(1, true), .show, .active),
            ]
        ),
        (
            "short work is never seen",
            [
                (.enable(true), start, .delayingStart), (.look(false), .none, .delayingStart),
                (.waited(1, false), .none, .notActive),
                (.look(true), .wait(.seconds(1), number: 2), .delayingStart),
            ]
        ),
        ("shown, then hidden", ending + [(.waited(2, false), .hide, .notActive)]),
        ("no change while shown", shown + [(.look(true), .none, .active), (.enable(true), .none, .active)]),
        (
            "more work in time",
            ending + [
                (.look(true), .stopWaiting, .active), (.waited(2, true), .none, .active),
                (.look(false), .wait(.milliseconds(170), number: 4), .delayingEnd),
                (.waited(2, false), .none, .delayingEnd), (.waited(4, false), .hide, .notActive),
            ]
        ),
        ("more work at the last moment", ending + [(.waited(2, true), .stopWaiting, .active)]),
        ("idle twice is one wait", ending + [(.look(false), .none, .delayingEnd)]),
        (
            "work that nobody saw begins a wait too",
            [(.enable(false), .none, .notActive), (.ended(3), start, .delayingStart)]
        ),
        ("what ended unseen is hidden by its end", shown + [(.ended(30), left(140, 2), .delayingEnd)]),
        ("what ended unseen long ago is hidden at once", shown + [(.ended(300), left(0, 2), .delayingEnd)]),
        (
            "more work in time that nobody saw",
            ending + [
                (.ended(50), left(120, 3), .delayingEnd), (.waited(2, false), .none, .delayingEnd),
                (.waitedAfterEnd(3, 10), left(160, 4), .delayingEnd), (.waitedIdle(4, 170), .hide, .notActive),
            ]
        ),
        (
            "between two that follow each other there is work",
            [(.enable(true), start, .delayingStart), (.waitedAfterEnd(1, 4), .show, .active)]
        ),
        (
            "seen between them by an earlier look",
            [(.enable(true), start, .delayingStart), (.waitedIdle(1, 4), .show, .active)]
        ),
        (
            "after a gap there is none",
            [(.enable(true), start, .delayingStart), (.waitedAfterEnd(1, 5), .none, .notActive)]
        ),
        ("the end of the last is no more work", ending + [(.waitedIdle(2, 1), .hide, .notActive)]),
        (
            "disabled before it is shown",
            [
                (.enable(true), start, .delayingStart), (.disable, .stopWaiting, .notActive),
                (.waited(1, true), .none, .notActive), (.look(true), .none, .notActive),
            ]
        ),
        ("disabled while shown", shown + [(.disable, .hide, .notActive), (.look(false), .none, .notActive)]),
        (
            "disabled while about to be hidden",
            ending + [
                (.disable, .hide, .notActive), (.waited(2, false), .none, .notActive),
            ]
        ),
    ]

    @Test(.rows("AI-3", "AI-4", "AI-5", "AI-6", "AI-7", "AI-8", "AI-9", "AI-20"), arguments: Self.tables.indices)
    func `the activity machine goes through its four states as its tables say`(index: Int) {
        let (name, steps) = Self.tables[index]
        var machine = Machine()
        for (number, (event, action, state)) in steps.enumerated() {
            #expect(Self.apply(event, to: &machine) == action, "\(name), step \(number)")
            #expect(machine.state == state, "\(name), step \(number)")
        }
    }

    @Test(.rows("AI-10")) func `the activity machine shows and hides in turn, in whatever order events come`() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            var machine = Machine()
            var isShown = false
            for _ in 0..<30 {
                let isBusy = Bool.random(using: &generator)
                let event: Event =
                    switch Int.random(in: 0..<8, using: &generator) {
                    case 0: .enable(isBusy)
                    case 1: .disable
                    case 2, 3: .look(isBusy)
                    case 4: .ended(Int.random(in: 0..<300, using: &generator))
                    case 5: .waitedAfterEnd(UInt64.random(in: 0..<12, using: &generator), 7)
                    default: .waited(UInt64.random(in: 0..<12, using: &generator), isBusy)
                    }
                let action = Self.apply(event, to: &machine)
                #expect(!(action == .show && isShown) && !(action == .hide && !isShown))
                if action == .show || action == .hide { isShown = action == .show }
                #expect(machine.isVisible == isShown)
            }
        }
    }

    @Test(.rows("AI-2", "AI-20")) func `the activity machine waits as long as the delays that are set`() {
        var machine = Machine()
        machine.delays = ActivityMonitor.Delays(activation: .zero, completion: .seconds(9))
        machine.enable()
        #expect(machine.look(Work(goesOn: true)) == .wait(.zero, number: 1))
        #expect(machine.waited(1, Work(goesOn: true)) == .show)
        #expect(machine.look(Work()) == .wait(.seconds(9), number: 2))
    }

    @Test func `while work is shown, either the next end is asked for or a rest is kept`() {
        var machine = Machine()
        machine.enable()
        #expect(machine.news(isRested: false) == .arrival)
        _ = machine.look(Work(goesOn: true))
        #expect(machine.news(isRested: true) == .nothing)
        _ = machine.waited(1, Work(goesOn: true))
        #expect(machine.news(isRested: true) == .end)
        #expect(machine.news(isRested: false) == .nothing)
        #expect(machine.rest() == .wait(.milliseconds(50), number: 2))
        // What ends meanwhile is found by the look that comes after it.
        #expect(machine.look(Self.ended(40)) == Self.left(130, 3))
        #expect(!machine.isWaiting(2))
        #expect(machine.news(isRested: true) == .arrival)
        #expect(machine.news(isRested: true, isQuick: true) == .nothing)
    }
}
