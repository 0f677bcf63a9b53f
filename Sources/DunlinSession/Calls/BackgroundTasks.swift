internal import DunlinReactor
internal import DunlinSemantics
internal import Synchronization

/// The calls that a session makes for itself, without anybody who waits for them: at most one a key. They are in the
/// registry as all calls are, and end when the session is shut down; those of a session that is released go on to their
/// end, as its requests do.
final class BackgroundTasks: Sendable {
    private struct State {
        var calls: [CacheKey: HTTPSession.TaskID] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Makes a call, unless there is one of this key or the session is shut down. It begins on the loop, before
    /// anything else does that is to run there from now on.
    func begin(
        _ key: CacheKey, _ make: () -> HTTPSession.Call?,
        _ work: @escaping @Sendable (HTTPSession.Call, TaskDelegate) async -> Void
    ) {
        guard state.withLock({ !$0.isClosed && $0.calls[key] == nil }), let call = make() else { return }
        let delegate = TaskDelegate(call)
        let isFirst = state.withLock { state in
            guard !state.isClosed, state.calls[key] == nil else { return false }
            state.calls[key] = delegate.id
            return true
        }
        guard isFirst else { return }
        Task.detached(executorPreference: delegate.loop) { [weak self] in
            await work(call, delegate)
            self?.state.withLock { $0.calls[key] = nil }
        }
    }

    /// No call is made any more. Returns those that run.
    func close() -> Set<HTTPSession.TaskID> {
        state.withLock { state in
            state.isClosed = true
            return Set(state.calls.values)
        }
    }

    /// Makes calls again, as the session takes requests.
    func reopen() { state.withLock { $0.isClosed = false } }
}

extension SessionCore {
    /// Asks the origin about what is stored under a key, and stores what it answers. Others see a request of its own.
    func revalidate(_ request: TransportRequest, _ key: CacheKey, insteadOf asked: HTTPSession.Call) {
        background.begin(key) {
            do { return try ownCall(insteadOf: asked, request.head) } catch { return nil }
        } _: { call, delegate in
            do {
                _ = try await delegate.run(call, into: DiscardingSink())
            } catch {
                // What is stored stays as it is; the next request asks again.
            }
        }
    }
}

/// Reads the response, for the sake of the stages that see it.
private struct DiscardingSink: Sink {
    typealias Value = Void

    func take(_ call: inout LiveCall) async throws -> HTTPSession.Response<Void> {
        let response = try await call.answer()
        if case .stream(let body) = response.body { while try await body.next() != nil {} }
        return HTTPSession.Response(head: response.head, value: ())
    }
}
