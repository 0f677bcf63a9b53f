internal import DunlinReactor
internal import DunlinTransport

/// The transfer of one watched request: waits until it may begin, sends, has hooks decide and told, and brings back
/// what its intake makes of the response's body.
struct WatchedTransfer<Taking: Intake>: Sendable {
    private let session: HTTPSession
    private let call: HTTPSession.Call
    private let delegate: TaskDelegate
    private let carrier: Carrier
    private let audience: Audience
    private let intake: Taking

    typealias Ended = EndedTransfer<Taking.Taken>

    init(
        _ session: HTTPSession, _ call: HTTPSession.Call, _ delegate: TaskDelegate, _ audience: Audience,
        _ carrier: Carrier, _ intake: Taking
    ) {
        self.intake = intake
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
        var exchange = WatchedExchange(
            session: session, call: call, delegate: delegate, audience: audience, hops: HopLoop(carrier: carrier),
            loop: loop, request: request, start: start, trail: delegate.settings?.trail)
        do {
            let response =
                if carrier.needsScope(request.body, delegate.settings) {
                    try await takeInScope(&exchange)
                } else {
                    try await intake.take(&exchange)
                }
            return Ended(result: .success(response), metrics: response.metrics)
        } catch {
            return Ended(failure: error, after: exchange.trail)
        }
    }

    private func takeInScope(_ exchange: inout WatchedExchange) async throws -> HTTPSession.Response<Taking.Taken> {
        let uploads = UploadScope()
        async let _: Void = uploads.run()
        exchange.hops.uploads = uploads
        return try await intake.take(&exchange)
    }
}

extension WatchedTransfer {
    func completion(_ ended: Ended, _ serializer: (any ResponseSerializer)?) -> HTTPSession.Completion {
        let response = ended.response
        return HTTPSession.Completion(
            task: snapshot, url: call.head.origin.description + call.head.target, response: response?.head,
            body: response.flatMap { intake.body(of: $0) }, file: response?.file, serializer: serializer,
            metrics: ended.metrics)
    }
}

/// How a transfer went.
struct EndedTransfer<Taken: Sendable>: Sendable {
    let result: Result<HTTPSession.Response<Taken>, any Error>
    let metrics: Metrics
}

extension EndedTransfer {
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

    fileprivate var response: HTTPSession.Response<Taken>? {
        if case .success(let response) = result { response } else { nil }
    }

    fileprivate var error: (any Error)? {
        if case .failure(let error) = result { error } else { nil }
    }
}
