internal import DunlinReactor

/// One call, whole: from what the caller said to a response with its body.
extension HTTPSession {
    /// Sends a request and makes a value of the response.
    public func request<S: ResponseSerializer>(
        _ method: Method, _ target: Target, query: Query = Query(), body: RequestBody = .none,
        options: Options = Options(), as serializer: S
    ) async throws -> Response<S.Output> {
        let response = try await fetch(method, target, query, body, options, accept: serializer.accept)
        if options.validatesResponse { try serializer.validate(response) }
        let value = try serializer.serialize(response)
        return response.with(value: value)
    }

    /// The response with its whole body, as it came.
    func fetch(
        _ method: Method, _ target: Target, _ query: Query, _ body: RequestBody, _ options: Options, accept: String?
    ) async throws -> Response<Bytes> {
        let head = try builder.head(method, target, query, body, options.fields, accept)
        let limit = options.bodyBytes ?? configuration.limits.bodyBytes
        let delegate = TaskDelegate(method, target.template, label: options.label)
        let loop = loop
        let start = loop.now()
        let request = request(head, body, options, since: start)
        if loop.isCurrent { return try await run(request, delegate, limit, since: start, on: loop) }
        return try await withTaskExecutorPreference(loop) {
            try await run(request, delegate, limit, since: start, on: loop)
        }
    }

    func request(
        _ head: consuming RequestHead, _ body: RequestBody, _ options: Options, since start: MonotonicTime
    ) -> TransportRequest {
        let timeouts = options.timeouts ?? configuration.timeouts
        return TransportRequest(
            head: head, body: body, timeouts: timeouts, deadline: timeouts.deadline(for: .total, from: start))
    }

    @concurrent
    private func run(
        _ request: TransportRequest, _ delegate: TaskDelegate, _ limit: Int?, since start: MonotonicTime,
        on loop: Reactor
    ) async throws -> Response<Bytes> {
        try tasks.add(delegate)
        do {
            let response = try await withTaskCancellationHandler {
                var metrics = Metrics()
                let hops = HopLoop(carrier: carrier, delegate: delegate, loop: loop)
                let response = try await hops.run(request, since: start, &metrics)
                let collector = BodyCollector(carrier: carrier, delegate: delegate, loop: loop, limit: limit)
                if case .bytes(let body) = response.body { return try collector.whole(response, body, metrics) }
                return try await collector.collect(response, request, metrics)
            } onCancel: {
                delegate.interrupt.cancel(.task)
            }
            delegate.end(.finished)
            tasks.remove(delegate.id)
            return response
        } catch {
            delegate.end(error is CancellationError ? .cancelled : .failed)
            tasks.remove(delegate.id)
            throw error
        }
    }
}
