internal import DunlinTransport

/// Sends a hop once more that failed because of its connection, by the rules of `ResendMachine`.
struct ResendStage: Stage {
    func seesAll(of call: LiveCall) -> Bool { false }

    func driver(for call: LiveCall) -> (any StageDriver)? { Driver() }

    private final class Driver: StageDriver {
        private var machine = ResendMachine()

        func received(_ response: TransportResponse, _ call: inout LiveCall) async throws -> StageAction {
            let isExpecting = call.request.head.fields.contains("expect")
            let action = machine.received(
                response.head.status, isExpecting: isExpecting, canBeSent: call.request.body.canBeSent)
            guard action == .sendWithoutExpectation else { return .pass(response) }
            call.callHistory.append(response.hop)
            call.request = call.request.with { request in
                request.head.fields.remove("expect")
                request.needsFreshConnection = false
            }
            return .again(.send(.expectation))
        }

        func failed(_ error: any Error, _ call: inout LiveCall) async throws -> StageAction.Again {
            let action = machine.failed(error, isReplayable: call.request.body.isReplayable)
            guard action == .sendOnFreshConnection else { throw error }
            if let hop = (error as? NetworkError)?.hop { call.callHistory.append(hop) }
            call.request = call.request.with { $0.needsFreshConnection = true }
            return .send(.connection)
        }

        func movedOn() {
            machine.movedOn()
        }

        func startOver() {
            machine = ResendMachine()
        }
    }
}
