internal import DunlinReactor
internal import DunlinRules
internal import DunlinSemantics
internal import Synchronization

/// The calls that a session makes for itself, which nobody awaits, by the rules of `BackgroundMachine`. They are in the
/// registry like all calls, and end when the session is shut down. If the session is released, they run to their end,
/// as its requests do.
final class BackgroundTasks: Sendable {
    /// What is requested, and by whom.
    struct Key: Sendable, Hashable {
        let url: CacheKey
        let asker: CacheAsker
    }

    private static let limits = BackgroundMachine<Key, HTTPSession.TaskID>.Limits()

    private let machine = Mutex(BackgroundMachine<Key, HTTPSession.TaskID>(limits))

    /// Makes a call, unless there are enough or the session is shut down. It begins on the loop before anything else
    /// that is scheduled there from now on.
    func begin(
        _ key: Key, _ make: () -> HTTPSession.Call?,
        _ work: @escaping @Sendable (HTTPSession.Call, TaskDelegate) async -> Void
    ) {
        guard machine.withLock({ $0.mayBegin(key) }), let call = make() else { return }
        let delegate = TaskDelegate(call)
        if let refusal = machine.withLock({ $0.begin(key, delegate.id) }) {
            return delegate.refuse(call, NetworkError(.cancelled, Self.reason(of: refusal)))
        }
        Task.detached(executorPreference: delegate.loop) { [weak self] in
            await work(call, delegate)
            self?.machine.withLock { $0.end(key) }
        }
    }

    /// Counts received bytes. Throws if a call has brought too many for all of them.
    func received(_ count: Int, _ key: Key) throws {
        if machine.withLock({ $0.received(count, key) }) { return }
        let reason = "the session's background requests got more than \(Self.limits.bytes) bytes in all, a fixed limit"
        throw NetworkError(.limitExceeded, reason, phase: .receive)
    }

    /// Others began, or the session was shut down, between the look and the beginning.
    private static func reason(of refusal: BackgroundMachine<Key, HTTPSession.TaskID>.Refusal) -> String {
        switch refusal {
        case .closed: "the session was shut down"
        case .sameKey: "a background request for the same URL began just before"
        case .full: "\(limits.calls) other background requests are running, a fixed limit"
        }
    }

    /// Makes no more calls, unless the session was reopened since that closing. Returns the running ones.
    func close(_ closing: UInt64) -> Set<HTTPSession.TaskID> { machine.withLock { $0.close(closing) } }

    /// Makes calls again after a reopening, unless the session was closed again since that closing.
    func reopen(after closing: UInt64) { machine.withLock { $0.reopen(after: closing) } }
}

extension SessionCore {
    /// Revalidates a stored response with the origin, and stores the result. Observers see a separate request.
    func revalidate(_ request: TransportRequest, _ stored: CacheRequest, insteadOf call: HTTPSession.Call) {
        let key = BackgroundTasks.Key(url: stored.key, asker: stored.asker)
        background.begin(key) {
            do { return try ownCall(insteadOf: call, request.head) } catch { return nil }
        } _: { [background] call, delegate in
            do {
                _ = try await delegate.run(
                    call,
                    into: DiscardingSink(limit: call.reading.limit) { count in
                        try background.received(count, key)
                    })
            } catch {
                // The stored response stays as it is; the next request asks again.
            }
        }
    }
}

/// Reads and drops a response, as far as allowed, for the stages that see it.
private struct DiscardingSink: Sink {
    typealias Taken = Bytes
    typealias Apart = ErasedSink
    typealias Value = Void

    /// The greatest number of bytes; nil for no limit.
    let limit: Int?
    /// Called with the bytes received; throws if they are too many.
    let received: @Sendable (Int) throws -> Void

    func take(from sending: inout Sending) async throws -> HTTPSession.Response<Bytes> {
        let response = try await sending.answer()
        switch response.body {
        case .bytes(let bytes):
            try check(bytes.count)
            try received(bytes.count)
        case .stream(let body):
            try check(body.expectedLength ?? 0)
            var count = 0
            while let piece = try await body.next() {
                count += piece.count
                try check(count)
                try received(piece.count)
            }
        }
        return HTTPSession.Response(head: response.head, value: .empty)
    }

    private func check(_ count: Int) throws {
        guard let limit, count > limit else { return }
        let reason = "the body has more than \(limit) bytes, the `bodyLimit` of the request"
        throw NetworkError(.limitExceeded, reason, phase: .receive)
    }
}
