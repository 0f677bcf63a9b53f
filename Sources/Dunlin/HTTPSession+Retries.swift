internal import DunlinReactor
internal import DunlinTransport

extension HTTPSession {
    /// A request that may be tried again, whole. One without a policy for that does not come here.
    func tried(
        _ request: TransportRequest, _ delegate: TaskDelegate, _ reading: Reading, _ hops: HopLoop,
        since start: MonotonicTime, on loop: Reactor
    ) async throws -> Response<Bytes> {
        var request = request
        var trail = delegate.settings?.trail
        let tries = RetryLoop(hops, delegate, on: loop)
        return try await tries.run(&request, since: start, &trail) { response, request, trail in
            try await delivered(response, to: request, delegate, reading, hops.carrier, after: trail, on: loop)
        }
    }
}
