internal import DunlinRules
internal import DunlinTransport

/// Makes a call that failed for lack of a network wait for one, and sends it again.
struct ConnectivityStage: Stage {
    func seesAll(of call: LiveCall) -> Bool { false }

    func driver(for call: LiveCall) -> (any StageDriver)? {
        let usual = call.session.configuration.waitsForConnectivity
        guard call.delegate.settings?.options.common.waitsForConnectivity(insteadOf: usual) ?? usual else {
            return nil
        }
        // The requests that wait for the refresh wait for the network, with their own deadlines.
        return call.session.isRefreshing ? nil : Driver()
    }

    private final class Driver: StageDriver {
        private var machine = ConnectivityMachine()
        /// The number of hops that are remembered of a request.
        private static let mostHops = 100

        func failed(_ error: any Error, _ call: LiveCall) async throws -> StageAction {
            guard call.request.body.canBeSent else { return .fail(error) }
            try await ConnectivityWait(call).pass(error, &machine)
            // Networks may come and go for days, so the number of such hops is unlimited.
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
