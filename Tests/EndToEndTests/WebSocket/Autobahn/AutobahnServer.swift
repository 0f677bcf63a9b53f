import DunlinTesting
import DunlinTypes
import Synchronization

/// The server's side of one case: sends each turn when what the one before waits for has come, and keeps the client's
/// frames.
final class AutobahnServer: Sendable {
    private struct State: ~Copyable {
        var deflate: AutobahnDeflate
        /// What has not been sent.
        var turns: ArraySlice<AutobahnCase.Turn> = []
        /// The event that the next turn waits for.
        var awaited: AutobahnCase.Event?
        var expected: [AutobahnCase.Event] = []
        var frames: [WebSocketFrame] = []
    }

    private let played: AutobahnCase
    private let state: Mutex<State>

    /// What is answered to the handshake.
    let fields: Fields

    init(_ played: AutobahnCase, answering request: LoopbackServer.RecordedRequest) throws {
        self.played = played
        var deflate = try AutobahnDeflate(
            played.compression?.wishes ?? [], offer: request.fields["Sec-WebSocket-Extensions"] ?? "")
        fields = deflate.answer.map { ["Sec-WebSocket-Extensions": $0] } ?? Fields()
        var turns = played.turns(&deflate)
        let expected = turns.flatMap(\.events)
        if played.end == .normal {
            turns.append(AutobahnCase.Turn(steps: [.frame(.close())], events: []))
        }
        state = Mutex(State(deflate: deflate, turns: turns[...], expected: expected))
    }

    /// What is sent before the client has said anything.
    func begin() -> [LoopbackServer.Step] { state.withLock { Self.goOn(&$0) } }

    /// What is sent after a frame of the client's; nil after its close frame.
    func steps(after frame: WebSocketFrame) -> [LoopbackServer.Step]? {
        state.withLock { state in
            state.frames.append(frame)
            if frame.kind == .close { return nil }
            guard let awaited = state.awaited else { return [] }
            let hasCome =
                switch awaited {
                case .pong(let payload): frame == .pong(payload)
                case .message: frame.kind != .pong && frame.isFinal
                }
            return hasCome ? Self.goOn(&state) : []
        }
    }

    /// The next turns, up to one that waits for something.
    private static func goOn(_ state: inout State) -> [LoopbackServer.Step] {
        var steps: [LoopbackServer.Step] = []
        repeat {
            guard let turn = state.turns.popFirst() else { break }
            steps += turn.steps
            state.awaited = turn.events.last
        } while state.awaited == nil
        return steps
    }

    /// What was wrong with the client's frames; nil if nothing was.
    func complaint() throws -> String? {
        try state.withLock { state in
            let events = try state.deflate.events(of: state.frames)
            if events != state.expected, !(played.mayLack && Self.isPart(events, of: state.expected)) {
                return "\(Self.text(events)) instead of \(Self.text(state.expected))"
            }
            guard let close = state.frames.last, close.kind == .close else { return "no close frame" }
            let code = close.payload.count < 2 ? nil : UInt16(close.payload[0]) << 8 | UInt16(close.payload[1])
            return codes.contains(code) ? nil : "closed with \(code.map { "\($0)" } ?? "no code")"
        }
    }

    private var codes: [UInt16?] {
        switch played.end {
        case .normal: [1000]
        case .answered(let codes): codes
        case .refused(let codes): codes
        }
    }

    private static func isPart(_ events: [AutobahnCase.Event], of all: [AutobahnCase.Event]) -> Bool {
        var left = events[...]
        for event in all where event == left.first { left.removeFirst() }
        return left.isEmpty
    }

    private static func text(_ events: [AutobahnCase.Event]) -> String {
        events.map { event in
            switch event {
            case .message(let kind, let bytes): "\(kind) of \(bytes.count)"
            case .pong(let bytes): "pong of \(bytes.count)"
            }
        }.description
    }
}
