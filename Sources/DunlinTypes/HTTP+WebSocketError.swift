extension HTTP {
    /// Why a WebSocket connection failed, or why something cannot be sent on it.
    ///
    /// No case contains any part of a message.
    public enum WebSocketError: Error, Sendable, Hashable {
        // Frames.
        case reservedBits
        case unknownOpcode(UInt8)
        case fragmentedControl
        case controlTooLong
        /// A server masked a frame, which only clients do.
        case maskedFrame
        case lengthNotMinimal
        /// The length has 64 bits.
        case lengthTooLarge
        /// A frame continues a message, and none has begun.
        case unexpectedContinuation
        /// A message began within another.
        case unfinishedMessage

        // Content.
        case invalidText
        case corruptCompression

        // Close frames.
        case closePayloadTooShort
        case invalidCloseCode(UInt16)
        case invalidCloseReason

        // Limits.
        case frameTooLong(limit: Int)
        case messageTooLong(limit: Int)
        case outOfMemory

        // The connection.
        /// The stream ended without a close frame from the peer.
        case endedWithoutClose
        /// Nothing arrived in time after a ping.
        case noPong
        /// The peer did not answer a close frame in time.
        case noClose

        // What is to be sent.
        case closeReasonTooLong
        case pingTooLong
        /// Another message has begun, and not all of it has been sent.
        case otherMessageBegun
        /// The connection is closed, or is being closed.
        case closed
    }
}

extension HTTP.WebSocketError {
    /// The code with which the connection is closed for this error (RFC 6455 §7.4.1); nil if no close frame is sent.
    package var closeCode: HTTP.WebSocketCloseCode? {
        switch self {
        case .reservedBits, .unknownOpcode, .fragmentedControl, .controlTooLong, .maskedFrame, .lengthNotMinimal,
            .lengthTooLarge, .unexpectedContinuation, .unfinishedMessage, .closePayloadTooShort, .invalidCloseCode:
            .protocolError
        case .invalidText, .invalidCloseReason, .corruptCompression: .invalidContent
        case .frameTooLong, .messageTooLong: .messageTooBig
        case .outOfMemory: .internalError
        case .endedWithoutClose, .noPong, .noClose, .closeReasonTooLong, .pingTooLong, .otherMessageBegun, .closed: nil
        }
    }

    /// Whether one of Dunlin's limits was exceeded; what the peer sent may have been valid.
    public var isLimit: Bool {
        switch self {
        case .frameTooLong, .messageTooLong: true
        default: false
        }
    }
}

extension HTTP.WebSocketError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .reservedBits: "A frame has a reserved bit set that was not agreed on."
        case .unknownOpcode(let opcode): "A frame has the unknown opcode \(opcode)."
        case .fragmentedControl: "A control frame is fragmented."
        case .controlTooLong: "A control frame is longer than 125 bytes."
        case .maskedFrame: "The server masked a frame, which only clients do."
        case .lengthNotMinimal: "A frame's length is written in more bytes than it needs."
        case .lengthTooLarge: "A frame's length has more than 63 bits."
        case .unexpectedContinuation: "A frame continues a message, and none has begun."
        case .unfinishedMessage: "A message began before the one before it had ended."
        case .invalidText: "A text message is not UTF-8."
        case .corruptCompression: "A compressed message is damaged."
        case .closePayloadTooShort: "A close frame has one byte, which is no code."
        case .invalidCloseCode(let code): "A close frame may not have the code \(code)."
        case .invalidCloseReason: "The reason in a close frame is not UTF-8."
        case .frameTooLong(let limit): "A frame is longer than `settings.frameLimit`, \(limit) bytes."
        case .messageTooLong(let limit): "A message is longer than `settings.messageLimit`, \(limit) bytes."
        case .outOfMemory: "There is not enough memory to compress or decompress."
        case .endedWithoutClose: "The connection ended without a close frame."
        case .noPong: "Nothing arrived in time after a ping."
        case .noClose: "The close frame was not answered in time."
        case .closeReasonTooLong: "The reason for closing is longer than 123 bytes."
        case .pingTooLong: "A ping holds at most 125 bytes."
        case .otherMessageBegun: "Another message has begun, and not all of it has been sent."
        case .closed: "The connection is closed, or is being closed."
        }
    }
}
