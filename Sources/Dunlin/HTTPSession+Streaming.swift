internal import DunlinReactor
internal import DunlinTransport

extension HTTPSession {
    /// Sends a request and hands the response to `operation` as soon as its head is there; any status is let through.
    ///
    /// The scope owns the exchange: leaving it before the body's end, by return, throw or cancel, closes the
    /// connection. `operation` runs where the caller runs.
    ///
    /// Within the scope `shutdown` and its like leave this request out.
    ///
    /// A server may answer while the request's body is still being sent, which goes on within the scope: what comes
    /// back can be read meanwhile. The response's body does not end before the request's has been sent.
    public func withStream<Value>(
        from target: Target, method: Method = .get, query: Query = Query(), body: RequestBody = .none,
        options: Options = Options(), _ operation: (StreamedResponse) async throws -> Value
    ) async throws -> Value {
        var extras: RequestBuilder.Extras?
        let head = try head(method, target, query, body, options, nil, &extras)
        let loop = loop
        let start = loop.now()
        let audience = isWatched(options) ? audience(options) : nil
        let delegate =
            audience == nil
            ? delegate(.stream, method, target, options, extras, at: start)
            : unusualDelegate(.stream, method, target, options, extras, audience, at: start)
        let request = try request(head, body, options, since: start)
        let entry = try tasks.add(delegate)
        let opening = Opening(
            request: request, delegate: delegate, decodes: options.decodesContent, carrier: entry.carrier,
            place: entry.place, start: start, loop: loop)
        defer { tasks.remove(at: opening.place) }
        if audience != nil { hub.tell(.resumed(delegate.snapshot(at: start))) }
        return try await Enclosure.enter(.request(delegate.id)) {
            guard entry.carrier.needsScope(body, delegate.settings) else {
                return try await stream(opening, nil, operation)
            }
            let uploads = UploadScope()
            async let _: Void = uploads.run()
            return try await stream(opening, uploads, operation)
        }
    }

    /// What a stream is opened with.
    fileprivate struct Opening: Sendable {
        var request: TransportRequest
        let delegate: TaskDelegate
        let decodes: Bool
        let carrier: Carrier
        let place: Int
        var start: MonotonicTime
        let loop: Reactor
    }

    private func stream<Value>(
        _ opening: Opening, _ uploads: UploadScope?, _ operation: (StreamedResponse) async throws -> Value
    ) async throws -> Value {
        guard let audience = opening.delegate.audience, audience.wantsProgress else {
            return try await quietStream(opening, uploads, operation)
        }
        async let telling: Void = audience.tellProgress(of: opening.delegate)
        do {
            let value = try await quietStream(opening, uploads, operation)
            await telling
            return value
        } catch {
            await telling
            throw error
        }
    }

    private func quietStream<Value>(
        _ opening: Opening, _ uploads: UploadScope?, _ operation: (StreamedResponse) async throws -> Value
    ) async throws -> Value {
        let delegate = opening.delegate
        var arrived: StreamedResponse?
        var passage: Passage?
        do {
            let value = try await withTaskCancellationHandler {
                passage = try await pass(opening)
                let entered = try passage.map { try opening.after($0) } ?? opening
                var response = try await withTaskExecutorPreference(opening.loop) { @concurrent in
                    try await open(entered, uploads)
                }
                response.queued = passage?.queued ?? 0
                arrived = response
                defer { response.body.source.close() }
                return try await operation(response)
            } onCancel: {
                delegate.cancel(.task)
            }
            await end(opening, passage, arrived, nil)
            return value
        } catch {
            await end(opening, passage, arrived, error)
            throw error
        }
    }

    /// Waits for its turn; nil for a request that nobody watches, which goes at once.
    private func pass(_ opening: Opening) async throws -> Passage? {
        guard let audience = opening.delegate.audience else { return nil }
        let request = opening.request
        var entrance = Entrance(self, opening.delegate, audience, request.head.origin, request.timeouts)
        return try await entrance.pass()
    }

    private func open(_ opening: Opening, _ uploads: UploadScope?) async throws -> StreamedResponse {
        let (delegate, carrier) = (opening.delegate, opening.carrier)
        var request = opening.request
        var trail = delegate.settings?.trail
        let hops = HopLoop(carrier: carrier, uploads: uploads)
        var response =
            if carrier.retries(delegate.settings) {
                try await RetryLoop(hops, delegate, on: opening.loop).head(&request, since: opening.start, &trail)
            } else {
                try await hops.run(&request, delegate, since: opening.start, on: opening.loop, &trail)
            }
        if let audience = delegate.audience {
            response = try await audience.admit(response, to: request, delegate, carrier, on: opening.loop)
        }
        if carrier.sockets == nil, case .stream(let stream) = response.body {
            let (deadline, limit) = (request.deadline, request.timeouts.total)
            let body = ForeignBody(
                stream, carrier, delegate.interrupt, on: opening.loop, until: deadline, limit: limit)
            response = response.with(.stream(body), response.attempt)
        }
        let watch = delegate.audience?.watch
        var declaredLength = response.declaredLength
        if opening.decodes, let plain = try decoding.apply(to: response, telling: watch) {
            response = plain
            declaredLength = nil
        }
        if let audience = delegate.audience {
            response = try await audience.told(response, to: request, delegate, carrier, on: opening.loop)
        }
        return StreamedResponse(
            head: response.head, interim: response.interim,
            body: BodySequence(response.body, response.trailers, declaredLength: declaredLength),
            recorded: Metrics(after: trail, last: response.attempt), url: request.head.url(after: trail),
            history: trail?.redirects ?? [], retries: trail?.tries?.retried ?? [])
    }

    /// Ends what is left of the exchange, should somebody still hold on to the body, and tells whoever wants to know.
    private func end(
        _ opening: Opening, _ passage: Passage?, _ arrived: StreamedResponse?, _ error: (any Error)?
    ) async {
        let (delegate, request) = (opening.delegate, opening.request)
        delegate.cancel(.handle)
        delegate.end(error.map { $0 is CancellationError ? .cancelled : .failed } ?? .finished)
        passage?.leave()
        guard let audience = delegate.audience else { return }
        audience.watch.end()
        let snapshot = delegate.snapshot(at: audience.watch.now())
        await audience.tell(\.transferEnded) { await $0(snapshot, error) }
        let last = (error as? NetworkError)?.attempt
        var completion = Completion(
            task: delegate.snapshot(at: audience.watch.now()),
            url: request.head.origin.description + request.head.target,
            response: arrived?.head, metrics: arrived?.metrics ?? Metrics(attempts: [last].compactMap(\.self)))
        completion.error = error
        await audience.tell(completion)
        tasks.unlist(at: opening.place)
        hub.tell(.completed(completion))
    }
}

extension HTTPSession.Opening {
    /// The same, beginning now that its turn has come.
    fileprivate func after(_ passage: Passage) throws -> Self {
        var opening = self
        opening.start = loop.now()
        delegate.audience?.watch.standing.queued(passage.queued, until: opening.start)
        opening.request = try request.beginning(at: opening.start, delegate.priority)
        return opening
    }
}

extension TransportRequest {
    fileprivate func beginning(at start: MonotonicTime, _ priority: RequestPriority) throws -> TransportRequest {
        TransportRequest(
            head: head, body: body, timeouts: timeouts, deadline: try HTTPSession.deadline(timeouts, from: start),
            priority: priority, continueTimeout: continueTimeout)
    }
}
