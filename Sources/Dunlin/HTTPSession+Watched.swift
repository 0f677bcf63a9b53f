internal import DunlinReactor
internal import DunlinTransport

/// A request that others than its caller want to know of: hooks, listeners to events, the holder of a handle, a queue.
/// All that a plain request does, and what these ask for; a plain one pays for none of it.
extension HTTPSession {
    @usableFromInline func isWatched(_ options: Options) -> Bool {
        hub.isHeeded || options.rare?.isWatched == true
    }

    @usableFromInline func watchedRequest<S: ResponseSerializer>(
        _ method: Method, _ target: Target, _ query: Query, _ body: RequestBody, _ options: Options, _ serializer: S
    ) async throws -> Response<S.Output> {
        let call = try call(method, target, query, body, options, serializer.accept)
        let audience = audience(options)
        let delegate = watchedDelegate(call, target, audience)
        let entry = try tasks.add(delegate)
        hub.tell(.resumed(delegate.snapshot(at: audience.watch.now())))
        let (result, completion) = await attend(call, delegate, audience, entry.carrier, serializer)
        tasks.unlist(at: entry.place)
        hub.tell(.completed(completion))
        tasks.remove(at: entry.place)
        return try result.get()
    }

    func call(
        _ method: Method, _ target: Target, _ query: Query, _ body: RequestBody, _ options: Options, _ accept: String?
    ) throws -> Call {
        var extras: RequestBuilder.Extras?
        let head = try head(method, target, query, body, options, accept, &extras)
        return Call(head: head, extras: extras, body: body, options: options, reading: reading(options))
    }

    func watchedDelegate(
        _ call: Call, _ target: Target, _ audience: Audience, _ kind: TaskKind? = nil
    ) -> TaskDelegate {
        unusualDelegate(
            kind ?? .of(call.body), call.head.method, target, call.options, call.extras, audience,
            at: audience.watch.now())
    }

    func audience(_ options: Options) -> Audience {
        Audience([configuration.hooks, options.hooks], hub, TransferWatch(on: loop, priority: options.priority))
    }

    /// Everything from the wait to be let go to the last hook. Who asked is told by the caller of this, and listeners
    /// after that. `share` gives what may be told of the value.
    func attend<S: ResponseSerializer>(
        _ call: Call, _ delegate: TaskDelegate, _ audience: Audience, _ carrier: Carrier, _ serializer: S,
        share: (S.Output) -> (any Sendable)? = { _ in nil }
    ) async -> (Result<Response<S.Output>, any Error>, Completion) {
        let transfer = WatchedTransfer(self, call, delegate, audience, carrier, WholeIntake())
        let ended = await transfer.run()
        let result = await valued(ended.result, call, serializer)
        delegate.end(Self.end(of: result))
        var completion = transfer.completion(ended, serializer)
        switch result {
        case .success(let response): completion.value = share(response.value)
        case .failure(let error): completion.error = error
        }
        await audience.tell(completion)
        return (result, completion)
    }

    /// What the serializer makes of a response; long ones off the loop.
    private func valued<S: ResponseSerializer>(
        _ transferred: Result<Response<Bytes>, any Error>, _ call: Call, _ serializer: S
    ) async -> Result<Response<S.Output>, any Error> {
        do {
            let response = try transferred.get()
            if call.options.validatesResponse { try serializer.validate(response) }
            if response.value.count > Self.serializedInPlace, isOnLoop {
                return .success(response.with(value: try await serialize(response, serializer)))
            }
            return .success(response.with(value: try serializer.serialize(response)))
        } catch {
            return .failure(error)
        }
    }

    static func end<Value>(of result: Result<Value, any Error>) -> TaskMachine.State {
        switch result {
        case .success: .finished
        case .failure(let error): error is CancellationError ? .cancelled : .failed
        }
    }
}
