internal import DunlinReactor
internal import DunlinTransport

/// Has a hop wait at the session's gate, and tells the gate what came of it.
struct GateStage: Stage {
    let gate: any Gate

    /// What code within requests asks for passes, and so does a refresh: the request around it may be the one that
    /// holds the only turn.
    func interest(in sending: Sending) -> StageInterest {
        sending.session.isRefreshing || !sending.session.owner.mayBeAwaited(by: sending.delegate.id)
            ? .nothing : .everything
    }

    func send(
        _ request: TransportRequest, _ sending: inout Sending, _ next: Next
    ) async throws -> TransportResponse {
        let visit = Visit(sending: sending, request: request)
        let pass = try await gate.pass(visit)
        do {
            let response = try await next(request, &sending)
            gate.ended(pass, visit, .success((response.head, response.latestHop.serverTime)))
            return response
        } catch {
            gate.ended(pass, visit, .failure(error))
            throw error
        }
    }

    private struct Visit: GateVisit {
        let sending: Sending
        let request: TransportRequest

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
        }

        var isSuspended: Bool { sending.observers?.control.isSuspended ?? false }
        func resumed() async throws { try await sending.pass() }
    }
}

extension HTTP.Hop {
    /// What the server took for the head, in nanoseconds: without the wait for one of our own connections, and without
    /// sending the request.
    fileprivate var serverTime: Int64 {
        HTTP.Phase.allCases.reduce(0) { time, phase in
            [.pool, .send, .receive].contains(phase) ? time : time + (duration(of: phase)?.clampedNanoseconds ?? 0)
        }
    }
}
