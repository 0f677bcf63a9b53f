internal import DunlinReactor
internal import DunlinTransport

/// The transfer of one watched request: waits until it may begin, sends, has hooks decide and told, and brings the
/// response's whole body back.
struct WatchedTransfer: Sendable {
    private let session: HTTPSession
    private let call: HTTPSession.Call
    private let delegate: TaskDelegate
    private let carrier: Carrier
    private let audience: Audience

    /// How it went.
    struct Ended: Sendable {
        let result: Result<HTTPSession.Response<Bytes>, any Error>
        let metrics: Metrics
    }

    init(
        _ session: HTTPSession, _ call: HTTPSession.Call, _ delegate: TaskDelegate, _ audience: Audience,
        _ carrier: Carrier
    ) {
        self.session = session
        self.call = call
        self.delegate = delegate
        self.carrier = carrier
        self.audience = audience
    }

    private var watch: TransferWatch { audience.watch }
    private var snapshot: TaskSnapshot { delegate.snapshot(at: watch.now()) }

    func run() async -> Ended {
        guard audience.wantsProgress else { return await toldTransfer() }
        async let telling: Void = audience.tellProgress(of: delegate)
        let ended = await toldTransfer()
        await telling
        return ended
    }

    private func toldTransfer() async -> Ended {
        let ended = await transferred()
        watch.end()
        let snapshot = snapshot
        await audience.tell(\.transferEnded) { await $0(snapshot, ended.error) }
        return ended
    }

    private func transferred() async -> Ended {
        await withTaskCancellationHandler {
            do {
                let timeouts = call.options.timeouts ?? session.configuration.timeouts
                var entrance = Entrance(session, delegate, audience, call.head.origin, timeouts)
                let passage = try await entrance.pass()
                defer { passage.leave() }
                return try await transferred(after: passage)
            } catch {
                return Ended(failure: error)
            }
        } onCancel: {
            delegate.cancel(.task)
        }
    }

    private func transferred(after passage: Passage) async throws -> Ended {
        let loop = session.loop
        let start = loop.now()
        watch.standing.queued(passage.queued, until: start)
        let body = carrier.sockets == nil ? call.body.counted(by: watch) : call.body
        var options = call.options
        options.priority = delegate.priority
        let request = try session.request(call.head, body, options, since: start)
        let ended = await withTaskExecutorPreference(loop) { @concurrent in
            await transfer(request, since: start, on: loop)
        }
        return passage.queued > 0 ? ended.after(waiting: passage.queued) : ended
    }

    private func transfer(_ request: TransportRequest, since start: MonotonicTime, on loop: Reactor) async -> Ended {
        var trail = delegate.settings?.trail
        do {
            let response =
                if carrier.needsScope(request.body, delegate.settings) {
                    try await sendInScope(request, since: start, on: loop, &trail)
                } else {
                    try await send(request, HopLoop(carrier: carrier), since: start, on: loop, &trail)
                }
            return Ended(result: .success(response), metrics: response.metrics)
        } catch {
            return Ended(failure: error, after: trail)
        }
    }

    private func sendInScope(
        _ request: TransportRequest, since start: MonotonicTime, on loop: Reactor, _ trail: inout Trail?
    ) async throws -> HTTPSession.Response<Bytes> {
        let uploads = UploadScope()
        async let _: Void = uploads.run()
        let hops = HopLoop(carrier: carrier, uploads: uploads)
        return try await send(request, hops, since: start, on: loop, &trail)
    }

    private func send(
        _ request: TransportRequest, _ hops: HopLoop, since start: MonotonicTime, on loop: Reactor,
        _ trail: inout Trail?
    ) async throws -> HTTPSession.Response<Bytes> {
        var request = request
        var response = try await hops.run(&request, delegate, since: start, on: loop, &trail)
        if carrier.sockets == nil { call.body.noteSent(by: watch) }
        response = try await audience.admit(response, to: request, delegate, carrier, on: loop)
        var isCoded = false
        if call.reading.decodes, let plain = try session.decoding.apply(to: response, telling: watch) {
            response = plain
            isCoded = true
        }
        response = try await audience.told(response, to: request, delegate, carrier, on: loop)
        let whole = try await session.collected(
            response, isCoded: isCoded, request, delegate, call.reading, carrier, after: trail, on: loop)
        let last = whole.metrics.attempts.last
        watch.received(upTo: last?.bodyBytes ?? whole.body.count)
        watch.decoded(upTo: whole.body.count)
        try await delegate.pass(watch, until: request.deadline)
        return whole
    }
}

extension WatchedTransfer {
    func completion(_ ended: Ended, _ serializer: any ResponseSerializer) -> HTTPSession.Completion {
        let response = ended.response
        return HTTPSession.Completion(
            task: snapshot, url: call.head.origin.description + call.head.target, response: response?.head,
            body: response?.body, serializer: serializer, metrics: ended.metrics)
    }
}

extension WatchedTransfer.Ended {
    fileprivate init(failure error: any Error, after trail: Trail? = nil) {
        let last = (error as? NetworkError)?.attempt
        let attempts = (trail?.attempts ?? []) + [last].compactMap(\.self)
        self.init(result: .failure(error), metrics: Metrics(attempts: attempts))
    }

    /// The same for a request that waited in a queue before it was sent.
    fileprivate func after(waiting time: Int64) -> Self {
        let isFirst = metrics.attempts.count == 1
        let result = result.map { $0.after(waiting: time) }.mapError { error -> any Error in
            guard isFirst, var error = error as? NetworkError else { return error }
            error.attempt = error.attempt?.after(waiting: time)
            return error
        }
        return Self(result: result, metrics: metrics.after(waiting: time))
    }

    fileprivate var response: HTTPSession.Response<Bytes>? {
        if case .success(let response) = result { response } else { nil }
    }

    fileprivate var error: (any Error)? {
        if case .failure(let error) = result { error } else { nil }
    }
}
