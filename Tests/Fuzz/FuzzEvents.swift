import DunlinContent
import DunlinTypes

/// Streams of events: however a stream is cut, it has the same events, none of them larger than the limit or with an ID
/// that has a NUL. More bytes change nothing of the events before, and what follows the last empty line is no event.
enum FuzzEvents {
    private static let limit = 64

    static func violation(of input: [UInt8]) -> String? {
        let ways = cuts(of: input).map(read)
        guard let whole = ways.first else { return nil }
        if ways.contains(where: { $0 != whole }) { return "other events of other cuts" }
        for event in whole.events {
            if event.data.utf8.count > limit { return "an event of \(event.data.utf8.count) bytes" }
            if event.id.utf8.contains(0) { return "an ID with a NUL" }
            if let retry = event.retry, retry < .zero { return "a negative wait" }
        }
        if let last = whole.events.last, whole.isAtEvent, last.id != whole.lastEventID { return "an ID that is lost" }
        let longer = read([input + Array("\ndata: more".utf8)])
        if !whole.failed, !longer.failed, longer.events.prefix(whole.events.count) != whole.events[...] {
            return "events that more bytes change"
        }
        return nil
    }

    private struct Outcome: Equatable {
        var events: [ServerSentEvent] = []
        var lastEventID = ""
        var failed = false
        /// Whether the last event is the last thing that happened.
        var isAtEvent = false
    }

    private static func read(_ pieces: [[UInt8]]) -> Outcome {
        var lines = LineMachine(limit: limit + 8, returnsEndLines: true)
        var machine = ServerSentEventMachine(limit: limit)
        var outcome = Outcome()
        func take(_ line: Bytes) throws {
            outcome.isAtEvent = false
            guard let event = try machine.take(line) else { return }
            outcome.events.append(event)
            outcome.isAtEvent = true
        }
        do {
            for piece in pieces {
                lines.take(Bytes(piece))
                while let line = try lines.next() { try take(line) }
            }
            if let line = try lines.finish() { try take(line) }
        } catch {
            outcome.failed = true
        }
        outcome.lastEventID = machine.lastEventID
        return outcome
    }
}
