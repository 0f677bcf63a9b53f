/// Calls the hooks of one call: the request's first, then the session's if that has no opinion. Hooks run off the loop,
/// within the call's limits, and are cancelled with it.
extension Sending {
    /// The first opinion of a hook; nil if none has one.
    package func ask<Hook: Sendable, Answer: Sendable>(
        _ hook: (HTTPSession.Hooks) -> Hook?, _ ask: @escaping @Sendable (Hook) async -> Answer?
    ) async throws -> Answer? {
        for hooks in [delegate.settings?.options.hooks, session.configuration.hooks] {
            guard let hooks, let hook = hook(hooks) else { continue }
            if let answer = try await withinLimits({ await ask(hook) }) { return answer }
        }
        return nil
    }

    /// Tells all hooks.
    func tell<Hook: Sendable>(
        _ hook: (HTTPSession.Hooks) -> Hook?, _ tell: @escaping @Sendable (Hook) async -> Void
    ) async throws {
        let nobody: Void? = try await ask(hook) {
            await tell($0)
            return nil
        }
        assert(nobody == nil, "a hook that is only told must return nothing")
    }
}
