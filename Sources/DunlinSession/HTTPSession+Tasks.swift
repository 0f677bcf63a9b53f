internal import DunlinTransport

/// Requests with a handle. The verbs are shorter if no handle is needed.
extension HTTPSession {
    /// Creates a request that begins when it is resumed or awaited. It is listed in `tasks` at once. Throws for a
    /// request that cannot be sent, and if the session is shut down.
    public func task<S: ResponseSerializer>(
        _ target: HTTP.Target, method: HTTP.Method = .get, query: HTTP.Query = HTTP.Query(),
        fields: Fields = Fields(), body: RequestBody = .none, json: (any Encodable)? = nil,
        timeout: Duration? = nil, options: Options = Options(), as serializer: S = BytesSerializer()
    ) throws -> RequestTask<S.Output> where S.Output: Sendable {
        let call = try core.call(
            method, target, query: query, body: try self.body(body, json), options: options.with(fields, timeout),
            accept: serializer.accept, isObserved: true)
        return try handle(for: call, into: SerializedSink(serializer, call) { $0 })
    }

    /// Creates a request for a value decoded from JSON; `response` is the whole response.
    public func task<Value: Decodable & Sendable>(
        _ target: HTTP.Target, method: HTTP.Method = .get, query: HTTP.Query = HTTP.Query(),
        fields: Fields = Fields(), body: RequestBody = .none, json: (any Encodable)? = nil,
        timeout: Duration? = nil, options: Options = Options(), as type: Value.Type
    ) throws -> RequestTask<Value> {
        try task(
            target, method: method, query: query, fields: fields, body: body, json: json, timeout: timeout,
            options: options, as: .json(type))
    }

    /// Adds a call to the registry that waits until its handle begins it. `isAwaited`: the code that makes it waits for
    /// it there, in a scope of its own.
    package func handle<S: Sink>(
        for call: Call, into sink: S, leaving leftover: (any Sendable)? = nil, isAwaited: Bool = false
    ) throws -> RequestTask<S.Value>
    where S.Value: Sendable {
        guard let control = call.observers?.control else {
            throw NetworkError(.invalidRequest, "a request with a handle must be observed")
        }
        _ = control.suspend()
        let delegate = TaskDelegate(call)
        let settlement = Settlement<Result<Response<S.Value>, any Error>>()
        // The registry waits for this task when the session is shut down; it ends with its request. It begins on the
        // loop, so that later queries to the registry come after it has entered, while there is a loop.
        Task(executorPreference: delegate.loop) {
            await delegate.run(call, into: sink, settling: settlement, isAwaited: isAwaited)
        }
        return RequestTask(delegate, control, settlement, leftover, isOfScope: isAwaited)
    }
}
