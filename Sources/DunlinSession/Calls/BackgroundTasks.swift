internal import DunlinReactor
internal import DunlinSemantics
internal import Synchronization

/// What a session does for itself, without anybody who waits for it: at most one task a key. They end with the session.
final class BackgroundTasks: Sendable {
    private struct State {
        var tasks: [CacheKey: Task<Void, Never>] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Has no effect while there is a task of this key, and once the session is shut down.
    func begin(_ key: CacheKey, _ work: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            guard !state.isClosed, state.tasks[key] == nil else { return }
            state.tasks[key] = Task.detached { [weak self] in
                await work()
                self?.state.withLock { $0.tasks[key] = nil }
            }
        }
    }

    /// Cancels all of them, and waits until they have ended.
    func end() async {
        let tasks = state.withLock { state in
            state.isClosed = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    /// Waits until those have ended that run now.
    func settle() async {
        for task in state.withLock({ Array($0.tasks.values) }) { await task.value }
    }

    /// Takes tasks again, as the session takes requests.
    func reopen() { state.withLock { $0.isClosed = false } }
}

extension SessionCore {
    /// Asks the origin about what is stored under a key, and stores what it answers. Others see a request of its own.
    func revalidate(_ request: TransportRequest, _ key: CacheKey, insteadOf asked: HTTPSession.Call) {
        background.begin(key) { [self] in
            var options = asked.options
            options.cache = .validating
            (options.hooks, options.redirects, options.retry) = (HTTPSession.Hooks(), .none, .none)
            (options.startsAfter, options.label) = ([], nil)
            do {
                let call = try HTTPSession.Call(
                    self, kind: asked.kind, head: request.head, template: asked.targetTemplate, extras: asked.extras,
                    body: .none, options: options,
                    reading: HTTPSession.Reading(limit: nil, decodes: false, errors: asked.reading.errors), book: book)
                _ = try await TaskDelegate(call).run(call, into: DiscardingSink())
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
