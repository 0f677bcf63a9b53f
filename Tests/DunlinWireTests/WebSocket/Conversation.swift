import DunlinTypes
import DunlinWire

/// A connection whose client sends back each message, as all machines together have it. Its masks are zero.
struct Conversation {
    /// What the client wrote.
    private(set) var written: [UInt8] = []
    private(set) var outcome: WebSocketOutcome?
    private(set) var messages: [WebSocketMessage] = []

    private let now = HTTP.Instant(nanoseconds: 0)
    private var receiver: WebSocketReceiveMachine
    private var content: WebSocketMessageMachine
    private var machine: WebSocketMachine
    private var sender = WebSocketSendMachine(masks: FixedNumbers(numbers: [0]))

    init(limits: WebSocketLimits = WebSocketLimits()) {
        receiver = WebSocketReceiveMachine(limits: limits)
        content = WebSocketMessageMachine(limits: limits)
        machine = WebSocketMachine(at: now)
    }

    /// The server sends these pieces, one after the other.
    mutating func receive(_ pieces: [[UInt8]]) {
        for piece in pieces where outcome == nil {
            machine.receivedBytes(at: now)
            receiver.feed(Bytes(piece))
            while let action = nextAction() {
                do throws(WebSocketError) {
                    try handle(action)
                } catch {
                    machine.fail(error, at: now)
                    break
                }
            }
            act()
        }
    }

    mutating func close(_ code: WebSocketCloseCode) throws {
        machine.close(try WebSocketClosing(code), at: now)
        act()
    }

    mutating func endStream() {
        machine.streamEnded()
        act()
    }

    private mutating func nextAction() -> WebSocketReceiveMachine.Action? {
        let action = receiver.next()
        return action == .read ? nil : action
    }

    private mutating func handle(_ action: WebSocketReceiveMachine.Action) throws(WebSocketError) {
        switch action {
        case .read: break
        case .fail(let error): throw error
        case .control(let control): machine.receive(control, at: now)
        case .piece(let piece):
            guard machine.isOpen else { break }
            let action = try content.take(piece.bytes, of: piece.kind, isLast: piece.isLast)
            guard case .deliver(let message, _) = action else { break }
            messages.append(message)
            try sender.append(WebSocketPiece(message.kind, message.bytes), into: &written)
        }
    }

    /// Does all that is to be done now.
    private mutating func act() {
        while true {
            switch machine.next(at: now) {
            case .wait: return
            case .end(let outcome), .discard(let outcome):
                self.outcome = outcome
                return
            case .write(let control):
                do throws(WebSocketError) {
                    try sender.append(control, into: &written)
                } catch {
                    machine.fail(error, at: now)
                }
            }
        }
    }
}
