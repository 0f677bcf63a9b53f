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
        _ = audience.watch.suspend()
        let delegate = watchedDelegate(call, target, audience)
        let entry = try tasks.add(delegate)
        let settlement = Settlement<Result<Response<S.Output>, any Error>>()
        // The registry waits for it when the session is shut down, and it ends with its request.
        Task {
            let (result, completion) = await attend(call, delegate, audience, entry.carrier, serializer) { $0 }
            tasks.unlist(at: entry.place)
            settlement.settle(result)
            hub.tell(.completed(completion))
            tasks.remove(at: entry.place)
        }
        return RequestTask(delegate, audience.watch, settlement)
    }
}
