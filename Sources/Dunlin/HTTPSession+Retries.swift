internal import DunlinReactor
internal import DunlinTransport

/// A request that may be tried again, whole. One without a policy for that does not come here.
extension HTTPSession {
    @inline(never)
    func tried(
        _ request: TransportRequest, _ delegate: TaskDelegate, _ reading: Reading, _ carrier: Carrier,
        since start: MonotonicTime, on loop: Reactor
    ) async throws -> Response<Bytes> {
        guard carrier.needsScope(request.body, delegate.settings) else {
            return try await tried(request, delegate, reading, HopLoop(carrier: carrier), since: start, on: loop)
        }
        let uploads = UploadScope()
        async let _: Void = uploads.run()
        let hops = HopLoop(carrier: carrier, uploads: uploads)
        return try await tried(request, delegate, reading, hops, since: start, on: loop)
    }

    private func tried(
        _ request: TransportRequest, _ delegate: TaskDelegate, _ reading: Reading, _ hops: HopLoop,
        since start: MonotonicTime, on loop: Reactor
    ) async throws -> Response<Bytes> {
        var request = request
        var trail = delegate.settings?.trail
        let tries = RetryLoop(hops, delegate, on: loop)
        return try await tries.run(&request, since: start, &trail) { response, request, trail in
            switch try whole(response, reading, of: request, after: trail) {
            case .here(let response): return response
            case .arriving(let arriving):
                return try await collected(
                    arriving.response, isCoded: arriving.isCoded, arriving.request, delegate, reading, hops.carrier,
                    after: trail, on: loop)
            }
        }
    }
}
