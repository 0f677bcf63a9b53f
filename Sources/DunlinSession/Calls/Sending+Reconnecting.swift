internal import DunlinReactor
internal import DunlinTransport

extension TaskDelegate {
    /// Waits before a call that continues an earlier one is admitted, and tells its observers before. Throws if the
    /// call ends meanwhile. A suspension is waited for by the admission.
    func wait(before reconnection: HTTPSession.Reconnection, _ call: HTTPSession.Call) async throws {
        try await Sending(call, self, nil, queued: nil).wait(before: reconnection)
    }
}

extension Sending {
    fileprivate func wait(before reconnection: HTTPSession.Reconnection) async throws {
        let end = loop.now().advanced(by: reconnection.wait.clampedNanoseconds)
        try await tell(reconnection)
        guard await loop.pause(until: min(end, request.deadline), cancellation: cancellation) else {
            throw cancellation.failure(
                "the request was cancelled while it waited to reconnect", isUnsent: true,
                limit: request.timeouts.total, peer: request.head.origin.description)
        }
        if request.deadline <= end {
            throw NetworkError(
                .timedOut, "timed out while it waited to reconnect", isSafeToRetry: true, exceeding: .total,
                limit: request.timeouts.total, peer: request.head.origin.description)
        }
    }

    private func tell(_ reconnection: HTTPSession.Reconnection) async throws {
        guard let observers else { return }
        let snapshot = snapshot
        observers.events.tell(.reconnecting(snapshot, reconnection))
        guard observers.hasHook(\.reconnecting) else { return }
        try await tell(\.reconnecting) { await $0(snapshot, reconnection) }
    }
}
