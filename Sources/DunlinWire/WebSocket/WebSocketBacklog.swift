internal import DunlinTypes

/// The messages, or pieces of them, that have arrived and that nobody has taken, in order.
///
/// Rules:
/// 1. Nothing is read while the backlog has reached its limit. So it exceeds the limit by at most what one read brings.
/// 2. An empty message counts too, as what keeping it costs: it takes two bytes to send one.
package struct WebSocketBacklog: Sendable {
    /// What keeping a message costs beside its bytes.
    private static let cost = 64

    private let limit: Int
    private var messages: [(message: WebSocketMessage, isLast: Bool)] = []
    /// The number of messages at the beginning of `messages` that have been taken.
    private var takenCount = 0
    /// The length of all messages, with what keeping them costs.
    package private(set) var bytes = 0

    package init(limits: WebSocketLimits = WebSocketLimits()) {
        limit = limits.backlogBytes
    }

    package var isEmpty: Bool { takenCount == messages.count }

    /// Whether the connection may be read.
    package var mayRead: Bool { isEmpty || bytes < limit }

    package mutating func add(_ message: WebSocketMessage, isLast: Bool) {
        messages.append((message, isLast))
        bytes += Self.cost(of: message)
    }

    package mutating func take() -> (message: WebSocketMessage, isLast: Bool)? {
        guard !isEmpty else { return nil }
        let first = messages[takenCount]
        messages[takenCount].message = .binary(.empty)
        takenCount += 1
        bytes -= Self.cost(of: first.message)
        // The taken ones are removed when they are half of all, so that taking costs the same however many there are.
        if takenCount * 2 >= messages.count {
            messages.removeFirst(takenCount)
            takenCount = 0
        }
        return first
    }

    private static func cost(of message: WebSocketMessage) -> Int {
        switch message {
        case .text(let text): text.utf8.count + cost
        case .binary(let bytes): bytes.count + cost
        }
    }
}
