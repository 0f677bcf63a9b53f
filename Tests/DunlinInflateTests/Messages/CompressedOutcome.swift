import DunlinInflate
import DunlinTypes
import DunlinWire

/// What comes of a server's bytes on a connection that agreed on compression: messages, control frames, the error.
struct CompressedOutcome: Equatable, CustomStringConvertible {
    var messages: [WebSocketMessage] = []
    var controls: [WebSocketControl] = []
    var error: WebSocketError?

    init(_ messages: [WebSocketMessage], controls: [WebSocketControl] = [], _ error: WebSocketError? = nil) {
        self.messages = messages
        self.controls = controls
        self.error = error
    }

    init(
        of pieces: [[UInt8]], limits: WebSocketLimits = WebSocketLimits(),
        agreed: WebSocketDeflate = WebSocketDeflate()
    ) {
        do {
            var connection = try Connection(limits, agreed)
            for piece in pieces { try connection.take(piece, into: &self) }
        } catch let error as WebSocketError {
            self.error = error
        } catch InflateError.sizeExceeded(let limit) {
            error = .messageTooLong(limit: limit)
        } catch {
            self.error = .corruptCompression
        }
    }

    private struct Connection: ~Copyable {
        var receiver: WebSocketReceiveMachine
        var messages: WebSocketMessageMachine
        var inflater: MessageInflater

        init(_ limits: WebSocketLimits, _ agreed: WebSocketDeflate) throws {
            receiver = WebSocketReceiveMachine(limits: limits, allowsCompression: true)
            messages = WebSocketMessageMachine(.whole, limits: limits)
            inflater = try MessageInflater(
                windowBits: agreed.serverWindowBits, keepsContext: agreed.serverKeepsContext, limit: limits.messageBytes
            )
        }

        mutating func take(_ bytes: [UInt8], into outcome: inout CompressedOutcome) throws {
            receiver.feed(Bytes(bytes))
            while true {
                switch receiver.next() {
                case .read: return
                case .fail(let error): throw error
                case .control(let control): outcome.controls.append(control)
                case .piece(let piece) where !piece.isCompressed:
                    try add(piece.bytes, of: piece.kind, isLast: piece.isLast, to: &outcome)
                case .piece(let piece):
                    inflater.feed(piece.bytes, isLast: piece.isLast)
                    while let output = try inflater.next() {
                        try add(output, of: piece.kind, isLast: false, to: &outcome)
                    }
                    if piece.isLast { try add(.empty, of: piece.kind, isLast: true, to: &outcome) }
                }
            }
        }

        private mutating func add(
            _ bytes: Bytes, of kind: WebSocketMessage.Kind, isLast: Bool, to outcome: inout CompressedOutcome
        ) throws {
            let action = try messages.take(bytes, of: kind, isLast: isLast)
            if case .deliver(let message, _) = action { outcome.messages.append(message) }
        }
    }

    var description: String { "\(messages), \(controls)" + (error.map { ", \($0)" } ?? "") }
}
