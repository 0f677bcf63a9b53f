internal import DunlinReactor
internal import DunlinTransport

extension HTTPSession {
    /// Sends a request and hands the response to `operation` as soon as its head is there; any status is let through.
    ///
    /// The scope owns the exchange: leaving it before the body's end, by return, throw or cancel, closes the
    /// connection. `operation` runs where the caller runs.
    ///
    /// A server may answer while the request's body is still being sent, which goes on within the scope: what comes
    /// back can be read meanwhile. The response's body does not end before the request's has been sent.
    public func withStream<Value>(
        from target: Target, method: Method = .get, query: Query = Query(), body: RequestBody = .none,
        options: Options = Options(), _ operation: (StreamedResponse) async throws -> Value
    ) async throws -> Value {
        let decodes = options.decodesContent
        var head = try builder.head(
            method, target, query, body, options.fields, nil, expectsContinue: options.expectsContinue)
        if let route = options.route { head.origin = try route.routed(head.origin) }
        let delegate = delegate(method, target, options)
        let loop = loop
        let start = loop.now()
        let request = try request(head, body, options, since: start)
        if carrier.needsScope(body) {
            let uploads = UploadScope()
            async let _: Void = uploads.run()
            return try await stream(request, delegate, uploads, decodes, since: start, on: loop, operation)
        }
        return try await stream(request, delegate, nil, decodes, since: start, on: loop, operation)
    }

    private func stream<Value>(
        _ request: TransportRequest, _ delegate: TaskDelegate, _ uploads: UploadScope?, _ decodes: Bool,
        since start: MonotonicTime, on loop: Reactor, _ operation: (StreamedResponse) async throws -> Value
    ) async throws -> Value {
        let place = try tasks.add(delegate)
        do {
            let value = try await withTaskCancellationHandler {
                let response = try await withTaskExecutorPreference(loop) { @concurrent in
                    try await open(request, delegate, uploads, decodes: decodes, since: start, on: loop)
                }
                defer { response.body.source.close() }
                return try await operation(response)
            } onCancel: {
                delegate.interrupt.cancel(.task)
            }
            close(delegate, at: place, .finished)
            return value
        } catch {
            close(delegate, at: place, error is CancellationError ? .cancelled : .failed)
            throw error
        }
    }

    private func open(
        _ request: TransportRequest, _ delegate: TaskDelegate, _ uploads: UploadScope?, decodes: Bool,
        since start: MonotonicTime, on loop: Reactor
    ) async throws -> StreamedResponse {
        var earlier: [Attempt]?
        let hops = HopLoop(carrier: carrier, uploads: uploads)
        var response = try await hops.run(request, delegate, since: start, on: loop, &earlier)
        if carrier.sockets == nil, case .stream(let stream) = response.body {
            let (deadline, limit) = (request.deadline, request.timeouts.total)
            let body = ForeignBody(stream, carrier, delegate.interrupt, on: loop, until: deadline, limit: limit)
            response = response.with(.stream(body), response.attempt)
        }
        if decodes, let plain = try decoding.apply(to: response) { response = plain }
        return StreamedResponse(
            head: response.head, interim: response.interim, body: BodySequence(response.body, response.trailers),
            recorded: Metrics(earlier: earlier, last: response.attempt))
    }

    /// Ends what is left of the exchange, should somebody still hold on to the body.
    private func close(_ delegate: TaskDelegate, at place: Int, _ end: TaskMachine.State) {
        delegate.interrupt.cancel(.handle)
        delegate.end(end)
        tasks.remove(at: place)
    }
}
