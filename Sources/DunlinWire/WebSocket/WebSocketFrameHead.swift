/// What a WebSocket frame says before its payload (RFC 6455 §5.2), all but the mask.
package struct WebSocketFrameHead: Sendable, Hashable {
    package var opcode: WebSocketOpcode
    /// Whether this is the last frame of its message.
    package var isFinal: Bool
    /// The first reserved bit: the message is compressed (RFC 7692 §6).
    package var isCompressed: Bool
    /// The number of bytes of the payload.
    package var length: Int

    package init(_ opcode: WebSocketOpcode, isFinal: Bool = true, isCompressed: Bool = false, length: Int) {
        self.opcode = opcode
        self.isFinal = isFinal
        self.isCompressed = isCompressed
        self.length = length
    }

    /// The longest payload of a control frame (RFC 6455 §5.5).
    static let longestControl = 125
}
