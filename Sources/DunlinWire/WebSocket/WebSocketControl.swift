package import DunlinTypes

/// A control frame (RFC 6455 §5.5).
package enum WebSocketControl: Sendable, Hashable {
    case ping(Bytes)
    case pong(Bytes)
    case close(WebSocketClosing)
}
