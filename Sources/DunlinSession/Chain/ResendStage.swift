internal import DunlinRules
internal import DunlinTransport

/// Sends a hop once more if it failed because of its connection, by the rules of `ResendMachine`.
struct ResendStage: Stage {
    func interest(in sending: Sending) -> StageInterest { .failures }

    func send(
        _ request: TransportRequest, _ sending: inout Sending, _ next: Next
    ) async throws -> TransportResponse {
        var (request, machine) = (request, ResendMachine())
        while true {
            let why: SendingReason
            do {
                let response = try await next(request, &sending)
                let action = machine.received(
                    response.head.status, isExpecting: request.head.fields.contains("expect"),
                    canBeSent: request.body.canBeSent)
                guard action == .sendWithoutExpectation else { return response }
                sending.callHistory.append(response.hop)
                request = request.with { request in
                    request.head.fields.remove("expect")
                    request.needsFreshConnection = false
                }
                // Redirects do not bring it back.
                sending.request = request
                why = .expectation
            } catch {
                let action = machine.failed(error, isReplayable: request.body.isReplayable)
                guard action == .sendOnFreshConnection else { throw error }
                if let hop = (error as? NetworkError)?.hop { sending.callHistory.append(hop) }
                request = request.with { $0.needsFreshConnection = true }
                why = .connection
            }
            try sending.again(why)
        }
    }
}
