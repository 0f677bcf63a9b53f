internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport

/// Notes for each hop what its answer is of, for calls whose answer is kept outside the session's cache.
struct ProvenanceStage: Stage {
    func interest(in sending: Sending) -> StageInterest { sending.call.isKept ? .everything : .nothing }

    func send(
        _ request: TransportRequest, _ sending: inout Sending, _ next: Next
    ) async throws -> TransportResponse {
        try sending.noteAccess()
        let response = try await next(request, &sending)
        guard let noted = sending.noted.take() else { return response }
        let step = sending.step(response, to: noted.access, sentAt: noted.sentAt)
        sending.callHistory = sending.callHistory.with { steps in
            var provenance = steps.provenance ?? Provenance()
            provenance.add(step)
            steps.provenance = provenance
        }
        return response
    }
}
