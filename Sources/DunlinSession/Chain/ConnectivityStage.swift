internal import DunlinRules
internal import DunlinTransport

/// Makes a call that failed for want of a network wait for one, and has it sent again.
struct ConnectivityStage: Stage {
    func seesAll(of call: LiveCall) -> Bool { false }

    func driver(for call: LiveCall) -> (any StageDriver)? {
        let usual = call.session.configuration.waitsForConnectivity
        guard call.delegate.settings?.options.common.waitsForConnectivity(insteadOf: usual) ?? usual else {
            return nil
        }
        // The requests that wait for the refresh wait for the network, with deadlines of their own.
        return Enclosure.isRefreshing(call.session) ? nil : Driver()
    }

    private final class Driver: StageDriver {
        private var machine = ConnectivityMachine()
        /// How many hops of a request are remembered.
        private static let mostHops = 100

        func failed(_ error: any Error, _ call: LiveCall) async throws -> StageAction {
            guard call.request.body.canBeSent else { return .fail(error) }
            try await ConnectivityWait(call).pass(error, &machine)
            // Networks may come and go for days, and there is no end to such hops.
            guard let hop = (error as? NetworkError)?.hop,
                call.callHistory?.hops.count ?? 0 < Self.mostHops
            else { return .again(.send(.network)) }
            return .again(.send(.network), StageNotes(callHistory: call.callHistory.adding(hop)))
        }

        func startOver() {
            machine = ConnectivityMachine()
        }
    }
}
