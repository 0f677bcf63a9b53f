internal import DunlinReactor
internal import DunlinSecure
internal import DunlinSemantics
internal import DunlinTransport

/// One download, from its first request to its file, over as many exchanges as that takes. `ResumeMachine` decides what
/// to send and what an answer means; this does it.
struct DownloadRun {
    let download: Download
    /// The request as it was asked for, without a range.
    let original: TransportRequest
    /// What is not left beside the file.
    let secretFields: HTTP.SecretFields
    /// Whether ranges may be asked for at all.
    let isResumable: Bool
    var machine = ResumeMachine()
    var part: DownloadPart?
    var placement: Placement?
    /// What an earlier download left, as long as nothing of it was changed.
    var found: ResumeData?
    /// Whether the part file holds something else than the machine knows of.
    var isStale = false
    /// The hops of exchanges that others followed.
    var earlier: [HTTP.Hop] = []
    /// The response of the last exchange, until that is one of the earlier ones.
    var answered: TransportResponse?
    var resumedAt = 0
    /// Whose the bytes are that the machine knows of; nil where whoever gave them vouches for them.
    var source: ResumeSource?
    /// The whole file's digest, as the server declares it.
    var declared: ContentDigest?
    /// Whether several exchanges were of no use.
    var isAlone = false
    /// How many bytes were there when it asked last.
    private var present = 0
    /// Whether the body being written has nothing to do with the file that could be resumed.
    private(set) var isForeign = false

    typealias Response = HTTPSession.Response<HTTPSession.DownloadedFile>

    var options: HTTPSession.DownloadOptions { download.options }

    /// Whether the file may be asked for again, or by several exchanges: what was sent so far must have been what was
    /// asked for. Interceptors and hooks may have made something else of it, such as a POST.
    func mayAskAgain(_ call: LiveCall) -> Bool { isResumable && call.hasSentOnlyGETs }

    init(_ download: Download, of call: LiveCall) {
        let request = call.request
        (self.download, original) = (download, request)
        secretFields = call.session.secretFields
        let mayResume = ResumeMachine.mayResume(
            request.head.method, request.head.fields, hasBody: !request.body.isNone)
        isResumable = mayResume && (download.options.resuming != .never || download.data != nil)
    }

    /// `arrival` is a response that has come already.
    mutating func run(
        _ arrival: LiveCall.Arrival?, from delegate: isolated TaskDelegate
    ) async throws -> Response {
        do {
            var arrival = arrival
            if arrival == nil { try await findPart(delegate[.main]) }
            while true {
                if let response = try await step(arrival, from: delegate) { return response }
                arrival = nil
            }
        } catch {
            throw await end(error, of: delegate)
        }
    }

    /// Makes one exchange; nil if another must follow.
    private mutating func step(
        _ given: LiveCall.Arrival?, from delegate: isolated TaskDelegate
    ) async throws -> Response? {
        let arrival: LiveCall.Arrival
        do {
            if let given { arrival = given } else { arrival = try await ask(delegate) }
            answered = arrival.response
        } catch {
            try await goOn(after: error, delegate)
            return nil
        }
        let (head, call) = (arrival.response.head, delegate[.main])
        switch action(on: arrival, call) {
        case .startOver:
            try await startOver(arrival, call)
            return try await fill(arrival, delegate)
        case .append(let range):
            try await place(head, call)
            declared = digest(declaredBy: arrival) ?? declared
            found = nil
            call.tellResumed(at: range.lowerBound, of: machine.completeLength)
            return try await fill(arrival, delegate)
        case .complete:
            try await place(head, call)
            found = nil
            return try await finish(arrival.response, call)
        case .askAgain:
            try leaveToAskAgain(arrival.response, delegate)
            return nil
        case .deliver: return try await deliver(arrival, delegate)
        case .refuse(let refusal):
            throw NetworkError(
                .invalidResponse, "\(refusal)", phase: .receive, requestMayHaveBeenSent: true, response: head)
        }
    }

    /// Handles a response that says nothing about the file: the server may be busy just now, or it is delivered as any
    /// response.
    private mutating func deliver(
        _ arrival: LiveCall.Arrival, _ delegate: isolated TaskDelegate
    ) async throws -> Response? {
        let (head, call) = (arrival.response.head, delegate[.main])
        if mayAskAgain(call), case .goOn(let delay) = machine.interrupted(by: .status(head.status)) {
            leave(arrival.response, delegate)
            try await pause(delay, call)
            return nil
        }
        if let refusal = download.refusal(of: head, call.asked) {
            throw await BodyBeginning.add(to: refusal, arrival.response.body, upTo: call.asked.reading.kept)
        }
        isForeign = true
        try await startOver(arrival, call)
        return try await fill(arrival, delegate)
    }

    /// The digest that a response declares, which is of the body on the wire: none counts if a coding was taken off,
    /// and none of a part counts for the whole.
    func digest(declaredBy arrival: LiveCall.Arrival) -> ContentDigest? {
        guard options.checksDigestFields, !arrival.isChanged else { return nil }
        let head = arrival.response.head
        let whole = head.status == .ok ? DigestFields.content(head.fields).strongest : nil
        return DigestFields.representation(head.fields).strongest ?? whole
    }

    private mutating func action(on arrival: LiveCall.Arrival, _ call: LiveCall) -> ResumeMachine.Action {
        let head = arrival.response.head
        if isResumable {
            let answer = ResumeSource.Answer(of: arrival.response, to: call)
            let isElsewhere = source.map { !$0.isOf(answer) } ?? false
            let action = machine.answered(head, isChanged: arrival.isChanged, isElsewhere: isElsewhere)
            if action == .startOver || source == nil { source = ResumeSource(answer) }
            return action
        }
        return download.refusal(of: head, call.asked) == nil ? .startOver : .deliver
    }
}

// MARK: - Exchanges

extension DownloadRun {
    private mutating func ask(_ delegate: isolated TaskDelegate) async throws -> LiveCall.Arrival {
        delegate.change(.main) { begin(&$0) }
        let former = present
        present = part?.content.byteCount ?? machine.offset
        if present > former { delegate.progressed(part: nil) }
        if machine.ask == .whole { return try await delegate.arrival(.main) }
        return try await delegate.arrival(.main, appendingTo: present, of: machine.completeLength)
    }

    /// Another exchange begins.
    private func begin(_ call: inout LiveCall) {
        call.request = isResumable ? original.with(machine.fields) : original
        let maySplit = maySplit(call) || machine.limit != nil
        call.part = maySplit ? CallPart(of: call.delegate, isFirst: true) : nil
        // The first begins where its wait in a queue ended, unless a part file was read meanwhile.
        if part != nil || !earlier.isEmpty { call.start = call.loop.now() }
        // Once the file has begun, the machine's own rules decide about another exchange.
        call.mayRetry = !machine.hasBegun
        call.noteAsking(for: original)
    }

    /// Gives up the rest of an answer that leaves something to ask for.
    mutating func leaveToAskAgain(_ response: TransportResponse, _ delegate: isolated TaskDelegate) throws {
        guard mayAskAgain(delegate[.main]) else {
            throw NetworkError(
                .interceptorFailed,
                "the file would have to be asked for again, and an interceptor or a hook sent another request for it",
                phase: .receive, requestMayHaveBeenSent: true, response: response.head)
        }
        leave(response, delegate)
    }

    /// Gives up the rest of an answer.
    mutating func leave(_ response: TransportResponse, _ delegate: isolated TaskDelegate) {
        leave(response.latestHop, delegate)
    }

    private mutating func leave(_ hop: HTTP.Hop?, _ delegate: isolated TaskDelegate) {
        answered = nil
        earlier += (delegate[.main].callHistory?.hops ?? []) + [hop].compactMap(\.self)
        // Another exchange may be redirected in the same way.
        delegate.change(.main) { $0.callHistory = $0.delegate.settings?.callHistory }
    }

    /// Throws the error again, unless the download goes on after it.
    mutating func goOn(after error: any Error, _ delegate: isolated TaskDelegate) async throws {
        let call = delegate[.main]
        let error = told(error, call)
        guard mayAskAgain(call), !isForeign, call.delegate.cancellation.cause == nil,
            let failure = error as? NetworkError,
            case .goOn(let delay) = machine.interrupted(by: .error(failure)),
            call.loop.now().advanced(by: delay.clampedNanoseconds) < call.request.deadline
        else { throw error }
        leave(failure.hop, delegate)
        try await pause(delay, call)
    }

    /// The error, with the hop of the response that it is about.
    func told(_ error: any Error, _ call: LiveCall) -> any Error {
        answered.map { call.failing(error, on: $0) } ?? error
    }

    private func pause(_ delay: Duration, _ call: LiveCall) async throws {
        let time = call.loop.now().advanced(by: delay.clampedNanoseconds)
        _ = await ValueWaiter<Void>(on: call.loop).wait(until: time, cancellation: call.delegate.cancellation)
        try await call.pass()
    }
}

extension LiveCall {
    fileprivate func tellResumed(at offset: Int, of length: Int?) {
        session.hub.tell(.downloadResumed(snapshot, at: offset, of: length))
    }
}

extension TransportRequest {
    /// The request with these fields in place of its own of the same names.
    func with(_ fields: Fields) -> TransportRequest {
        with { request in
            for field in fields { request.head.fields[field.name] = field.value }
        }
    }
}
