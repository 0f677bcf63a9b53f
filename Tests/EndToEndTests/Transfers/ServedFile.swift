import Dunlin
import DunlinTesting
import Synchronization

/// A file as a server has it, and what goes wrong while it is served.
final class ServedFile: Sendable {
    struct State: Sendable {
        var entity: LoopbackServer.Entity
        /// Of the next requests, in order.
        var faults: [LoopbackServer.EntityFault] = []
        /// Of the next requests for a part of it, in order.
        var partFaults: [LoopbackServer.EntityFault] = []
        /// In the place of the next part.
        var instead: (@Sendable (LoopbackServer.RecordedRequest) -> LoopbackServer.Reply)?
        /// Whoever asks for all of it gets so many bytes, and the rest when the gate opens.
        var held: Int?

        fileprivate mutating func takeFault(isPart: Bool) -> LoopbackServer.EntityFault {
            if isPart, !partFaults.isEmpty { return partFaults.removeFirst() }
            return faults.isEmpty ? .none : faults.removeFirst()
        }
    }

    let state: Mutex<State>
    let gate = LoopbackServer.Gate()

    /// The bodies of the first responses end after so many bytes.
    init(_ length: Int, cuts: [Int] = [], held: Int? = nil) {
        var state = State(entity: LoopbackServer.Entity(length: length, tag: #""one""#))
        state.faults = cuts.map { .short(after: $0) }
        state.held = held
        self.state = Mutex(state)
    }

    var entity: LoopbackServer.Entity { state.withLock { $0.entity } }
    var contents: Bytes { entity.bytes }

    func change(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

    func serve(on stage: Stage) {
        stage.server.respond { [self] request in reply(to: request) }
    }

    func reply(to request: LoopbackServer.RecordedRequest) -> LoopbackServer.Reply {
        let isPart = request.fields["range"] != nil
        let (state, fault) = state.withLock { state in
            let fault = state.takeFault(isPart: isPart)
            if fault == .changed { state.entity = state.entity.changed }
            defer { if isPart { state.instead = nil } }
            return (state, fault)
        }
        if isPart, let instead = state.instead { return instead(request) }
        guard !isPart, let held = state.held, held < state.entity.length else {
            return state.entity.reply(to: request, fault)
        }
        return reply(state.entity, upTo: held)
    }

    private func reply(_ entity: LoopbackServer.Entity, upTo count: Int) -> LoopbackServer.Reply {
        guard case .message(let head)? = entity.whole.steps.first else { return entity.whole }
        let (start, end) = (entity.offset, entity.offset + entity.length)
        return [
            .message(head), .generated(start..<start + count), .waitForSignal(gate), .generated(start + count..<end),
        ]
    }
}

extension LoopbackServer {
    /// What was asked for by range, in order; nil for the whole.
    var ranges: [String?] { requests.map { $0.fields["range"] } }

    /// How many requests asked for a part.
    var partCount: Int { ranges.count { $0 != nil } }
}
