package import DunlinTypes

/// What a close frame says: a code and a reason, or nothing (RFC 6455 §5.5.1).
package struct WebSocketClosing: Sendable, Hashable {
    /// Nil if the frame is empty.
    package let code: WebSocketCloseCode?
    package let reason: String

    /// The most bytes of a reason: what a control frame holds beside the code.
    static let longestReason = WebSocketFrameHead.longestControl - 2

    /// Says nothing.
    package static let silent = WebSocketClosing(code: nil, reason: "")

    /// Says that a message of ours, of which a part has been sent, has no end.
    package static let unfinishedMessage = WebSocketClosing(code: .internalError, reason: "")

    /// Says that this side is leaving.
    package static let goingAway = WebSocketClosing(code: .goingAway, reason: "")

    private init(code: WebSocketCloseCode?, reason: String) {
        self.code = code
        self.reason = reason
    }

    /// What is to be sent. Throws for a code that no frame may have, and for a reason that does not fit.
    package init(_ code: WebSocketCloseCode, reason: String = "") throws(WebSocketError) {
        guard code.isSendable else { throw .invalidCloseCode(code.rawValue) }
        guard reason.utf8.count <= Self.longestReason else { throw .closeReasonTooLong }
        self.init(code: code, reason: reason)
    }

    /// The close frame that answers an error; nil if the error cannot be answered.
    package init?(answering error: WebSocketError) {
        guard let code = error.closeCode else { return nil }
        self.init(code: code, reason: "")
    }

    /// Reads the payload of a received close frame.
    package init(payload: Bytes) throws(WebSocketError) {
        guard !payload.isEmpty else {
            self = .silent
            return
        }
        guard payload.count >= 2 else { throw .closePayloadTooShort }
        let code = WebSocketCloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard code.isSendable else { throw .invalidCloseCode(code.rawValue) }
        let reason = payload[2..<payload.count]
        guard UTF8Validator.accepts(reason) else { throw .invalidCloseReason }
        self.init(code: code, reason: String(reason))
    }

    /// The answer to a received close frame: the same code, no reason (RFC 6455 §5.5.1).
    package var answer: WebSocketClosing { WebSocketClosing(code: code, reason: "") }

    package var payload: Bytes {
        guard let code else { return .empty }
        return Bytes([UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)] + Array(reason.utf8))
    }
}
