import Testing

@testable import Dunlin

@Suite struct `Activity, by its rules` {
    private typealias Machine = ActivityMachine
    private typealias State = ActivityMonitor.State

    private enum Event {
        case enable(Bool)
        case disable
        case look(Bool)
        case waited(UInt64, Bool)
    }

    private static func apply(_ event: Event, to machine: inout Machine) -> Machine.Action {
        switch event {
        case .enable(let isBusy): machine.enable(isBusy: isBusy)
        case .disable: machine.disable()
        case .look(let isBusy): machine.look(isBusy: isBusy)
        case .waited(let number, let isBusy): machine.waited(number, isBusy: isBusy)
        }
    }

    private static let start = Machine.Action.wait(.seconds(1), number: 1)
    private static let stop = Machine.Action.wait(.milliseconds(170), number: 2)
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

    @Test(arguments: Self.tables.indices) func `goes through its four states`(index: Int) {
        let (name, steps) = Self.tables[index]
        var machine = Machine()
        for (number, (event, action, state)) in steps.enumerated() {
            #expect(Self.apply(event, to: &machine) == action, "\(name), step \(number)")
            #expect(machine.state == state, "\(name), step \(number)")
        }
    }

    @Test func `shows and hides in turn, whatever happens in whatever order`() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            var machine = Machine()
            var isShown = false
            for _ in 0..<30 {
                let isBusy = Bool.random(using: &generator)
                let event: Event =
                    switch Int.random(in: 0..<6, using: &generator) {
                    case 0: .enable(isBusy)
                    case 1: .disable
                    case 2, 3: .look(isBusy)
                    default: .waited(UInt64.random(in: 0..<12, using: &generator), isBusy)
                    }
                let action = Self.apply(event, to: &machine)
                #expect(!(action == .show && isShown) && !(action == .hide && !isShown))
                if action == .show || action == .hide { isShown = action == .show }
                #expect(machine.isVisible == isShown)
            }
        }
    }

    @Test func `takes its delays from those that are set`() {
        var machine = Machine()
        machine.delays = ActivityMonitor.Delays(activation: .zero, completion: .seconds(9))
        #expect(machine.enable(isBusy: true) == .wait(.zero, number: 1))
        #expect(machine.waited(1, isBusy: true) == .show)
        #expect(machine.look(isBusy: false) == .wait(.seconds(9), number: 2))
    }
}
