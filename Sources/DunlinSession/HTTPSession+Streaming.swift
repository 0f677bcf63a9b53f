internal import DunlinReactor
internal import DunlinTransport

extension HTTPSession {
    /// Sends a request and passes the response to `operation` when its head has come, whatever its status.
    ///
    /// The scope owns the exchange: leaving it before the body's end, by return, throw or cancel, closes the
    /// connection. `operation` runs on its caller's executor.
    ///
    /// If called within the scope, `shutdown` and similar methods exclude this request.
    ///
    /// A server may answer while the request's body is still being sent. Sending continues within the scope, and the
    /// response can be read meanwhile. The response's body does not end before the request's body has been sent.
    public func withResponse<Value>(
        from target: HTTP.Target, method: HTTP.Method = .get, query: HTTP.Query = HTTP.Query(),
        fields: Fields = Fields(), body: RequestBody = .none, json: (any Encodable)? = nil,
        timeout: Duration? = nil, options: Options = Options(),
        _ operation: (StreamedResponse) async throws -> Value
    ) async throws -> Value {
        let call = try streamCall(
            target, method, query: query, body: try self.body(body, json), options: options.with(fields, timeout))
        let delegate = TaskDelegate(call)
        let sink = StreamSink(isScope: true, on: delegate.loop)
        async let life: Void = delegate.run(call, into: sink)
        do {
            let response = try await sink.response
            let value = try await Enclosure.enter(request: delegate.id, of: core) {
                try await operation(response)
            }
            sink.close()
            await life
            if sink.wasCancelledByTask { throw CancellationError() }
            return value
        } catch {
            sink.close(error)
            await life
            throw error
        }
    }

    /// Sends a request. Returns the response when its head has come, whatever its status. The body can be read anywhere
    /// as it arrives.
    ///
    /// ```swift
    /// let response = try await client.stream("videos/7")
    /// return Reply(status: response.status.code, body: response.body)
    /// ```
    ///
    /// The response owns the exchange. The exchange ends when the body has been read to its end, when the request is
    /// cancelled, or when the last copy of the response, its body and their iterators is released, on any thread;
    /// unless all was read, the connection is then closed. If the body came with the head, the exchange has already
    /// ended. A slow reader stalls the server. The limit `total` counts until the end. `shutdown` cancels responses
    /// that are still being read.
    public func stream(
        _ target: HTTP.Target, method: HTTP.Method = .get, query: HTTP.Query = HTTP.Query(),
        fields: Fields = Fields(), body: RequestBody = .none, json: (any Encodable)? = nil,
        timeout: Duration? = nil, options: Options = Options()
    ) async throws -> StreamedResponse {
        // The exchange has a task of its own, which could send before it hears that this one was cancelled.
        try Task.checkCancellation()
        let call = try streamCall(
            target, method, query: query, body: try self.body(body, json), options: options.with(fields, timeout))
        return try await open(call, by: TaskDelegate(call))
    }

    /// The response of a call, when its head has come. `reconnection` is waited for first.
    func open(
        _ call: Call, by delegate: TaskDelegate, after reconnection: Reconnection? = nil
    ) async throws -> StreamedResponse {
        let sink = StreamSink(isScope: false, after: reconnection, on: delegate.loop)
        // The registry waits for this task when the session is shut down; it ends with its response.
        Task(executorPreference: delegate.loop) { await delegate.run(call, into: sink) }
        return try await withTaskCancellationHandler {
            try await sink.response.owned { sink.close($0) }
        } onCancel: {
            delegate.cancel(.task)
        }
    }

    private func streamCall(
        _ target: HTTP.Target, _ method: HTTP.Method, query: HTTP.Query, body: RequestBody, options: Options
    ) throws -> Call {
        try core.call(
            method, target, query: query, body: body, options: options, kind: .stream, isObserved: isObserved(options))
    }
}

extension TaskDelegate {
    nonisolated func run(_ call: HTTPSession.Call, into sink: StreamSink) async {
        do {
            _ = try await (run(call, into: sink) as Response<Void>)
        } catch {
            sink.fail(error)
        }
    }
}
