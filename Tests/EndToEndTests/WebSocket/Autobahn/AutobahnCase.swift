import DunlinTesting
import DunlinTypes

/// A case of the Autobahn test suite for WebSocket clients: what the server sends, and what a client must send that
/// sends back each message.
struct AutobahnCase: Sendable {
    /// Something that the client sends back.
    enum Event: Sendable, Equatable {
        case message(WebSocketFrame.Kind, Bytes)
        case pong(Bytes)
    }

    /// What the server sends, and what it waits for before it goes on.
    struct Turn: Sendable {
        var steps: [LoopbackServer.Step]
        var events: [Event]
    }

    /// How the connection ends.
    enum End: Sendable, Equatable {
        /// The server says close with 1000 when everything has come back, and the client answers the same.
        case normal
        /// The client answers the server's close frame with one of these codes; nil is a frame without a code.
        case answered([UInt16?])
        /// The client fails the connection with one of these codes.
        case refused([UInt16])
    }

    /// How messages are compressed.
    struct Compression: Sendable {
        /// Whether the client's offer allows messages to refer to earlier ones.
        var keepsContext = true
        /// What the server asks of the client, the preferred first. It chooses the first that the offer allows.
        var wishes = [AutobahnDeflate.Wish()]
    }

    let number: String
    var end = End.normal
    /// Whether the client may leave out events, except the last one if the server waits for it.
    var mayLack = false
    /// Whether the client sends back each piece of a message as it arrives, to show how far it has come.
    var echoesPieces = false
    var compression: Compression?
    /// Made when the case is played, since some are long. The server compresses its messages as agreed.
    let turns: @Sendable (inout AutobahnDeflate) -> [Turn]

    var group: Int { Int(number.prefix { $0 != "." }) ?? 0 }
}

// MARK: - What cases are made of

extension AutobahnCase {
    /// A frame as a server writes it, with any fault in its first byte.
    struct Frame: Sendable {
        var opcode: UInt8
        var payload: Bytes
        var isFinal = true
        var reserved: UInt8 = 0

        init(_ opcode: UInt8, _ payload: Bytes = .empty, isFinal: Bool = true, reserved: UInt8 = 0) {
            (self.opcode, self.payload, self.isFinal, self.reserved) = (opcode, payload, isFinal, reserved)
        }

        var bytes: [UInt8] {
            var bytes = WebSocketFrame(.binary, payload).bytes.array
            bytes[0] = (isFinal ? 0x80 : 0) | reserved << 4 | opcode
            return bytes
        }

        static func text(_ payload: Bytes, isFinal: Bool = true, reserved: UInt8 = 0) -> Frame {
            Frame(1, payload, isFinal: isFinal, reserved: reserved)
        }

        static func more(_ payload: Bytes, isFinal: Bool = true) -> Frame { Frame(0, payload, isFinal: isFinal) }
        static func ping(_ payload: Bytes = .empty) -> Frame { Frame(9, payload) }
        static func pong(_ payload: Bytes = .empty) -> Frame { Frame(10, payload) }
        static func close(_ code: Int? = 1000, _ reason: Bytes = .empty) -> Frame {
            guard let code else { return Frame(8, reason) }
            return Frame(8, Bytes([UInt8(code >> 8), UInt8(code & 0xFF)] + reason.array))
        }
    }

    /// How the server's bytes become segments.
    enum Chop: Sendable {
        case whole
        /// Each frame by itself.
        case frames
        case bytes(Int)

        func steps(_ frames: [Frame]) -> [LoopbackServer.Step] {
            switch self {
            case .whole: [.send(Bytes(frames.flatMap(\.bytes)))]
            case .frames: frames.map { .drip(Bytes($0.bytes), size: .max) }
            case .bytes(let size): [.drip(Bytes(frames.flatMap(\.bytes)), size: size)]
            }
        }
    }

    /// A case of one turn.
    init(
        _ number: String, _ frames: [Frame], chop: Chop = .whole, back events: [Event] = [], mayLack: Bool = false,
        _ end: End = .normal
    ) {
        (self.number, self.end, self.mayLack) = (number, end, mayLack)
        turns = { _ in [Turn(steps: chop.steps(frames), events: events)] }
    }

    /// A case whose server sends one whole message after the other, each when the one before has come back.
    init(
        _ number: String, _ kind: WebSocketFrame.Kind, fragment: Int = 0, chop: Chop = .whole,
        compression: Compression? = nil, _ messages: @escaping @Sendable () -> [Bytes]
    ) {
        (self.number, self.compression) = (number, compression)
        turns = { deflate in
            var turns: [Turn] = []
            for message in messages() {
                let frames = deflate.frames(of: message, kind, fragment: fragment)
                turns.append(Turn(steps: chop.steps(frames), events: [.message(kind, message)]))
            }
            return turns
        }
    }

    /// A case of several turns.
    init(_ number: String, _ end: End = .normal, echoesPieces: Bool = false, turns: [Turn]) {
        (self.number, self.end, self.echoesPieces) = (number, end, echoesPieces)
        self.turns = { _ in turns }
    }
}
