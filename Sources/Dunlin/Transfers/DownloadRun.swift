internal import DunlinReactor
internal import DunlinSecure
internal import DunlinSemantics
internal import DunlinTransport

/// One download, from its first request to its file, over as many exchanges as that takes: asks `ResumeMachine` what to
/// send and what an answer means, and does it.
struct DownloadRun {
    let download: Download
    /// What is asked for, before anything was asked for by range.
    let original: TransportRequest
    /// Whether ranges may be asked for at all.
    let isResumable: Bool
    var machine = ResumeMachine()
    var part: DownloadPart?
    var placement: Placement?
    /// What an earlier download left, as long as nothing was changed about it.
    var found: ResumeData?
    /// What the part file holds is not what the machine speaks of.
    var isStale = false
    /// Attempts of exchanges that others followed.
    var earlier: [Attempt] = []
    var resumedAt = 0
    /// What the server says that the whole file's digest is.
    var declared: ContentDigest?
    /// Several exchanges were of no use.
    var isAlone = false
    /// What is being written has nothing to do with the file that one could go on with.
    private(set) var isForeign = false

    typealias Response = HTTPSession.Response<HTTPSession.DownloadedFile>

    var options: HTTPSession.DownloadOptions { download.options }

    init(_ download: Download, _ request: TransportRequest) {
        self.download = download
        original = request
        let mayResume = ResumeMachine.mayResume(
            request.head.method, request.head.fields, hasBody: !request.body.isNone)
        isResumable = mayResume && (download.options.resuming != .never || download.data != nil)
    }

    /// `arrival` is a response that came already.
    mutating func run(
        _ exchange: inout WatchedExchange, _ arrival: WatchedExchange.Arrival?
    ) async throws -> Response {
        do {
            var arrival = arrival
            if arrival == nil { try await findPart(exchange) }
            while true {
                if let response = try await step(&exchange, arrival) { return response }
                arrival = nil
            }
        } catch {
            throw await end(error, &exchange)
        }
    }

    /// One exchange; nil if another must follow.
    private mutating func step(
        _ exchange: inout WatchedExchange, _ given: WatchedExchange.Arrival?
    ) async throws -> Response? {
        let arrival: WatchedExchange.Arrival
        do {
            if let given { arrival = given } else { arrival = try await ask(&exchange) }
        } catch {
            try await goOn(after: error, &exchange)
            return nil
        }
        let head = arrival.response.head
        switch verdict(on: head, exchange) {
        case .startOver:
            try await startOver(arrival, exchange)
            return try await fill(arrival, &exchange)
        case .append(let range):
            try await place(head, exchange)
            declared = digest(declaredBy: arrival) ?? declared
            found = nil
            exchange.tellResumed(at: range.lowerBound, of: machine.completeLength)
            return try await fill(arrival, &exchange)
        case .complete:
            try await place(head, exchange)
            found = nil
            return try await finish(arrival.response, exchange)
        case .askAgain:
            leave(arrival.response, &exchange)
            return nil
        case .deliver: return try await deliver(arrival, &exchange)
        case .refuse(let refusal):
            throw NetworkError(
                .invalidResponse, "\(refusal)", phase: .idle, requestMayHaveBeenSent: true, response: head)
        }
    }

    /// A response that says nothing about the file: the server may be busy just now, or it is judged as any response.
    private mutating func deliver(
        _ arrival: WatchedExchange.Arrival, _ exchange: inout WatchedExchange
    ) async throws -> Response? {
        let head = arrival.response.head
        if isResumable, case .goOn(let delay) = machine.interrupted(by: .status(head.status)) {
            leave(arrival.response, &exchange)
            try await pause(delay, exchange)
            return nil
        }
        if let refusal = download.refusal(of: head, exchange.call) {
            throw await BodyBeginning.add(to: refusal, arrival.response.body, upTo: exchange.call.reading.kept)
        }
        isForeign = true
        try await startOver(arrival, exchange)
        return try await fill(arrival, &exchange)
    }

    /// Of a body as it travels; with its coding taken off it is not what the server spoke of. A part's own digest says
    /// nothing of the whole.
    func digest(declaredBy arrival: WatchedExchange.Arrival) -> ContentDigest? {
        guard options.checksDigestFields, !arrival.isCoded else { return nil }
        let head = arrival.response.head
        let whole = head.status == .ok ? DigestFields.content(head.fields).strongest : nil
        return DigestFields.representation(head.fields).strongest ?? whole
    }

    private mutating func verdict(on head: ResponseHead, _ exchange: WatchedExchange) -> ResumeMachine.Verdict {
        if isResumable { return machine.answered(head) }
        return download.refusal(of: head, exchange.call) == nil ? .startOver : .deliver
    }
}

// MARK: - Exchanges

extension DownloadRun {
    private func ask(_ exchange: inout WatchedExchange) async throws -> WatchedExchange.Arrival {
        exchange.request = isResumable ? original.with(machine.fields) : original
        exchange.part = nil
        if maySplit || machine.limit != nil {
            exchange.part = TaskDelegate(partOf: exchange.delegate, .init(partOf: exchange.watch), isFirst: true)
        }
        // The first begins where its wait in a queue ended, unless a part file was read meanwhile.
        if part != nil || !earlier.isEmpty { exchange.start = exchange.loop.now() }
        // What has begun is gone on with by the machine's own rules.
        let mayRetry = !machine.hasBegun
        if machine.ask == .whole { return try await exchange.send(mayRetry: mayRetry) }
        return try await exchange.send(
            appendingTo: part?.content.byteCount ?? machine.offset, of: machine.completeLength, mayRetry: mayRetry)
    }

    /// The rest of an answer is of no use.
    mutating func leave(_ response: TransportResponse, _ exchange: inout WatchedExchange) {
        var attempt = response.attempt
        if case .stream(let stream) = response.body { attempt = stream.attempt }
        leave(attempt, &exchange)
    }

    private mutating func leave(_ attempt: Attempt?, _ exchange: inout WatchedExchange) {
        earlier += (exchange.trail?.attempts ?? []) + [attempt].compactMap(\.self)
        // Another exchange may be redirected in the same way.
        exchange.trail = exchange.delegate.settings?.trail
    }

    /// Throws the error again unless one goes on after it.
    mutating func goOn(after error: any Error, _ exchange: inout WatchedExchange) async throws {
        guard isResumable, !isForeign, exchange.delegate.interrupt.cause == nil, let failure = error as? NetworkError,
            case .goOn(let delay) = machine.interrupted(by: .error(failure)),
            exchange.loop.now().advanced(by: delay.clampedNanoseconds) < exchange.request.deadline
        else { throw error }
        leave(failure.attempt, &exchange)
        try await pause(delay, exchange)
    }

    private func pause(_ delay: Duration, _ exchange: WatchedExchange) async throws {
        let time = exchange.loop.now().advanced(by: delay.clampedNanoseconds)
        _ = await Parking<Void>(on: exchange.loop).wait(until: time, interrupt: exchange.delegate.interrupt)
        try await exchange.pass()
    }
}

extension WatchedExchange {
    fileprivate func tellResumed(at offset: Int, of length: Int?) {
        let snapshot = delegate.snapshot(at: watch.now())
        session.hub.tell(.downloadResumed(snapshot, at: offset, of: length))
    }
}

extension TransportRequest {
    /// The same with these fields in the place of its own of the same names.
    func with(_ fields: Fields) -> TransportRequest {
        var head = head
        for field in fields { head.fields[field.name] = field.value }
        return TransportRequest(
            head: head, body: body, timeouts: timeouts, deadline: deadline, priority: priority,
            continueTimeout: continueTimeout)
    }
}
