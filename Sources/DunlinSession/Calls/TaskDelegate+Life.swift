internal import DunlinReactor
internal import DunlinTransport

/// The life of a call from beginning to end, the same for all kinds: observed or not, whole or streamed, upload or
/// download.
///
/// It enters the list of its loop, is admitted, has its response delivered to the sink, and leaves. The sink asks the
/// sending for the response, which brings it attempt by attempt and hop by hop. All of this happens on the call's
/// loop; the caller's value is made where the caller is. Everything for others than the caller goes through the call's
/// observers; most calls have none.
extension TaskDelegate {
    package typealias Response = HTTPSession.Response

    /// Runs the call for the caller who awaits it.
    package nonisolated func run<S: Sink>(_ call: HTTPSession.Call, into sink: S) async throws -> Response<S.Value> {
        guard isEnclosure(call, sink) else { return try await live(call, sink).get() }
        return try await Enclosure.enter(request: id, of: call.session) {
            LocalResult(result: try await live(call, sink))
        }.result.get()
    }

    /// The life of a call that its caller awaits.
    @inline(__always)
    private nonisolated func live<S: Sink>(
        _ call: HTTPSession.Call, _ sink: S
    ) async throws -> Result<Response<S.Value>, any Error> {
        let delivery: Delivery<S.Taken>
        do {
            delivery = try await sink.delivery(of: call, by: self, at: nil, isAwaited: true)
        } catch {
            refuse(call, error)
            throw error
        }
        let result = await Self.value(of: delivery.result, sink)
        if let observers {
            await leave(delivery, .ending(result), completion(of: call, delivery, result, sink), observers)
        }
        return result
    }

    /// Runs the call for the waiters of `settlement`: where it was made, if it `isAwaited`. It begins on the loop and
    /// is in the list before anything else runs there. The value is made off the loop.
    nonisolated func run<S: Sink>(
        _ call: HTTPSession.Call, into sink: S, settling settlement: Settlement<Result<Response<S.Value>, any Error>>,
        isAwaited: Bool
    ) async where S.Value: Sendable {
        await Enclosure.enter(request: id, of: call.session) {
            let delivery: Delivery<S.Taken>
            do {
                let slot = try await list.enter(self, of: call.era.number)
                delivery = try await sink.delivery(of: call, by: self, at: slot, isAwaited: isAwaited)
            } catch {
                delivery = await refused(call, error)
            }
            let result = await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in
                leaveLoop()
                return await Self.value(of: delivery.result, sink)
            }
            guard let observers else { return _ = settlement.settle(result) }
            let completion = completion(of: call, delivery, result, sink)
            await leave(delivery, .ending(result), completion, observers) { settlement.settle(result) }
        }
    }

    /// Runs on the loop and returns. A caller that is on the loop already, and on no actor, stays there.
    nonisolated func onLoop<S: Sink>(
        _ call: HTTPSession.Call, _ sink: S, at slot: Int?, isAwaited: Bool
    ) async throws -> Delivery<S.Taken> {
        try await withTaskCancellationHandler {
            let actor: (any Actor)? = #isolation
            if actor == nil, loop.isCurrent { return try await enter(call, sink, at: slot, isAwaited) }
            return try await withTaskExecutorPreference(loop) { @concurrent in
                let delivery = try await enter(call, sink, at: slot, isAwaited)
                await loop.leave()
                return delivery
            }
        } onCancel: {
            cancel(.task)
        }
    }

    /// Adds the call to its loop's list. An observed call stays there until its value is made. A call that has a place
    /// already (`entered`) came through a handle and is resumed later, which is then reported.
    private func enter<S: Sink>(
        _ call: HTTPSession.Call, _ sink: S, at entered: Int?, _ isAwaited: Bool
    ) async throws -> Delivery<S.Taken> {
        let slot: Int
        do {
            if let entered { slot = entered } else { slot = try await list.add(self, of: call.era.number) }
        } catch {
            throw call.named(error)
        }
        guard let observers else {
            let delivery = await deliverUnobserved(call, to: sink)
            end(.ending(delivery.result))
            await list.remove(at: slot, isRequest: kind != .preconnect)
            return delivery
        }
        if entered == nil { observers.events.tell(.resumed(snapshot)) }
        var delivery = await admit(call, to: sink.apart, observers, isAwaited: isAwaited)
        delivery.slot = slot
        return delivery
    }

    @inline(__always)
    private func deliverUnobserved<S: Sink>(_ call: HTTPSession.Call, to sink: S) async -> Delivery<S.Taken> {
        guard let reconnection = sink.reconnection else { return await deliver(call, to: sink, queued: nil) }
        do {
            try await wait(before: reconnection, call)
            return await deliver(call, to: sink, queued: 0)
        } catch {
            return Delivery(failure: call.named(error))
        }
    }

    /// Waits until the call is resumed and its turn comes, and delivers it. The turn is given back at the end. A call
    /// that continues an earlier one waits for its time before that, and so keeps no turn from others.
    /// Meanwhile the observers are told the progress, and finally the end.
    private func admit<S: Sink>(
        _ call: HTTPSession.Call, to sink: S, _ observers: RequestObservers, isAwaited: Bool
    ) async -> Delivery<S.Taken> {
        await news(for: observers) {
            let delivery: Delivery<S.Taken>
            do {
                if let reconnection = sink.reconnection { try await wait(before: reconnection, call) }
                var admission = admission(call, observers, isAwaited: isAwaited)
                let permit = try await admission.pass()
                defer { permit.leave() }
                call.options.begun?()
                delivery = await deliver(call, to: sink, queued: permit.queued)
            } catch {
                delivery = Delivery(failure: call.named(error))
            }
            observers.end()
            let (snapshot, error) = (snapshot, delivery.error)
            await observers.tell(\.transferEnded) { await $0(snapshot, error) }
            return delivery
        }
    }

    /// Runs `work` while the observers' hooks are told what happens.
    private func news<Value>(for observers: RequestObservers, during work: () async -> Value) async -> Value {
        guard observers.wantsNews else { return await work() }
        return await NewsReport(observers, of: self).during(work)
    }

    /// Has the sink take the response.
    // Inlined, because each call of an isolated function costs two switches.
    @inline(__always)
    private func deliver<S: Sink>(
        _ call: HTTPSession.Call, to sink: S, queued: Int64?
    ) async -> Delivery<S.Taken> {
        if call.era.chain.needsScope(call.body, settings) {
            return await deliverWithUploads(call, to: sink.apart, queued: queued)
        }
        return await deliver(call, to: sink, nil, queued: queued)
    }

    /// The same in an `UploadScope`, because the body may still be sent when the response's head comes.
    private func deliverWithUploads<S: Sink>(
        _ call: HTTPSession.Call, to sink: S, queued: Int64?
    ) async -> Delivery<S.Taken> {
        let uploads = UploadScope()
        async let _: Void = uploads.run()
        return await deliver(call, to: sink, uploads, queued: queued)
    }

    @inline(__always)
    private func deliver<S: Sink>(
        _ call: HTTPSession.Call, to sink: S, _ uploads: UploadScope?, queued: Int64?
    ) async -> Delivery<S.Taken> {
        var sending: Sending
        do {
            sending = try Sending(call, self, uploads, queued: queued)
        } catch {
            return Delivery(failure: call.named(error))
        }
        let result: Result<Response<S.Taken>, any Error>
        do {
            result = .success(try await sink.take(from: &sending))
        } catch {
            result = .failure(sending.named(error))
        }
        return Delivery(result, after: sending.callHistory, queued: sending.queued)
    }

    /// Ends an observed call: tells its hooks, settles it, reports it to events, and finally removes its place.
    private func leave<Taken: Sendable>(
        _ delivery: Delivery<Taken>, _ end: TaskMachine.State, _ completion: consuming HTTPSession.Completion,
        _ observers: RequestObservers, _ settle: @Sendable () -> Void = {}
    ) async {
        self.end(end)
        var completion = completion
        completion.task = snapshot
        observation?.end(completion)
        await observers.tell(completion)
        if let slot = delivery.slot { await list.unlist(at: slot) }
        settle()
        observers.events.tell(.completed(completion))
        if let slot = delivery.slot { await list.remove(at: slot) }
    }
}

// MARK: - Around it

extension TaskDelegate {
    /// A result that is not `Sendable`; no other task may see it.
    private struct LocalResult<Value> {
        let result: Result<Response<Value>, any Error>
    }

    /// Whether user code may run within the call, and may wait there for others to end.
    private nonisolated func isEnclosure(_ call: HTTPSession.Call, _ sink: some Sink) -> Bool {
        let chain = call.era.chain
        return observers != nil || sink.isScope || chain.asks(settings) || chain.needsScope(call.body, settings)
    }

    /// Ends a call that may not enter like any other, since its handle exists already.
    private nonisolated func refused<Taken: Sendable>(
        _ call: HTTPSession.Call, _ error: any Error
    ) async -> Delivery<Taken> {
        if let observers {
            var admission = admission(call, observers, isAwaited: false)
            await admission.giveUp()
            observers.end()
        }
        return Delivery(failure: call.named(error))
    }

    /// Tells the session's observers the end of a call that does not begin.
    nonisolated func refuse(_ call: HTTPSession.Call, _ error: any Error) {
        guard let observation else { return }
        var completion = HTTPSession.Completion(
            task: snapshot, url: call.url, response: nil, metrics: HTTPSession.Metrics(hops: []))
        (completion.task.state, completion.error) = (.over, error)
        observation.end(completion)
    }

    private nonisolated func admission(
        _ call: HTTPSession.Call, _ observers: RequestObservers, isAwaited: Bool
    ) -> Admission {
        Admission(call.session, self, observers, call.head, call.timeouts, isAwaited: isAwaited)
    }

    private static func value<S: Sink>(
        of taken: Result<Response<S.Taken>, any Error>, _ sink: S
    ) async -> Result<Response<S.Value>, any Error> {
        do {
            switch taken {
            case .success(let response): return .success(try await sink.value(of: response))
            case .failure(let error): return .failure(sink.failure(error))
            }
        } catch {
            return .failure(error)
        }
    }

    private nonisolated func completion<S: Sink>(
        of call: HTTPSession.Call, _ delivery: Delivery<S.Taken>, _ result: Result<Response<S.Value>, any Error>,
        _ sink: S
    ) -> HTTPSession.Completion {
        let response = delivery.response
        var completion = HTTPSession.Completion(
            task: snapshot, url: call.url,
            response: response?.head ?? sink.handed?.head, body: response.flatMap { sink.body(of: $0) },
            file: response?.file, serializer: sink.serializer,
            metrics: sink.handed?.metrics ?? delivery.metrics(untold: observers?.control.untoldHop))
        switch result {
        case .success(let response): completion.value = sink.shared(response)
        case .failure(let error): completion.error = error
        }
        return completion
    }
}
