import Dunlin
import DunlinTesting
import Synchronization

/// A file that is served by ranges. Whoever asks for all of it gets the beginning, and the rest when the gate opens;
/// what goes wrong belongs to the requests for ranges, in order.
final class RangedFile: Sendable {
    struct State: Sendable {
        var entity: LoopbackServer.Entity
        /// Of the whole, before the gate.
        var held: Int
        var faults: [LoopbackServer.EntityFault] = []
    }

    let state: Mutex<State>
    let gate = LoopbackServer.Gate()

    init(_ length: Int, held: Int = 100_000, faults: [LoopbackServer.EntityFault] = []) {
        let entity = LoopbackServer.Entity(length: length, tag: #""one""#)
        state = Mutex(State(entity: entity, held: held, faults: faults))
    }

    var entity: LoopbackServer.Entity { state.withLock { $0.entity } }
    var contents: Bytes { entity.bytes }

    func change(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

    func serve(on stage: Stage) {
        stage.server.respond { [self] request in reply(to: request) }
    }

    private func reply(to request: LoopbackServer.RecordedRequest) -> LoopbackServer.Reply {
        let isWhole = request.fields["range"] == nil
        let (state, fault) = state.withLock { state in
            let fault = isWhole || state.faults.isEmpty ? .none : state.faults.removeFirst()
            if fault == .changed { state.entity = state.entity.changed }
            return (state, fault)
        }
        if !isWhole { return state.entity.reply(to: request, fault) }
        let whole = state.entity.whole
        let start = state.entity.offset
        guard case .message(let message)? = whole.steps.first, state.held < state.entity.length else { return whole }
        return [
            .message(message), .generated(start..<start + state.held), .waitForSignal(gate),
            .generated(start + state.held..<start + state.entity.length),
        ]
    }
}

extension LoopbackServer {
    /// How many requests asked for a part.
    var partCount: Int { ranges.count { $0 != nil } }
}
