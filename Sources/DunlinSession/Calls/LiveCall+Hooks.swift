/// Whom one call's hooks are, and how they are asked: the session's first, and the request's where that has no opinion.
/// Off the loop, within the request's limits, and cancelled with it.
extension LiveCall {
    /// Nil if nobody has an opinion, or there is nobody.
    package func ask<Hook: Sendable, Answer: Sendable>(
        _ hook: (HTTPSession.Hooks) -> Hook?, _ ask: @escaping @Sendable (Hook) async -> Answer?
    ) async throws -> Answer? {
        for hooks in [chain.settings.hooks, delegate.settings?.options.hooks] {
            guard let hooks, let hook = hook(hooks) else { continue }
            if let answer = try await foreign({ await ask(hook) }) { return answer }
        }
        return nil
    }

    /// Tells everybody.
    func tell<Hook: Sendable>(
        _ hook: (HTTPSession.Hooks) -> Hook?, _ tell: @escaping @Sendable (Hook) async -> Void
    ) async throws {
        let nobody: Void? = try await ask(hook) {
            await tell($0)
            return nil
        }
        assert(nobody == nil, "who is told has no opinion")
    }
}
