import Testing

@testable import Dunlin

@Suite struct `States of a request` {
    private enum Event: CaseIterable {
        case sent
        case finished
        case failed
        case cancelled
    }

    /// Each state by the events that lead there, and the state after each event; nil where it is refused.
    private static let table: [([Event], [TaskMachine.State?])] = [
        ([], [.running(hop: 1), .finished, .failed, .cancelled]),
        ([.sent], [.running(hop: 2), .finished, .failed, .cancelled]),
        ([.sent, .sent], [.running(hop: 3), .finished, .failed, .cancelled]),
        ([.sent, .finished], [nil, nil, nil, nil]), ([.sent, .failed], [nil, nil, nil, nil]),
        ([.cancelled], [nil, nil, nil, nil]), ([.sent, .cancelled], [nil, nil, nil, nil]),
    ]

    @Test func `follow one another as the table says, and in no other way`() {
        for (way, next) in Self.table {
            for (event, state) in zip(Event.allCases, next) {
                var machine = TaskMachine()
                for step in way { _ = Self.apply(step, to: &machine) }
                let before = machine.state
                #expect(Self.apply(event, to: &machine) == (state != nil), "\(way), then \(event)")
                #expect(machine.state == state ?? before, "\(way), then \(event)")
            }
        }
    }

    private static func apply(_ event: Event, to machine: inout TaskMachine) -> Bool {
        switch event {
        case .sent: machine.begin()
        case .finished: machine.end(.finished)
        case .failed: machine.end(.failed)
        case .cancelled: machine.end(.cancelled)
        }
    }

    @Test(arguments: [
        (TaskMachine.State.waiting, TaskSnapshot.State.waiting, TaskSnapshot.State.suspended),
        (.running(hop: 2), .running(hop: 2), .suspended), (.finished, .over, .over), (.failed, .over, .over),
        (.cancelled, .over, .over),
    ])
    func `are told as waiting, running, suspended or over`(
        state: TaskMachine.State, told: TaskSnapshot.State, toldWhenHeld: TaskSnapshot.State
    ) {
        #expect(state.told(isHeld: false) == told)
        #expect(state.told(isHeld: true) == toldWhenHeld)
    }
}
