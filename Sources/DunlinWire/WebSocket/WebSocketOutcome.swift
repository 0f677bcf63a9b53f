internal import DunlinTypes

/// How a WebSocket connection came to its end.
package enum WebSocketOutcome: Sendable, Hashable {
    /// Both sides said close; what the one said who was first.
    case closed(WebSocketClosing, byPeer: Bool)
    case failed(WebSocketError)
}
