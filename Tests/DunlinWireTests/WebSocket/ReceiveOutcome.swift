import DunlinTypes
import DunlinWire

/// What comes of a server's bytes: whole messages, control frames, and the error that ended it.
struct ReceiveOutcome: Equatable, CustomStringConvertible {
    enum Event: Equatable {
        case message(WebSocketMessage)
        case control(WebSocketControl)
    }

    var events: [Event] = []
    var error: WebSocketError?

    init(_ events: [Event], _ error: WebSocketError? = nil) {
        self.events = events
        self.error = error
    }

    /// Text is checked, and pieces of messages are put together, as a connection does.
    init(of pieces: [[UInt8]], limits: WebSocketLimits = WebSocketLimits()) {
        var receiver = WebSocketReceiveMachine(limits: limits)
        var messages = WebSocketMessageMachine(.whole, limits: limits)
        for piece in pieces {
            receiver.feed(Bytes(piece))
            while error == nil, let action = next(&receiver) {
                do throws(WebSocketError) {
                    try handle(action, &messages)
                } catch {
                    self.error = error
                }
            }
            if error != nil { return }
        }
    }

    private func next(_ receiver: inout WebSocketReceiveMachine) -> WebSocketReceiveMachine.Action? {
        let action = receiver.next()
        return action == .read ? nil : action
    }

    private mutating func handle(
        _ action: WebSocketReceiveMachine.Action, _ messages: inout WebSocketMessageMachine
    ) throws(WebSocketError) {
        switch action {
        case .read: break
        case .fail(let error): throw error
        case .control(let control): events.append(.control(control))
        case .piece(let piece):
            let action = try messages.take(piece.bytes, of: piece.kind, isLast: piece.isLast)
            if case .deliver(let message, _) = action { events.append(.message(message)) }
        }
    }

    var description: String { "\(events)" + (error.map { ", \($0)" } ?? "") }
}

extension ReceiveOutcome.Event {
    static func text(_ text: String) -> Self { .message(.text(text)) }
    static func binary(_ bytes: [UInt8]) -> Self { .message(.binary(Bytes(bytes))) }
    static func ping(_ bytes: Bytes) -> Self { .control(.ping(bytes)) }
    static func pong(_ bytes: Bytes) -> Self { .control(.pong(bytes)) }
}
