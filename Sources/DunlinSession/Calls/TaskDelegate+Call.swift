internal import DunlinReactor
internal import DunlinTransport

/// The life of a call, from its place in the registry to its end: the same whether it is observed or not, whole or
/// streamed, up or down.
///
/// It is added to the registry, admitted, transferred, reported, and removed. All of that happens on its loop; the
/// caller's value is made where the caller is. What others than the caller want is asked of its observers; most calls
/// have none.
extension TaskDelegate {
    package typealias Response = HTTPSession.Response

    /// Runs the call that the delegate was made for, for the caller who awaits it.
    package nonisolated func run<S: Sink>(_ call: HTTPSession.Call, into sink: S) async throws -> Response<S.Value> {
        try await enclosed(call, sink) {
            let transfer = try await transferred(call, to: sink)
            let result = await Self.valued(transfer.result, sink)
            if let observers {
                await leave(transfer, .ending(result), completion(of: call, transfer, result, sink), observers)
            }
            return Lived(result: result)
        }.result.get()
    }

    /// Runs the call for whoever waits for `settlement`. It begins on the loop and is in the registry before anything
    /// else runs there. The value is made off the loop.
    nonisolated func run<S: Sink>(
        _ call: HTTPSession.Call, into sink: S, settling settlement: Settlement<Result<Response<S.Value>, any Error>>
    ) async where S.Value: Sendable {
        await Enclosure.enter(.request(id)) {
            let transfer = await transferredOrRefused(call, to: sink)
            let result = await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in
                leaveLoop()
                return await Self.valued(transfer.result, sink)
            }
            guard let observers else { return _ = settlement.settle(result) }
            let completion = completion(of: call, transfer, result, sink)
            await leave(transfer, .ending(result), completion, observers) { settlement.settle(result) }
        }
    }

    /// A handle of this call exists already, so a call that may not enter ends like any other.
    private nonisolated func transferredOrRefused<S: Sink>(
        _ call: HTTPSession.Call, to sink: S
    ) async -> Transferred<S.Taken> {
        do {
            return try await transferred(call, to: sink, at: try await book.enter(self, of: call.era.number))
        } catch {
            if let observers {
                var admission = admission(call, observers)
                await admission.forgo()
                observers.end()
            }
            return Transferred(failure: error.named(call.source, nil, call.reading.errors))
        }
    }

    private nonisolated func admission(_ call: HTTPSession.Call, _ observers: RequestObservers) -> Admission {
        Admission(call.session, self, observers, call.head.origin, call.timeouts)
    }

    /// A result that is not `Sendable`: no other task may see it.
    private struct Lived<Value> {
        let result: Result<Response<Value>, any Error>
    }

    /// Runs `life` in an enclosure if the user's code may run within the call, and may wait there for others to end.
    private nonisolated func enclosed<S: Sink>(
        _ call: HTTPSession.Call, _ sink: S, _ life: () async throws -> Lived<S.Value>
    ) async rethrows -> Lived<S.Value> {
        let chain = call.era.chain
        let isEnclosure =
            observers != nil || sink.isScope || chain.asks(settings) || chain.needsScope(call.body, settings)
        return isEnclosure ? try await Enclosure.enter(.request(id)) { try await life() } : try await life()
    }

    private static func valued<S: Sink>(
        _ taken: Result<Response<S.Taken>, any Error>, _ sink: S
    ) async -> Result<Response<S.Value>, any Error> {
        do {
            return .success(try await sink.value(of: try taken.get()))
        } catch {
            return .failure(error)
        }
    }
}

// MARK: - On the loop

extension TaskDelegate {
    /// Goes to the loop and comes back. A caller that is on the loop already, and on no actor, stays there.
    private nonisolated func transferred<S: Sink>(
        _ call: HTTPSession.Call, to sink: S, at place: Int? = nil
    ) async throws -> Transferred<S.Taken> {
        try await withTaskCancellationHandler {
            let actor: (any Actor)? = #isolation
            if actor == nil, loop.isCurrent { return try await carry(call, to: sink, at: place) }
            return try await withTaskExecutorPreference(loop) { @concurrent in
                let transfer = try await carry(call, to: sink, at: place)
                await loop.leave()
                return transfer
            }
        } onCancel: {
            cancel(.task)
        }
    }

    /// Transfers the call on its loop. An observed call stays on the list until its value is made. A call that has a
    /// place already (`entered`) was made through a handle and is resumed later, which is reported then.
    private func carry<S: Sink>(
        _ call: HTTPSession.Call, to sink: S, at entered: Int?
    ) async throws -> Transferred<S.Taken> {
        let place: Int
        do {
            if let entered { place = entered } else { place = try await book.add(self, of: call.era.number) }
        } catch {
            throw error.named(call.source, nil, call.reading.errors)
        }
        guard let observers else {
            let transfer = await transfer(call, to: sink, queued: nil)
            end(.ending(transfer.result))
            await book.remove(at: place, isRequest: kind != .preconnect)
            return transfer
        }
        if entered == nil { observers.events.tell(.resumed(snapshot)) }
        var transfer = await watchedTransfer(call, to: sink, observers)
        transfer.place = place
        return transfer
    }

    /// Transfers the call, and tells its observers the progress and the end.
    private func watchedTransfer<S: Sink>(
        _ call: HTTPSession.Call, to sink: S, _ observers: RequestObservers
    ) async -> Transferred<S.Taken> {
        guard observers.wantsNews else { return await toldTransfer(call, to: sink, observers) }
        async let telling: Void = observers.tellNews(of: self)
        let transfer = await toldTransfer(call, to: sink, observers)
        await telling
        return transfer
    }

    private func toldTransfer<S: Sink>(
        _ call: HTTPSession.Call, to sink: S, _ observers: RequestObservers
    ) async -> Transferred<S.Taken> {
        let transfer = await admittedTransfer(call, to: sink, observers)
        observers.end()
        let (snapshot, error) = (snapshot, transfer.error)
        await observers.tell(\.didEndTransfer) { await $0(snapshot, error) }
        return transfer
    }

    /// Waits until the call is resumed and its turn comes. It gives the turn back when the transfer is over.
    private func admittedTransfer<S: Sink>(
        _ call: HTTPSession.Call, to sink: S, _ observers: RequestObservers
    ) async -> Transferred<S.Taken> {
        do {
            var admission = admission(call, observers)
            let permit = try await admission.pass()
            defer { permit.leave() }
            return await transfer(call, to: sink, queued: permit.queued)
        } catch {
            return Transferred(failure: error.named(call.source, nil, call.reading.errors))
        }
    }

    /// Transfers the call, in an `UploadScope` if its body may be sent for longer than the response's head takes to
    /// come.
    private func transfer<S: Sink>(
        _ call: HTTPSession.Call, to sink: S, queued: Int64?
    ) async -> Transferred<S.Taken> {
        guard call.era.chain.needsScope(call.body, settings) else {
            return await transfer(call, to: sink, nil, queued: queued)
        }
        let uploads = UploadScope()
        async let _: Void = uploads.run()
        return await transfer(call, to: sink, uploads, queued: queued)
    }

    private func transfer<S: Sink>(
        _ call: HTTPSession.Call, to sink: S, _ uploads: UploadScope?, queued: Int64?
    ) async -> Transferred<S.Taken> {
        var live: LiveCall
        do {
            live = try begun(call, uploads, queued: queued)
        } catch {
            return Transferred(failure: error.named(call.source, nil, call.reading.errors))
        }
        do {
            let response = try await sink.take(&live)
            return Transferred(.success(response), live)
        } catch {
            let sent = RequestRecord.Source(live.sent ?? live.request)
            return Transferred(.failure(error.named(sent, live.callHistory, call.reading.errors)), live)
        }
    }

    private func begun(_ call: HTTPSession.Call, _ uploads: UploadScope?, queued: Int64?) throws -> LiveCall {
        let start = queued == nil ? created : loop.now()
        var body = call.body
        if queued != nil, let control = observers?.control, call.era.chain.callTransport.sockets == nil {
            body = body.counted(by: control)
        }
        return LiveCall(
            asked: call, delegate: self, uploads: uploads, request: try call.request(body, since: start), start: start,
            callHistory: settings?.callHistory, queued: queued ?? 0)
    }

    private nonisolated var snapshot: HTTPSession.TaskSnapshot { snapshot(at: loop.now()) }
}

// MARK: - The end

extension TaskDelegate {
    /// Ends an observed call: its hooks are told, then it is settled, then events tell of it; last, its place is
    /// removed.
    private func leave<Taken: Sendable>(
        _ transfer: Transferred<Taken>, _ end: TaskMachine.State, _ completion: consuming HTTPSession.Completion,
        _ observers: RequestObservers, _ settle: @Sendable () -> Void = {}
    ) async {
        self.end(end)
        var completion = completion
        completion.task = snapshot
        await observers.tell(completion)
        if let place = transfer.place { await book.unlist(at: place) }
        settle()
        observers.events.tell(.completed(completion))
        if let place = transfer.place { await book.remove(at: place) }
    }

    private nonisolated func completion<S: Sink>(
        of call: HTTPSession.Call, _ transfer: Transferred<S.Taken>, _ result: Result<Response<S.Value>, any Error>,
        _ sink: S
    ) -> HTTPSession.Completion {
        let response = transfer.response
        var completion = HTTPSession.Completion(
            task: snapshot, url: call.head.origin.description + call.head.target,
            response: response?.head ?? sink.handed?.head, body: response.flatMap { sink.body(of: $0) },
            file: response?.file, serializer: sink.serializer,
            metrics: sink.handed?.metrics ?? transfer.metrics(cancelled: observers?.control.cancelledHop))
        switch result {
        case .success(let response): completion.value = sink.shared(response)
        case .failure(let error): completion.error = error
        }
        return completion
    }
}

/// The outcome of a transfer.
private struct Transferred<Taken: Sendable>: Sendable {
    let result: Result<HTTPSession.Response<Taken>, any Error>
    /// The history of a transfer that failed.
    private let callHistory: CallHistory?
    private let queued: Int64
    /// The place in the book of its loop, if the call is still on the list.
    var place: Int?

    init(failure error: any Error) {
        (result, callHistory, queued) = (.failure(error), nil, 0)
    }

    init(_ result: Result<HTTPSession.Response<Taken>, any Error>, _ live: LiveCall) {
        (callHistory, queued) = (live.callHistory, live.queued)
        self.result = queued > 0 ? result.after(waiting: queued, isFirst: callHistory?.hops.isEmpty ?? true) : result
    }

    var response: HTTPSession.Response<Taken>? {
        if case .success(let response) = result { response } else { nil }
    }

    var error: (any Error)? {
        if case .failure(let error) = result { error } else { nil }
    }

    /// `hop` is what was under way when the call's task was cancelled.
    func metrics(cancelled hop: HTTP.Hop?) -> HTTPSession.Metrics {
        switch result {
        case .success(let response): return response.metrics
        case .failure(let error):
            let last = error is CancellationError ? hop : (error as? NetworkError)?.hop
            guard let earlier = callHistory?.hops, !earlier.isEmpty else {
                return HTTPSession.Metrics(hops: [last].compactMap(\.self))
            }
            return HTTPSession.Metrics(hops: earlier + [last].compactMap(\.self)).after(waiting: queued)
        }
    }
}

extension Result {
    /// The same result, with the time the call waited in a queue added to its first hop.
    fileprivate func after<Value>(waiting time: Int64, isFirst: Bool) -> Self
    where Success == HTTPSession.Response<Value>, Failure == any Error {
        map { $0.after(waiting: time) }.mapError { error in
            guard isFirst, var failure = error as? NetworkError else { return error }
            failure.hop = failure.hop?.after(waiting: time)
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
