internal import DunlinTypes

/// Turns a client's messages into frames (RFC 6455 §5.4).
///
/// Rules:
/// 1. Each frame has a mask of its own, which nobody can predict: the generator is the system's, except in tests.
/// 2. A message is one frame or several; control frames may come between them, and another message may not. Only the
///    first frame says what kind it is, and whether it is compressed.
/// 3. After a close frame nothing is sent.
/// 4. A frame is masked and written at once, so a large message is given in slices, between which control frames may
///    go.
///
/// A piece of text is UTF-8 by itself, as a string is.
///
/// What it throws, it throws before it has changed anything. It must not know what is compressed, nor when a frame is
/// written.
package struct WebSocketSendMachine<Generator: RandomNumberGenerator> {
    private enum State: Equatable {
        case between
        case within(WebSocketMessage.Kind, isCompressed: Bool)
        case closed
    }

    private var generator: Generator
    private var state = State.between

    package init(masks generator: Generator) {
        self.generator = generator
    }

    /// Whether a message has begun, and not all of it has been sent.
    package var isWithinMessage: Bool {
        if case .within = state { true } else { false }
    }

    /// Appends a frame with a message, or with a piece of one.
    package mutating func append(
        _ piece: WebSocketPiece, into buffer: inout [UInt8]
    ) throws(WebSocketError) {
        let message = State.within(piece.kind, isCompressed: piece.isCompressed)
        let isFirst = state == .between
        if !isFirst, state != message { throw state == .closed ? .closed : .otherMessageBegun }
        let opcode: WebSocketOpcode = !isFirst ? .continuation : piece.kind == .text ? .text : .binary
        state = piece.isLast ? .between : message
        let head = WebSocketFrameHead(
            opcode, isFinal: piece.isLast, isCompressed: isFirst && piece.isCompressed, length: piece.bytes.count)
        WebSocketFrameEncoder.append(head, piece.bytes, mask: nextMask(), into: &buffer)
    }

    /// Appends a control frame.
    package mutating func append(_ control: WebSocketControl, into buffer: inout [UInt8]) throws(WebSocketError) {
        guard state != .closed else { throw .closed }
        let (opcode, payload): (WebSocketOpcode, Bytes) =
            switch control {
            case .ping(let bytes): (.ping, bytes)
            case .pong(let bytes): (.pong, bytes)
            case .close(let closing): (.close, closing.payload)
            }
        guard payload.count <= WebSocketFrameHead.longestControl else { throw .pingTooLong }
        if opcode == .close { state = .closed }
        let head = WebSocketFrameHead(opcode, length: payload.count)
        WebSocketFrameEncoder.append(head, payload, mask: nextMask(), into: &buffer)
    }

    private mutating func nextMask() -> WebSocketMask {
        WebSocketMask(key: UInt32(truncatingIfNeeded: generator.next()))
    }
}

extension WebSocketSendMachine: Sendable where Generator: Sendable {}
