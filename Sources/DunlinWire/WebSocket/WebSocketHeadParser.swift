internal import DunlinTypes

/// Parses the heads of a server's WebSocket frames, byte by byte (RFC 6455 §5.2).
///
/// Rules:
/// 1. A head is refused at its first byte that no valid head has.
/// 2. The second and third reserved bits are never set; the first only on the first frame of a message, if compression
///    was agreed on.
/// 3. A control frame is whole and short. A server masks nothing. A length takes as few bytes as it can, and has at
///    most 63 bits.
///
/// It must not know which message a frame belongs to, nor any limit.
struct WebSocketHeadParser: Sendable {
    private enum Part: Sendable {
        case first
        case second
        case length(left: Int, isLong: Bool)
    }

    private let allowsCompression: Bool
    private var part = Part.first
    private var head = WebSocketFrameHead(.continuation, length: 0)
    private var length: UInt64 = 0

    init(allowsCompression: Bool) {
        self.allowsCompression = allowsCompression
    }

    /// Takes the next byte. Returns the head with its last one.
    mutating func take(_ byte: UInt8) throws(WebSocketError) -> WebSocketFrameHead? {
        switch part {
        case .first:
            try begin(byte)
            part = .second
            return nil
        case .second:
            return try takeSecond(byte)
        case .length(let left, let isLong):
            if isLong, left == 8, byte & 0x80 != 0 { throw .lengthTooLarge }
            length = length << 8 | UInt64(byte)
            part = .length(left: left - 1, isLong: isLong)
            if left > 1 { return nil }
            guard length > (isLong ? 0xFFFF : 125) else { throw .lengthNotMinimal }
            return finish(Int(length))
        }
    }

    private mutating func begin(_ byte: UInt8) throws(WebSocketError) {
        guard byte & 0x30 == 0 else { throw .reservedBits }
        guard let opcode = WebSocketOpcode(rawValue: byte & 0x0F) else { throw .unknownOpcode(byte & 0x0F) }
        let isCompressed = byte & 0x40 != 0
        let mayBeCompressed = allowsCompression && (opcode == .text || opcode == .binary)
        guard !isCompressed || mayBeCompressed else { throw .reservedBits }
        let isFinal = byte & 0x80 != 0
        guard isFinal || !opcode.isControl else { throw .fragmentedControl }
        head = WebSocketFrameHead(opcode, isFinal: isFinal, isCompressed: isCompressed, length: 0)
    }

    private mutating func takeSecond(_ byte: UInt8) throws(WebSocketError) -> WebSocketFrameHead? {
        guard byte & 0x80 == 0 else { throw .maskedFrame }
        let short = Int(byte)
        if short <= WebSocketFrameHead.longestControl { return finish(short) }
        guard !head.opcode.isControl else { throw .controlTooLong }
        length = 0
        part = .length(left: short == 126 ? 2 : 8, isLong: short == 127)
        return nil
    }

    private mutating func finish(_ length: Int) -> WebSocketFrameHead {
        part = .first
        head.length = length
        return head
    }
}
