internal import DunlinReactor

/// What a session says of hops; a request may say otherwise.
final class HopSettings: Sendable {
    let redirects: HTTPSession.RedirectPolicy
    let hooks: HTTPSession.Hooks
    let builder: RequestBuilder
    let retries: RetrySettings
    let waitsForConnectivity: Bool
    let reachability: Reachability
    let cookies: CookieJar?
    let secretFields: SecretFields
    let asks: Bool

    init(_ configuration: HTTPSession.Configuration, _ builder: RequestBuilder) {
        redirects = configuration.redirects
        hooks = configuration.hooks
        retries = RetrySettings(configuration)
        waitsForConnectivity = configuration.waitsForConnectivity
        reachability = configuration.reachability
        cookies = configuration.cookies
        secretFields = configuration.secretFields
        asks = configuration.authenticate != nil
        self.builder = builder
    }
}

/// Whom one request's hooks are, and how they are asked: the session's first, and the request's where that has no
/// opinion. Off the loop, within the request's limits, and cancelled with it.
struct HookAsking {
    let carrier: Carrier
    let request: TransportRequest
    let delegate: TaskDelegate
    let loop: Reactor

    /// Nil if nobody has an opinion, or there is nobody.
    func answer<Hook: Sendable, Answer: Sendable>(
        _ hook: (HTTPSession.Hooks) -> Hook?, _ ask: @escaping @Sendable (Hook) async -> Answer?
    ) async throws -> Answer? {
        for hooks in [carrier.settings.hooks, delegate.settings?.options.hooks] {
            guard let hooks, let hook = hook(hooks) else { continue }
            let answer = try await carrier.foreign(
                until: request.deadline, request.timeouts.total, delegate.interrupt, on: loop
            ) { await ask(hook) }
            if let answer { return answer }
        }
        return nil
    }

    /// Tells everybody.
    func tell<Hook: Sendable>(
        _ hook: (HTTPSession.Hooks) -> Hook?, _ tell: @escaping @Sendable (Hook) async -> Void
    ) async throws {
        let nobody: Void? = try await answer(hook) {
            await tell($0)
            return nil
        }
        assert(nobody == nil, "who is told has no opinion")
    }
}
