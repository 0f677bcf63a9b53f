internal import DunlinReactor
internal import DunlinTransport

/// Has a hop wait at the session's gate, and tells the gate what came of it.
struct GateStage: Stage {
    let gate: any Gate

    func interest(in sending: Sending) -> StageInterest { .everything }

    func send(
        _ request: TransportRequest, _ sending: inout Sending, _ next: Next
    ) async throws -> TransportResponse {
        var visit = Visit(sending: sending, request: request)
        let pass = try await gate.pass(visit)
        visit.start = sending.loop.now()
        do {
            let response = try await next(request, &sending)
            gate.ended(pass, visit, .success(response.head))
            return response
        } catch {
            gate.ended(pass, visit, .failure(error))
            throw error
        }
    }

    private struct Visit: GateVisit {
        let sending: Sending
        let request: TransportRequest
        var start: HTTP.Instant

        init(sending: Sending, request: TransportRequest) {
            (self.sending, self.request, start) = (sending, request, sending.loop.now())
        }

        var head: RequestHead { request.head }
        var deadline: HTTP.Instant { request.deadline }
        var priority: HTTP.Priority { sending.observers?.control.queueStatus.priority ?? sending.call.options.priority }

        func now() -> HTTP.Instant { sending.loop.now() }
        func chance() -> UInt64 { sending.chain.settings.retries.chance() }

        func takeRetry() -> Bool {
            sending.chain.settings.retries.takeRetry(head.origin.description, sending.retryPolicy, at: now())
        }

        func wait(until time: HTTP.Instant) async throws {
            guard await sending.loop.pause(until: min(time, deadline), cancellation: sending.cancellation) else {
                throw sending.cancellation.failure(
                    "the request was cancelled while it waited at a limit of rate", isUnsent: true,
                    limit: request.timeouts.total, peer: head.origin.description)
            }
            if deadline <= now() {
                throw NetworkError(
                    .timedOut, "timed out while it waited at a limit of rate", isSafeToRetry: true, exceeding: .total,
                    limit: request.timeouts.total, peer: head.origin.description)
            }
            try await sending.pass()
        }
    }
}
