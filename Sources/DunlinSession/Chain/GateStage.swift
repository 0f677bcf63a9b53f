internal import DunlinReactor
internal import DunlinTransport

/// Has a hop wait at the session's gate, and tells the gate what came of it.
struct GateStage: Stage {
    let gate: any Gate

    /// What code within requests asks for passes, and so does a refresh: the request around it may be the one that
    /// holds the only turn.
    func interest(in sending: Sending) -> StageInterest {
        sending.session.owner.mayBeAwaited(by: sending.delegate.id) ? .everything : .nothing
    }

    func send(
        _ request: TransportRequest, _ sending: inout Sending, _ next: Next
    ) async throws -> TransportResponse {
        let visit = Visit(sending, request)
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
        let request: TransportRequest
        private let delegate: TaskDelegate
        private let cancellation: Cancellation
        private let retries: RetrySettings
        private let policy: HTTPSession.RetryPolicy

        init(_ sending: borrowing Sending, _ request: TransportRequest) {
            self.request = request
            (delegate, cancellation) = (sending.delegate, sending.cancellation)
            (retries, policy) = (sending.chain.settings.retries, sending.retryPolicy)
        }

        private var control: TransferControl? { delegate.observers?.control }
        var head: RequestHead { request.head }
        var deadline: HTTP.Instant { request.deadline }
        var priority: HTTP.Priority { control?.queueStatus.priority ?? request.priority }

        func now() -> HTTP.Instant { delegate.loop.now() }
        func chance() -> UInt64 { retries.chance() }
        func takeRetry() -> Bool { retries.takeRetry(head.origin.description, policy, at: now()) }

        func wait(until time: HTTP.Instant) async throws {
            guard await delegate.loop.pause(until: min(time, deadline), cancellation: cancellation) else {
                throw cancellation.failure(
                    "the request was cancelled while it waited at a limit of rate", isUnsent: true,
                    limit: request.timeouts.total, peer: head.origin.description)
            }
            if deadline <= now() {
                throw NetworkError(
                    .timedOut, "timed out while it waited at a limit of rate", isSafeToRetry: true, exceeding: .total,
                    limit: request.timeouts.total, peer: head.origin.description)
            }
        }

        var isSuspended: Bool { control?.isSuspended ?? false }
        func resumed() async throws {
            if let control { try await delegate.pass(control, until: deadline, isUnsent: false) }
        }
    }
}

extension HTTP.Hop {
    /// What the server took for the head, in nanoseconds: without the wait for one of our own connections, and without
    /// sending the request.
    fileprivate var serverTime: Int64 {
        self[.resolve] + self[.connect] + self[.proxyTLS] + self[.tunnel] + self[.tls] + self[.firstByte]
    }
}
