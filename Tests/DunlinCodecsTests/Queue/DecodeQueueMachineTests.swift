import Testing

@testable import DunlinCodecs

@Suite struct `Rules of the queue of decodes` {
    private enum Event {
        case enter(Int, bytes: Int)
        case cancel(Int)
        /// One of so many bytes is over.
        case leave(Int)
    }

    /// What was told to whom, in order: `+` for one who may go, `-` for one who need not wait any more, `?` for one who
    /// waits.
    private func told(_ events: [Event], decodes: Int, bytes: Int) -> String {
        var machine = DecodeQueueMachine<Int>(decodes: decodes, bytes: bytes)
        var ids: [Int: UInt64] = [:]
        var told: [String] = []
        func note(_ answers: [DecodeQueueMachine<Int>.Answer]) {
            told += answers.map { ($0.isAdmitted ? "+" : "-") + "\($0.waiter)" }
        }
        for event in events {
            switch event {
            case .enter(let who, let bytes):
                let id = ids[who] ?? machine.begin()
                ids[who] = id
                switch machine.enter(id, bytes, who) {
                case .admitted: told.append("+\(who)")
                case .waiting: told.append("?\(who)")
                case .cancelled: told.append("-\(who)")
                }
            case .cancel(let who):
                let id = ids[who] ?? machine.begin()
                ids[who] = id
                note(machine.cancel(id))
            case .leave(let bytes): note(machine.leave(bytes))
            }
        }
        return told.joined(separator: " ")
    }

    private static let plays: [(events: [Event], decodes: Int, told: String)] = [
        ([.enter(1, bytes: 10), .enter(2, bytes: 10), .leave(10)], 1, "+1 ?2 +2"),
        ([.enter(1, bytes: 60), .enter(2, bytes: 50), .enter(3, bytes: 1), .leave(60)], 9, "+1 ?2 ?3 +2 +3"),
        // What takes more than there is runs alone, and what comes after it waits.
        ([.enter(1, bytes: 900), .enter(2, bytes: 1), .leave(900)], 9, "+1 ?2 +2"),
        (
            [.enter(1, bytes: 1), .enter(2, bytes: 900), .enter(3, bytes: 1), .leave(1), .leave(900)], 9,
            "+1 ?2 ?3 +2 +3"
        ),
        // One that goes makes way for those behind it.
        ([.enter(1, bytes: 60), .enter(2, bytes: 50), .enter(3, bytes: 40), .cancel(2)], 9, "+1 ?2 ?3 -2 +3"),
        // A cancel before, and one after.
        ([.cancel(1), .enter(1, bytes: 1), .enter(2, bytes: 1)], 9, "-1 +2"),
        ([.enter(1, bytes: 1), .cancel(1), .enter(2, bytes: 1)], 1, "+1 ?2"),
        ([.enter(1, bytes: 1), .enter(2, bytes: 1), .cancel(2), .cancel(2), .leave(1)], 1, "+1 ?2 -2"),
    ]

    @Test(arguments: plays.indices)
    func `decodes run in order of arrival, within the limits`(play: Int) {
        let play = Self.plays[play]
        #expect(told(play.events, decodes: play.decodes, bytes: 100) == play.told)
    }
}
