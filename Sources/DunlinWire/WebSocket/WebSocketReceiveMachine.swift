package import DunlinTypes

/// Turns what a WebSocket server sends into pieces of messages and control frames (RFC 6455 §5).
///
/// Rules:
/// 1. However the input is cut, the bytes are the same, and then the error. A piece of a message is a slice of the
///    input, without a copy.
/// 2. A message is one frame or several, and control frames may come between them; another message may not. Only the
///    first frame says what kind it is, and whether it is compressed.
/// 3. A length is compared with the limits as soon as the head has said it, before any of the payload.
/// 4. After a close frame nothing counts any more. After an error it repeats that.
///
/// It must not know what a message says, nor check its text, since it may be compressed; nor what a control frame is
/// answered with.
package struct WebSocketReceiveMachine: Sendable {
    package enum Action: Sendable, Equatable {
        /// Feed what arrives next.
        case read
        /// A piece of a message, as it arrived. It is empty if its frame is.
        case piece(WebSocketPiece)
        case control(WebSocketControl)
        case fail(WebSocketError)
    }

    private enum State: Sendable {
        case head
        case payload(WebSocketFrameHead, left: Int)
        case closed
        case failed(WebSocketError)
    }

    private struct Message: Sendable {
        let kind: WebSocketMessage.Kind
        let isCompressed: Bool
        var length = 0
    }

    private let limits: WebSocketLimits
    private var parser: WebSocketHeadParser
    private var state = State.head
    /// The message that has begun and not ended.
    private var message: Message?
    /// The part of a control frame's payload that has arrived, at most 125 bytes.
    private var control: [UInt8] = []
    private var input = Bytes.empty
    private var offset = 0

    package init(limits: WebSocketLimits = WebSocketLimits(), allowsCompression: Bool = false) {
        self.limits = limits
        parser = WebSocketHeadParser(allowsCompression: allowsCompression)
    }

    /// Feeds bytes from the server. Call it only after `next()` has returned `read`.
    package mutating func feed(_ bytes: Bytes) {
        precondition(offset == input.count, "There is still input to take.")
        input = bytes
        offset = 0
    }

    package mutating func next() -> Action {
        do throws(WebSocketError) {
            while true {
                switch state {
                case .failed(let error): return .fail(error)
                case .closed: return discardInput()
                case .head:
                    guard let head = try takeHead() else { return discardInput() }
                    try begin(head)
                    state = .payload(head, left: head.length)
                case .payload(let head, let left):
                    guard offset < input.count || left == 0 else { return discardInput() }
                    if let action = try takePayload(head, left: left) { return action }
                }
            }
        } catch {
            state = .failed(error)
            _ = discardInput()
            return .fail(error)
        }
    }

    private mutating func discardInput() -> Action {
        input = .empty
        offset = 0
        return .read
    }

    private mutating func takeHead() throws(WebSocketError) -> WebSocketFrameHead? {
        while offset < input.count {
            let byte = input[offset]
            offset += 1
            if let head = try parser.take(byte) { return head }
        }
        return nil
    }

    private mutating func takePayload(
        _ head: WebSocketFrameHead, left: Int
    ) throws(WebSocketError) -> Action? {
        let count = min(left, input.count - offset)
        let bytes = input[offset..<offset + count]
        offset += count
        let isFrameEnd = count == left
        state = isFrameEnd ? .head : .payload(head, left: left - count)
        if head.opcode.isControl {
            control += bytes
            return isFrameEnd ? try finishControl(head.opcode) : nil
        }
        return takeMessage(bytes, isLast: isFrameEnd && head.isFinal)
    }
}

// MARK: - Messages

extension WebSocketReceiveMachine {
    /// Checks that a frame may come here, and that it is not too long.
    private mutating func begin(_ head: WebSocketFrameHead) throws(WebSocketError) {
        if head.opcode.isControl { return }
        if head.opcode == .continuation {
            guard message != nil else { throw .unexpectedContinuation }
        } else {
            guard message == nil else { throw .unfinishedMessage }
            message = Message(kind: head.opcode == .text ? .text : .binary, isCompressed: head.isCompressed)
        }
        guard head.length <= limits.frameBytes else { throw .frameTooLong(limit: limits.frameBytes) }
        guard let begun = message else { return }
        let (length, overflow) = begun.length.addingReportingOverflow(head.length)
        let limit = begun.isCompressed ? limits.compressedBytes : limits.messageBytes
        if let limit, overflow || length > limit { throw .messageTooLong(limit: limits.messageBytes ?? limit) }
        message?.length = overflow ? .max : length
    }

    private mutating func takeMessage(_ bytes: Bytes, isLast: Bool) -> Action? {
        guard let begun = message else { return nil }
        if isLast { message = nil }
        return .piece(WebSocketPiece(begun.kind, bytes, isCompressed: begun.isCompressed, isLast: isLast))
    }

    private mutating func finishControl(_ opcode: WebSocketOpcode) throws(WebSocketError) -> Action {
        let payload = Bytes(control)
        control = []
        switch opcode {
        case .ping: return .control(.ping(payload))
        case .pong: return .control(.pong(payload))
        default:
            let closing = try WebSocketClosing(payload: payload)
            state = .closed
            // What follows a close frame is nobody's.
            _ = discardInput()
            return .control(.close(closing))
        }
    }
}
