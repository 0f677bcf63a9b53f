internal import DunlinReactor
internal import DunlinTransport

/// One call, whole: from what the caller said to a response with its body.
extension HTTPSession {
    /// Sends a request and makes a value of the response.
    @inlinable public func request<S: ResponseSerializer>(
        _ method: Method, _ target: Target, query: Query = Query(), body: RequestBody = .none,
        options: Options = Options(), as serializer: S
    ) async throws -> Response<S.Output> {
        if isWatched(options) { return try await watchedRequest(method, target, query, body, options, serializer) }
        // Read now, or the options would be kept, and copied for that, while the response is awaited.
        let (validates, kept) = (options.validatesResponse, errorBodyBytes(options))
        let response = try await fetch(method, target, query, body, options, accept: serializer.accept)
        do {
            if validates { try serializer.validate(response) }
            if response.value.count > Self.serializedAtOnce {
                return response.with(value: try await serialize(response, serializer))
            }
            let value = try serializer.serialize(response)
            return response.with(value: value)
        } catch {
            throw Self.refused(response, error, kept)
        }
    }

    /// How much of a response's body an error carries.
    @usableFromInline func errorBodyBytes(_ options: Options) -> Int {
        options.rare?.values.errorBodyBytes ?? configuration.limits.errorBodyBytes
    }

    @usableFromInline @inline(never)
    static func refused(_ response: Response<Bytes>, _ error: any Error, _ kept: Int) -> any Error {
        (error as? NetworkError)?.carrying(response.body, upTo: kept) ?? error
    }

    /// The response with its whole body, as it came.
    @usableFromInline func fetch(
        _ method: Method, _ target: Target, _ query: Query, _ body: RequestBody, _ options: Options, accept: String?
    ) async throws -> Response<Bytes> {
        let loop = loop
        let start = loop.now()
        let (request, delegate) = try prepare(method, target, query, body, options, accept, since: start)
        let reading = reading(options)
        // The fast lane: on the loop already and on no actor, so there is nowhere to go. A request that is alone stays
        // where it is too: going to the loop and back pays when it is shared with others.
        let actor: (any Actor)? = #isolation
        if actor == nil, loop.isCurrent || tasks.isEmpty {
            return try await run(request, delegate, reading, since: start, on: loop)
        }
        return try await runThere(request, delegate, reading, since: start, on: loop)
    }

    // Out of line: what it needs in passing belongs in no frame that a request keeps while it waits.
    @inline(never)
    private func prepare(
        _ method: Method, _ target: Target, _ query: Query, _ body: RequestBody, _ options: Options, _ accept: String?,
        since start: MonotonicTime
    ) throws -> (TransportRequest, TaskDelegate) {
        var extras: RequestBuilder.Extras?
        let head = try head(method, target, query, body, options, accept, &extras)
        let delegate = delegate(.of(body), method, target, options, extras, at: start)
        return (try request(head, body, options, since: start), delegate)
    }

    // Out of line: who is on the loop already keeps no room for it.
    @inline(never)
    private func runThere(
        _ request: TransportRequest, _ delegate: TaskDelegate, _ reading: Reading, since start: MonotonicTime,
        on loop: Reactor
    ) async throws -> Response<Bytes> {
        try await withTaskExecutorPreference(loop) { @concurrent in
            let response = try await run(request, delegate, reading, since: start, on: loop)
            await loop.leave()
            return response
        }
    }

    /// `extras` gets what the URL said that is no part of the head.
    @inline(__always)
    func head(
        _ method: Method, _ target: Target, _ query: Query, _ body: RequestBody, _ options: Options, _ accept: String?,
        _ extras: inout RequestBuilder.Extras?
    ) throws -> RequestHead {
        var head = try builder.head(
            method, target, query, body, options.fields, accept, expectsContinue: options.expectsContinue, &extras)
        if !options.decodesContent { builder.leaveOutCodings(&head, options.fields) }
        if let rare = options.rare { try rare.complete(&head, options.fields) }
        return head
    }

    func reading(_ options: Options) -> Reading {
        Reading(
            limit: options.bodyBytes.bytes(of: configuration.limits.bodyBytes), decodes: options.decodesContent,
            kept: errorBodyBytes(options))
    }

    func request(
        _ head: consuming RequestHead, _ body: RequestBody, _ options: Options, since start: MonotonicTime
    ) throws -> TransportRequest {
        let timeouts = options.timeouts ?? configuration.timeouts
        return TransportRequest(
            head: head, body: body, timeouts: timeouts, deadline: try Self.deadline(timeouts, from: start),
            priority: options.priority, continueTimeout: options.continueTimeout)
    }

    private func run(
        _ request: TransportRequest, _ delegate: TaskDelegate, _ reading: Reading, since start: MonotonicTime,
        on loop: Reactor
    ) async throws -> Response<Bytes> {
        let entry = try tasks.add(delegate)
        return try await withTaskCancellationHandler {
            do {
                let response =
                    if entry.carrier.retries(delegate.settings)
                        || entry.carrier.needsScope(request.body, delegate.settings)
                        || entry.carrier.asks(delegate.settings)
                    {
                        try await Enclosure.enter(.request(delegate.id)) {
                            try await sendWithCare(request, delegate, reading, entry.carrier, since: start, on: loop)
                        }
                    } else {
                        try await send(
                            request, delegate, reading, HopLoop(carrier: entry.carrier), since: start, on: loop)
                    }
                delegate.end(.finished)
                tasks.remove(at: entry.place)
                return response
            } catch {
                delegate.end(error is CancellationError ? .cancelled : .failed)
                tasks.remove(at: entry.place)
                throw error
            }
        } onCancel: {
            delegate.interrupt.cancel(.task)
        }
    }

    /// What may be tried again, has a body that may be sent for longer than the response's head takes to come, or may
    /// ask somebody on its way.
    @inline(never)
    private func sendWithCare(
        _ request: TransportRequest, _ delegate: TaskDelegate, _ reading: Reading, _ carrier: Carrier,
        since start: MonotonicTime, on loop: Reactor
    ) async throws -> Response<Bytes> {
        guard carrier.needsScope(request.body, delegate.settings) else {
            guard carrier.retries(delegate.settings) else {
                return try await send(
                    request, delegate, reading, HopLoop(carrier: carrier), since: start, on: loop)
            }
            return try await tried(request, delegate, reading, HopLoop(carrier: carrier), since: start, on: loop)
        }
        let uploads = UploadScope()
        async let _: Void = uploads.run()
        let hops = HopLoop(carrier: carrier, uploads: uploads)
        if carrier.retries(delegate.settings) {
            return try await tried(request, delegate, reading, hops, since: start, on: loop)
        }
        return try await send(request, delegate, reading, hops, since: start, on: loop)
    }

    @inline(__always)
    private func send(
        _ request: TransportRequest, _ delegate: TaskDelegate, _ reading: Reading, _ hops: HopLoop,
        since start: MonotonicTime, on loop: Reactor
    ) async throws -> Response<Bytes> {
        var request = request
        var trail = delegate.settings?.trail
        let response = try await hops.run(&request, delegate, since: start, on: loop, &trail)
        return try await delivered(response, to: request, delegate, reading, hops.carrier, after: trail, on: loop)
    }

    /// The response with its body: at once, if all of that is here.
    @inline(__always)
    func delivered(
        _ response: TransportResponse, to request: TransportRequest, _ delegate: TaskDelegate, _ reading: Reading,
        _ carrier: Carrier, after trail: Trail?, on loop: Reactor
    ) async throws -> Response<Bytes> {
        switch try whole(response, reading, of: request, after: trail) {
        case .here(let response): return response
        case .arriving(let arriving):
            return try await collected(
                arriving.response, isCoded: arriving.isCoded, arriving.request, delegate, reading, carrier,
                after: trail, on: loop)
        }
    }

    /// What to do about a response's body.
    private enum Whole {
        case here(Response<Bytes>)
        /// It has not all come yet, or there is more to decode than should be decoded here.
        case arriving(Arriving)
    }

    private final class Arriving {
        let response: TransportResponse
        let request: TransportRequest
        let isCoded: Bool

        init(_ response: TransportResponse, to request: TransportRequest, isCoded: Bool) {
            self.response = response
            self.request = request
            self.isCoded = isCoded
        }
    }

    // Out of line: what it keeps in passing belongs in no frame that a request keeps while it waits.
    @inline(never)
    private func whole(
        _ response: TransportResponse, _ reading: Reading, of request: consuming TransportRequest, after trail: Trail?
    ) throws -> Whole {
        let plain = reading.decodes ? try decoding.apply(to: response) : nil
        guard case .bytes(let body) = (plain ?? response).body else {
            return .arriving(Arriving(plain ?? response, to: request, isCoded: plain != nil))
        }
        return .here(
            try BodyCollector.whole(plain ?? response, body, limit: reading.limit, of: request, after: trail))
    }

    /// The response once its body has arrived and has been decoded. Decoding is work, and the loop has others waiting.
    @inline(never)
    func collected(
        _ response: TransportResponse, isCoded: Bool, _ request: TransportRequest, _ delegate: TaskDelegate,
        _ reading: Reading, _ carrier: Carrier, after trail: Trail?, on loop: Reactor
    ) async throws -> Response<Bytes> {
        let collector = BodyCollector(
            carrier: carrier, delegate: delegate, loop: loop, limit: reading.limit, kept: reading.kept)
        do {
            guard isCoded else { return try await collector.collect(response, request, after: trail) }
            return try await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in
                try await collector.collect(response, request, after: trail)
            }
        } catch {
            throw trail.explained(error)
        }
    }

    /// How a whole body is read.
    struct Reading: Sendable {
        /// Bytes; nil for any number.
        var limit: Int?
        var decodes: Bool
        /// How much of a body an error carries.
        var kept: Int
    }
}
