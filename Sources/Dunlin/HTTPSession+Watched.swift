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
        return try await watched(delegate, audience) { await attend(call, delegate, audience, $0, serializer) }
    }

    /// How a request ended, and what is told of that.
    typealias Attended<Value> = (Result<Response<Value>, any Error>, Completion)

    /// A request from its place in the registry to what listeners are told last; `attend` is all that lies between.
    func watched<Value>(
        _ delegate: TaskDelegate, _ audience: Audience, _ attend: (Carrier) async -> Attended<Value>
    ) async throws -> Response<Value> {
        let entry = try tasks.add(delegate)
        hub.tell(.resumed(delegate.snapshot(at: audience.watch.now())))
        let (result, completion) = await Enclosure.enter(.request(delegate.id)) { await attend(entry.carrier) }
        tasks.unlist(at: entry.place)
        hub.tell(.completed(completion))
        tasks.remove(at: entry.place)
        return try result.get()
    }

    /// The same with a handle: it stands in the registry, and waits until somebody lets it begin.
    func held<Value: Sendable>(
        _ delegate: TaskDelegate, _ audience: Audience, leaving leftover: Leftover? = nil,
        _ attend: @escaping @Sendable (Carrier) async -> Attended<Value>
    ) throws -> RequestTask<Value> {
        _ = audience.watch.suspend()
        let entry = try tasks.add(delegate)
        let settlement = Settlement<Result<Response<Value>, any Error>>()
        // The registry waits for it when the session is shut down, and it ends with its request.
        Task {
            let (result, completion) = await Enclosure.enter(.request(delegate.id)) { await attend(entry.carrier) }
            tasks.unlist(at: entry.place)
            settlement.settle(result)
            hub.tell(.completed(completion))
            tasks.remove(at: entry.place)
        }
        return RequestTask(delegate, audience.watch, settlement, leftover)
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
        Audience([configuration.hooks, options.hooks], hub, tasks, TransferWatch(on: loop, priority: options.priority))
    }

    /// Everything from the wait to be let go to the last hook. Who asked is told by the caller of this, and listeners
    /// after that. `share` gives what may be told of the value.
    func attend<S: ResponseSerializer>(
        _ call: Call, _ delegate: TaskDelegate, _ audience: Audience, _ carrier: Carrier, _ serializer: S,
        share: (S.Output) -> (any Sendable)? = { _ in nil }
    ) async -> Attended<S.Output> {
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
        let response: Response<Bytes>
        switch transferred {
        case .failure(let error): return .failure(error)
        case .success(let arrived): response = arrived
        }
        do {
            if call.options.validatesResponse { try serializer.validate(response) }
            return .success(response.with(value: try await serialize(response, serializer)))
        } catch {
            return .failure(Self.refused(response, error, call.reading.kept))
        }
    }

    static func end<Value>(of result: Result<Value, any Error>) -> TaskMachine.State {
        switch result {
        case .success: .finished
        case .failure(let error): error is CancellationError ? .cancelled : .failed
        }
    }
}
