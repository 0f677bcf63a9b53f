import DunlinInflate
import DunlinTesting
import DunlinTypes

/// The server's side of the compression of messages (RFC 7692); it does nothing if none was agreed on.
struct AutobahnDeflate: ~Copyable {
    /// What a server asks of the client.
    struct Wish: Sendable {
        var noContext = false
        var windowBits: Int?
    }

    /// What the server answers to the client's offer; nil if messages are not compressed.
    let answer: String?
    private var deflater: MessageDeflater?
    private var inflater: MessageInflater?

    /// `offer` is Sec-WebSocket-Extensions of the request.
    init(_ wishes: [Wish], offer: String) throws {
        let offered = Set(offer.split(separator: ";").map { $0.filter { $0 != " " } })
        let chosen = wishes.first { wish in
            (!wish.noContext || offered.contains("client_no_context_takeover"))
                && (wish.windowBits == nil || offered.contains("client_max_window_bits"))
        }
        guard offered.contains("permessage-deflate"), let chosen else {
            answer = nil
            return
        }
        let keepsContext = !offered.contains("server_no_context_takeover")
        var elements = ["permessage-deflate"]
        if !keepsContext { elements.append("server_no_context_takeover") }
        if chosen.noContext { elements.append("client_no_context_takeover") }
        if let bits = chosen.windowBits { elements.append("client_max_window_bits=\(bits)") }
        answer = elements.joined(separator: "; ")
        deflater = try MessageDeflater(windowBits: 15, keepsContext: keepsContext)
        inflater = try MessageInflater(
            windowBits: chosen.windowBits ?? 15, keepsContext: !chosen.noContext, limit: nil)
    }

    /// The frames of a message, each with at most so many bytes; zero for one frame.
    mutating func frames(
        of message: Bytes, _ kind: WebSocketFrame.Kind, fragment: Int
    ) -> [AutobahnCase.Frame] {
        let payload = deflater?.deflate(message, isLast: true) ?? message
        let size = fragment == 0 ? max(payload.count, 1) : fragment
        var starts = Array(stride(from: 0, to: payload.count, by: size))
        if starts.isEmpty { starts = [0] }
        return starts.map { start in
            let end = min(start + size, payload.count)
            return AutobahnCase.Frame(
                start == 0 ? kind.rawValue : 0, payload[start..<end], isFinal: end == payload.count,
                reserved: start == 0 && answer != nil ? 4 : 0)
        }
    }

    /// What the client's frames say, without the close frame. A message that has no end is left out.
    mutating func events(of frames: [WebSocketFrame]) throws -> [AutobahnCase.Event] {
        var events: [AutobahnCase.Event] = []
        var first: WebSocketFrame?
        var payload: [UInt8] = []
        for frame in frames where frame.kind != .close {
            if frame.kind == .pong {
                events.append(.pong(frame.payload))
                continue
            }
            let kind = (first ?? frame).kind
            if first == nil { first = frame }
            payload += frame.payload.array
            guard frame.isFinal else { continue }
            let isCompressed = first?.isCompressed == true
            guard isCompressed == (answer != nil) else { throw NotCompressedAsAgreed() }
            events.append(.message(kind, isCompressed ? try inflate(Bytes(payload)) : Bytes(payload)))
            (first, payload) = (nil, [])
        }
        return events
    }

    private mutating func inflate(_ payload: Bytes) throws -> Bytes {
        var output: [UInt8] = []
        inflater?.feed(payload, isLast: true)
        while let piece = try inflater?.next() { output += piece.array }
        return Bytes(output)
    }

    struct NotCompressedAsAgreed: Error {}
}
