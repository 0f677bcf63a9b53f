public import DunlinTypes

/// A frame of a WebSocket connection (RFC 6455 §5.2), as a test's server sends or has read it. Nothing is checked, so a
/// test can also break the rules.
public struct WebSocketFrame: Sendable, Hashable {
    public enum Kind: UInt8, Sendable, Hashable {
        case continuation = 0
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
        case pong = 10
    }

    public var kind: Kind
    public var payload: Bytes
    public var isFinal: Bool
    /// The first reserved bit, which says that the message is compressed.
    public var isCompressed: Bool

    public init(_ kind: Kind, _ payload: Bytes = .empty, isFinal: Bool = true, isCompressed: Bool = false) {
        (self.kind, self.payload, self.isFinal, self.isCompressed) = (kind, payload, isFinal, isCompressed)
    }

    public static func text(_ text: String) -> Self { Self(.text, Bytes(text)) }
    public static func binary(_ bytes: Bytes) -> Self { Self(.binary, bytes) }
    public static func ping(_ bytes: Bytes = .empty) -> Self { Self(.ping, bytes) }
    public static func pong(_ bytes: Bytes = .empty) -> Self { Self(.pong, bytes) }

    /// A close frame; without a code it is empty.
    public static func close(_ code: UInt16? = 1000, reason: String = "") -> Self {
        guard let code else { return Self(.close) }
        return Self(.close, Bytes([UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8)))
    }

    /// The frame as a server sends it, without a mask.
    public var bytes: Bytes {
        var bytes = [(isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0) | kind.rawValue]
        let count = payload.count
        let lengthBytes = count < 126 ? 0 : count < 65536 ? 2 : 8
        bytes.append(lengthBytes == 0 ? UInt8(count) : lengthBytes == 2 ? 126 : 127)
        for index in (0..<lengthBytes).reversed() { bytes.append(UInt8(truncatingIfNeeded: count >> (8 * index))) }
        return Bytes(bytes + payload.array)
    }
}

/// Reads a client's frames, however their bytes are cut.
struct WebSocketFrameReader {
    private var inbox: [UInt8] = []

    mutating func feed(_ bytes: [UInt8]) { inbox += bytes }

    /// The next frame; nil if it is not complete. An unknown kind is read as a continuation.
    mutating func next() -> WebSocketFrame? {
        guard inbox.count >= 2 else { return nil }
        let short = Int(inbox[1] & 0x7F)
        let lengthBytes = short < 126 ? 0 : short == 126 ? 2 : 8
        let maskBytes = inbox[1] & 0x80 == 0 ? 0 : 4
        let start = 2 + lengthBytes + maskBytes
        guard inbox.count >= start else { return nil }
        let length = lengthBytes == 0 ? short : inbox[2..<2 + lengthBytes].reduce(0) { $0 << 8 | Int($1) }
        guard inbox.count >= start + length else { return nil }
        var payload = Array(inbox[start..<start + length])
        if maskBytes > 0 {
            let mask = Array(inbox[start - 4..<start])
            for index in payload.indices { payload[index] ^= mask[index & 3] }
        }
        let first = inbox[0]
        inbox.removeFirst(start + length)
        return WebSocketFrame(
            WebSocketFrame.Kind(rawValue: first & 0x0F) ?? .continuation, Bytes(payload), isFinal: first & 0x80 != 0,
            isCompressed: first & 0x40 != 0)
    }
}
