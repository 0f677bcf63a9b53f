internal import DunlinRules
internal import DunlinTransport

/// Sends a hop once more if it failed because of its connection, by the rules of `ResendMachine`.
struct ResendStage: Stage {
    func seesAll(of call: LiveCall) -> Bool { false }

    func driver(for call: LiveCall) -> (any StageDriver)? { Driver() }

    private final class Driver: StageDriver {
        private var machine = ResendMachine()

        func received(_ response: TransportResponse, _ call: LiveCall) async throws -> StageAction {
            let isExpecting = call.request.head.fields.contains("expect")
            let action = machine.received(
                response.head.status, isExpecting: isExpecting, canBeSent: call.request.body.canBeSent)
            guard action == .sendWithoutExpectation else { return .pass(response) }
            let request = call.request.with { request in
                request.head.fields.remove("expect")
                request.needsFreshConnection = false
            }
            return .again(
                .send(.expectation),
                StageNotes(request: request, callHistory: call.callHistory.adding(response.hop)))
        }

        func failed(_ error: any Error, _ call: LiveCall) async throws -> StageAction {
            let action = machine.failed(error, isReplayable: call.request.body.isReplayable)
            guard action == .sendOnFreshConnection else { return .fail(error) }
            var notes = StageNotes(request: call.request.with { $0.needsFreshConnection = true })
            if let hop = (error as? NetworkError)?.hop { notes.callHistory = call.callHistory.adding(hop) }
            return .again(.send(.connection), notes)
        }

        func movedOn() {
            machine.movedOn()
        }

        func startOver() {
            machine = ResendMachine()
        }
    }
}
