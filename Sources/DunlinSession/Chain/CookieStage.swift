internal import DunlinSemantics
internal import DunlinTransport

/// Sends each hop with the jar's cookies for it, and stores those that its response sets. Cookies belong to what is
/// sent, not to the request from which later hops are made.
struct CookieStage: Stage {
    let jar: CookieJar

    func interest(in sending: Sending) -> StageInterest { .everything }

    func send(
        _ request: TransportRequest, _ sending: inout Sending, _ next: Next
    ) async throws -> TransportResponse {
        // All cookies may have been removed since: those of now are another user's.
        guard let jar = sending.asking.jar, let number = sending.delegate.jarNumber else {
            sending.withCookies = request
            return try await next(request, &sending)
        }
        let completed = jar.completing(request)
        sending.withCookies = completed
        let response = try await next(completed, &sending)
        jar.receive(response.head.fields, from: request.head, ifStill: number)
        return response
    }
}
