import DunlinRules
import Testing

@testable import DunlinSession

/// What one reader of a trace gets.
@Suite(.timeLimit(.minutes(10))) struct TraceMachineTests {
    typealias Machine = TraceMachine<Int, String>

    enum Step: Sendable {
        case add(Int)
        case next(String)
        case end
    }

    /// What the machine does, in words.
    private static func actions(capacity: Int, _ steps: [Step]) -> [String] {
        var machine = Machine(capacity: capacity)
        return steps.map { step in
            let action =
                switch step {
                case .add(let number): machine.add(number)
                case .next(let reader): machine.next(reader)
                case .end: machine.end()
                }
            switch action {
            case .none: return "-"
            case .resume(let reader, .element(let number)?): return "\(reader) \(number)"
            case .resume(let reader, .lost(let count)?): return "\(reader) lost \(count)"
            case .resume(let reader, nil): return "\(reader) end"
            }
        }
    }

    @Test(
        arguments: [
            ([.add(1), .add(2), .next("a"), .next("b"), .next("c")], ["-", "-", "a 1", "b 2", "-"]),
            ([.next("a"), .add(1), .next("b"), .end], ["-", "a 1", "-", "b end"]),
            ([.add(1), .end, .add(2), .next("a"), .next("b")], ["-", "-", "-", "a 1", "b end"]),
            ([.next("a"), .next("b"), .add(1)], ["-", "b end", "a 1"]),
        ] as [([Step], [String])])
    func `events are read in order, awaited, and end`(steps: [Step], expected: [String]) {
        #expect(Self.actions(capacity: 10, steps) == expected)
    }

    @Test(
        arguments: [
            // Full with three; what comes then is told in its place.
            (
                3,
                [
                    .add(1), .add(2), .add(3), .add(4), .add(5), .next("a"), .next("b"), .add(6), .next("c"),
                    .next("d"),
                    .next("e"), .next("f"),
                ],
                ["-", "-", "-", "-", "-", "a 1", "b 2", "-", "c 3", "d lost 2", "e 6", "-"]
            ),
            // One free place is too little for the word and an event.
            (
                2, [.add(1), .add(2), .add(3), .next("a"), .add(4), .next("b"), .next("c"), .next("d")],
                ["-", "-", "-", "a 1", "-", "b 2", "c lost 2", "-"]
            ),
            // Also at the end.
            (
                2, [.add(1), .add(2), .add(3), .end, .next("a"), .next("b"), .next("c"), .next("d")],
                ["-", "-", "-", "-", "a 1", "b 2", "c lost 1", "d end"]
            ),
        ] as [(Int, [Step], [String])])
    func `events without room are counted, and reported where they are missing`(
        capacity: Int, steps: [Step], expected: [String]
    ) {
        #expect(Self.actions(capacity: capacity, steps) == expected)
    }

    @Test func `events that were read take no room, however many`() {
        var machine = Machine(capacity: 4)
        for number in 0..<10_000 {
            _ = machine.add(number)
            guard case .resume("r", .element(number)?) = machine.next("r") else {
                Issue.record("\(number) was not read")
                return
            }
        }
    }

    @Test func `a trace that nobody keeps is observed no more`() async {
        let hub = EventHub(always: false)
        do {
            let trace = hub.trace(TraceReader(wantedBytes: nil, capacity: 10))
            #expect(hub.hasObservers && hub.hasReaders && hub.tracers.count == 1)
            _ = trace
        }
        #expect(!hub.hasObservers && !hub.hasReaders && hub.tracers.isEmpty)
        let trace = hub.trace(TraceReader(wantedBytes: nil, capacity: 10))
        hub.tell(hub.noteEnd())
        #expect(!hub.hasReaders && hub.tracers.isEmpty)
        for await _ in trace { Issue.record("nothing was told") }
        #expect(!hub.hasObservers)
    }
}
