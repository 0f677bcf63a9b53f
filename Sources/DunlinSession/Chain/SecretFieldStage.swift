internal import DunlinTransport

/// Marks the response fields that the session calls secret.
struct SecretFieldStage: Stage {
    let names: HTTP.SecretFields

    func interest(in sending: Sending) -> StageInterest { .everything }

    func send(
        _ request: TransportRequest, _ sending: inout Sending, _ next: Next
    ) async throws -> TransportResponse {
        try await next(request, &sending).marking(names)
    }
}
