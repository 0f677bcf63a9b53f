internal import DunlinRules
internal import DunlinTransport

/// Makes a call that failed for lack of a network wait for one, and sends it again.
struct ConnectivityStage: Stage {
    /// The number of hops that are remembered of a request.
    private static let mostHops = 100

    func interest(in sending: Sending) -> StageInterest {
        let own = sending.delegate.settings?.options.waitsForConnectivity ?? .session
        guard own.resolved(sending.session.configuration.waitsForConnectivity) == true else { return .nothing }
        // The requests that wait for the refresh wait for the network, with their own deadlines. For a revalidation
        // nobody waits, and it would keep a turn in the queue from others for as long as there is no network.
        return sending.session.isRefreshing || sending.call.isRevalidation ? .nothing : .failures
    }

    func send(
        _ request: TransportRequest, _ sending: inout Sending, _ next: Next
    ) async throws -> TransportResponse {
        var machine = ConnectivityMachine()
        while true {
            do {
                return try await next(request, &sending)
            } catch {
                guard request.body.canBeSent else { throw error }
                try await ConnectivityWait(sending).pass(error, &machine)
                // Networks may come and go for days, so the number of such hops is unlimited.
                if let hop = (error as? NetworkError)?.hop, sending.callHistory?.hops.count ?? 0 < Self.mostHops {
                    sending.callHistory.append(hop)
                }
            }
            try sending.again(.network)
        }
    }
}
