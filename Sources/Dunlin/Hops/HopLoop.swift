internal import DunlinReactor

/// Drives requests hop by hop: sends each, and asks its machine what comes next.
struct HopLoop {
    let carrier: Carrier

    /// `start` is when the first hop began. Inlined, to cost each request no frame of its own.
    @inline(__always)
    func run(
        _ request: TransportRequest, _ delegate: TaskDelegate, since start: MonotonicTime, on loop: Reactor,
        _ metrics: inout Metrics
    ) async throws -> TransportResponse {
        var start = start
        var machine = HopMachine(isReplayable: request.body.isReplayable)
        while true {
            guard delegate.begin() else { throw NetworkError(.cancelled, "the request was over already") }
            do {
                let response = try await carrier.exchange(request, delegate.interrupt, since: start, on: loop)
                metrics.append(response.attempt)
                switch machine.received(response.head.status) {
                case .send: continue
                case .deliver, .fail: return response
                }
            } catch {
                guard machine.failed(error) == .send else { throw error }
                start = loop.now()
            }
        }
    }
}
