internal import DunlinTransport

/// Requests with a handle. The verbs are shorter where nothing has to be held.
extension HTTPSession {
    /// A request that does not begin before it is resumed or awaited. It is listed in `tasks` from now on. Throws for
    /// what cannot be sent, and once the session is shut down.
    public func task<S: ResponseSerializer>(
        _ target: Target, method: Method = .get, query: Query = Query(), body: RequestBody = .none,
        options: Options = Options(), as serializer: S
    ) throws -> RequestTask<S.Output> where S.Output: Sendable {
        let call = try call(method, target, query, body, options, serializer.accept)
        let audience = audience(options)
        let delegate = watchedDelegate(call, target, audience)
        return try held(delegate, audience) { [self] carrier in
            await attend(call, delegate, audience, carrier, serializer) { $0 }
        }
    }
}
