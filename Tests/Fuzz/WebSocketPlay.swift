import DunlinInflate
import DunlinTypes
import DunlinWire

/// What comes of bytes from a server. Pieces of a message are put together, since they depend on how it was cut.
struct WebSocketPlay {
    enum Event: Equatable {
        case message(WebSocketMessage)
        case control(WebSocketControl)
    }

    private(set) var events: [Event] = []
    /// The frames within a message that say nothing. They are told one by one, however the input is cut.
    private(set) var emptyFrames = 0
    private(set) var error: String?
    private(set) var violation: String?

    var summary: String { "\(events), \(emptyFrames) empty frames, \(error ?? "no error")" }

    private struct Machines: ~Copyable {
        var receiver: WebSocketReceiveMachine
        var messages: WebSocketMessageMachine
        var inflater: MessageInflater
    }

    private let limits: WebSocketLimits
    private let isWhole: Bool
    /// The pieces of the message that is being delivered.
    private var text = ""
    private var bytes: [UInt8] = []

    init(of pieces: [[UInt8]], options: UInt8) {
        var limits = WebSocketLimits()
        limits.frameBytes = 8000
        limits.messageBytes = 5000
        self.limits = limits
        isWhole = options & 8 != 0
        do {
            var machines = Machines(
                receiver: WebSocketReceiveMachine(limits: limits, allowsCompression: options & 1 != 0),
                messages: WebSocketMessageMachine(isWhole ? .whole : .pieces, limits: limits),
                inflater: try MessageInflater(
                    windowBits: options & 4 != 0 ? 9 : 15, keepsContext: options & 2 != 0, limit: limits.messageBytes))
            for piece in pieces { try take(Bytes(piece), &machines) }
        } catch {
            self.error = "\(error)"
        }
    }

    private mutating func take(_ piece: Bytes, _ machines: inout Machines) throws {
        machines.receiver.feed(piece)
        while true {
            switch machines.receiver.next() {
            case .read: return
            case .fail(let error):
                if machines.receiver.next() != .fail(error) { violation = "an error that is not repeated" }
                throw error
            case .control(let control):
                note(control)
            case .piece(let piece):
                if piece.bytes.isEmpty, !piece.isLast { emptyFrames += 1 } else { try take(piece, &machines) }
            }
        }
    }

    private mutating func note(_ control: WebSocketControl) {
        switch control {
        case .ping(let bytes), .pong(let bytes): if bytes.count > 125 { violation = "a long control frame" }
        case .close(let closing):
            if closing.code?.isSendable == false { violation = "a close with \(closing)" }
            if closing.payload.count > 125 { violation = "a long close frame" }
        }
        events.append(.control(control))
    }

    private mutating func take(_ piece: WebSocketPiece, _ machines: inout Machines) throws {
        guard piece.isCompressed else {
            return try add(piece.bytes, piece.kind, isLast: piece.isLast, &machines.messages)
        }
        machines.inflater.feed(piece.bytes, isLast: piece.isLast)
        while let output = try machines.inflater.next() {
            if output.isEmpty || output.count > 64 * 1024 { violation = "\(output.count) bytes at once" }
            try add(output, piece.kind, isLast: false, &machines.messages)
        }
        if piece.isLast { try add(.empty, piece.kind, isLast: true, &machines.messages) }
    }

    private mutating func add(
        _ piece: Bytes, _ kind: WebSocketMessage.Kind, isLast: Bool, _ messages: inout WebSocketMessageMachine
    ) throws {
        let action = try messages.take(piece, of: kind, isLast: isLast)
        if messages.waitingCount > (isWhole ? limits.messageBytes ?? .max : 3) { violation = "too much is kept" }
        guard case .deliver(let message, let isEnd) = action else { return }
        switch message {
        case .text(let piece): text += piece
        case .binary(let piece): bytes += piece
        }
        if text.utf8.count + bytes.count > limits.messageBytes ?? .max { violation = "more than the limit" }
        guard isEnd else { return }
        // By bytes: two pieces of text may become one character.
        events.append(.message(kind == .text ? .text(text) : .binary(Bytes(bytes))))
        (text, bytes) = ("", [])
    }
}
