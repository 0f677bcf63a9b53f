internal import DunlinReactor
internal import DunlinTransport

extension HTTPSession {
    /// Puts a call on the list of those that run. It must be run then, which takes it off again.
    func enter(_ call: Call) throws -> EnteredCall {
        let isHeld = call.audience?.watch.isHeld ?? false
        let delegate = TaskDelegate.of(call, advisor)
        let entry = try tasks.add(delegate)
        return EnteredCall(self, call, delegate, entry, isHeld: isHeld)
    }
}

/// The one life of a request, from its place in the registry to the end: watched or not, whole or streamed, up or down.
///
/// It is admitted, transferred and told of. What others than its caller want is asked of its audience; most have none.
final class EnteredCall: Sendable {
    let session: HTTPSession
    let call: HTTPSession.Call
    let delegate: TaskDelegate
    let chain: Chain
    private let place: Int
    /// It began as one that somebody has yet to let go, and tells then that it was.
    private let isHeld: Bool

    typealias Response = HTTPSession.Response

    fileprivate init(
        _ session: HTTPSession, _ call: HTTPSession.Call, _ delegate: TaskDelegate, _ entry: TaskRegistry.Admission,
        isHeld: Bool
    ) {
        self.session = session
        self.call = call
        self.delegate = delegate
        self.isHeld = isHeld
        (chain, place) = (entry.chain, entry.place)
    }

    func run<S: Sink>(into sink: S) async throws -> Response<S.Value> {
        guard isEnclosure(sink) else { return try await lived(sink).result.get() }
        return try await Enclosure.enter(.request(delegate.id)) { try await lived(sink).result.get() }
    }

    /// The same for others than whoever asked.
    func run<S: Sink>(
        into sink: S, settling settlement: Settlement<Result<Response<S.Value>, any Error>>
    ) async where S.Value: Sendable {
        await Enclosure.enter(.request(delegate.id)) {
            _ = await lived(sink) { settlement.settle($0) }
        }
    }

    /// Whether the user's code may run within the call, and wait there for others to end.
    private func isEnclosure(_ sink: some Sink) -> Bool {
        call.audience != nil || sink.isScope || chain.asks(delegate.settings)
            || chain.needsScope(call.body, delegate.settings)
    }

    /// A result that may be no other task's to see.
    private struct Lived<Value> {
        let result: Result<Response<Value>, any Error>
    }

    private func lived<S: Sink>(
        _ sink: S, _ settle: (Result<Response<S.Value>, any Error>) -> Void = { _ in }
    ) async -> Lived<S.Value> {
        if let audience = call.audience, !isHeld { audience.events.tell(.resumed(snapshot)) }
        let transfer = await watchedTransfer(to: sink)
        let result = await valued(transfer.result, sink)
        delegate.end(.ending(result))
        guard let audience = call.audience else {
            session.tasks.remove(at: place, isRequest: call.kind != .opening)
            return Lived(result: result)
        }
        var completion = completion(transfer, sink)
        switch result {
        case .success(let response): completion.value = sink.shared(response)
        case .failure(let error): completion.error = error
        }
        await audience.tell(completion)
        session.tasks.unlist(at: place)
        settle(result)
        audience.events.tell(.completed(completion))
        session.tasks.remove(at: place)
        return Lived(result: result)
    }

    private func valued<S: Sink>(
        _ taken: Result<Response<S.Taken>, any Error>, _ sink: S
    ) async -> Result<Response<S.Value>, any Error> {
        do {
            return .success(try await sink.value(of: try taken.get()))
        } catch {
            return .failure(error)
        }
    }

    private var snapshot: TaskSnapshot { delegate.snapshot(at: delegate.loop.now()) }

    private func completion<S: Sink>(_ transfer: Transferred<S.Taken>, _ sink: S) -> HTTPSession.Completion {
        let response = transfer.response
        return HTTPSession.Completion(
            task: snapshot, url: call.head.origin.description + call.head.target,
            response: response?.head ?? sink.handed?.head, body: response.flatMap { sink.body(of: $0) },
            file: response?.file, serializer: sink.serializer, metrics: sink.handed?.metrics ?? transfer.metrics)
    }
}

// MARK: - The transfer

extension EnteredCall {
    /// Tells whoever looks on how far it is, and that it is over.
    private func watchedTransfer<S: Sink>(to sink: S) async -> Transferred<S.Taken> {
        guard let audience = call.audience else { return await transferOnLoop(to: sink) }
        guard audience.wantsProgress else { return await toldTransfer(to: sink, audience) }
        async let telling: Void = audience.tellProgress(of: delegate)
        let transfer = await toldTransfer(to: sink, audience)
        await telling
        return transfer
    }

    private func toldTransfer<S: Sink>(to sink: S, _ audience: Audience) async -> Transferred<S.Taken> {
        let transfer = await transferOnLoop(to: sink)
        audience.watch.end()
        let (snapshot, error) = (snapshot, transfer.error)
        await audience.tell(\.transferEnded) { await $0(snapshot, error) }
        return transfer
    }

    /// To the call's loop, and back. Who is there already, and on no actor, has nowhere to go.
    private func transferOnLoop<S: Sink>(to sink: S) async -> Transferred<S.Taken> {
        await withTaskCancellationHandler {
            let actor: (any Actor)? = #isolation
            if actor == nil, delegate.loop.isCurrent { return await admittedTransfer(to: sink) }
            return await withTaskExecutorPreference(delegate.loop) { @concurrent in
                let transfer = await admittedTransfer(to: sink)
                await delegate.loop.leave()
                return transfer
            }
        } onCancel: {
            delegate.cancel(.task)
        }
    }

    /// Gives its turn back when nothing of it goes on any more.
    private func admittedTransfer<S: Sink>(to sink: S) async -> Transferred<S.Taken> {
        do {
            let passage = try await admitted()
            defer { passage?.leave() }
            let start = passage == nil ? delegate.created : delegate.loop.now()
            return await scopedTransfer(to: sink, queued: passage?.queued, since: start)
        } catch {
            return Transferred(failure: error)
        }
    }

    /// A body may be sent for longer than the response's head takes to come.
    private func scopedTransfer<S: Sink>(
        to sink: S, queued: Int64?, since start: MonotonicTime
    ) async -> Transferred<S.Taken> {
        guard chain.needsScope(call.body, delegate.settings) else {
            return await transfer(to: sink, nil, queued: queued, since: start)
        }
        let uploads = UploadScope()
        async let _: Void = uploads.run()
        return await transfer(to: sink, uploads, queued: queued, since: start)
    }

    private func transfer<S: Sink>(
        to sink: S, _ uploads: UploadScope?, queued: Int64?, since start: MonotonicTime
    ) async -> Transferred<S.Taken> {
        var live: LiveCall
        do {
            live = try begun(uploads, queued: queued, since: start)
        } catch {
            return Transferred(failure: error)
        }
        do {
            let response = try await sink.take(&live)
            return Transferred(.success(response), live)
        } catch {
            return Transferred(.failure(error), live)
        }
    }

    /// Waits until it is let go and its turn comes; nil for a call that nobody holds.
    private func admitted() async throws -> Passage? {
        guard let audience = call.audience else { return nil }
        let timeouts = call.options.timeouts ?? session.configuration.timeouts
        var entrance = Entrance(session, delegate, audience, call.head.origin, timeouts)
        return try await entrance.pass()
    }

    private func begun(_ uploads: UploadScope?, queued: Int64?, since start: MonotonicTime) throws -> LiveCall {
        var body = call.body
        if let queued, let watch = call.audience?.watch {
            watch.standing.queued(queued, until: start)
            if chain.carrier.sockets == nil { body = body.counted(by: watch) }
        }
        return LiveCall(
            entered: self, uploads: uploads, request: try session.request(call, body, since: start), start: start,
            trail: delegate.settings?.trail, queued: queued ?? 0)
    }
}

/// How a transfer went.
private struct Transferred<Taken: Sendable>: Sendable {
    let result: Result<HTTPSession.Response<Taken>, any Error>
    /// Of a failure.
    private let trail: Trail?
    private let queued: Int64

    init(failure error: any Error) {
        (result, trail, queued) = (.failure(error), nil, 0)
    }

    init(_ result: Result<HTTPSession.Response<Taken>, any Error>, _ live: LiveCall) {
        (trail, queued) = (live.trail, live.queued)
        self.result = queued > 0 ? result.after(waiting: queued, isFirst: trail?.attempts.isEmpty ?? true) : result
    }

    var response: HTTPSession.Response<Taken>? {
        if case .success(let response) = result { response } else { nil }
    }

    var error: (any Error)? {
        if case .failure(let error) = result { error } else { nil }
    }

    var metrics: Metrics {
        switch result {
        case .success(let response): return response.metrics
        case .failure(let error):
            let last = (error as? NetworkError)?.attempt
            guard let earlier = trail?.attempts, !earlier.isEmpty else {
                return Metrics(attempts: [last].compactMap(\.self))
            }
            return Metrics(attempts: earlier + [last].compactMap(\.self)).after(waiting: queued)
        }
    }
}

extension Result {
    /// The same for a request that waited in a queue before it was sent.
    fileprivate func after<Value>(waiting time: Int64, isFirst: Bool) -> Self
    where Success == HTTPSession.Response<Value>, Failure == any Error {
        map { $0.after(waiting: time) }.mapError { error in
            guard isFirst, var failure = error as? NetworkError else { return error }
            failure.attempt = failure.attempt?.after(waiting: time)
            return failure
        }
    }
}

extension TaskMachine.State {
    fileprivate static func ending<Value>(_ result: Result<Value, any Error>) -> Self {
        switch result {
        case .success: .finished
        case .failure(let error): error is CancellationError ? .cancelled : .failed
        }
    }
}
