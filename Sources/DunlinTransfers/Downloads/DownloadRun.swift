internal import DunlinReactor
internal import DunlinSecure
internal import DunlinSemantics
internal import DunlinTransport

/// One download, from its first request to its file, with as many exchanges as needed. `ResumeMachine` decides what to
/// send and what a response means; this carries it out.
struct DownloadRun {
    let download: Download
    /// The request as the caller made it, without a range.
    let original: TransportRequest
    /// The request's own fields, without those of its session.
    let ownFields: Fields
    /// The fields that must not be stored beside the file.
    let secretFields: HTTP.SecretFields
    /// Whether ranges may be requested at all.
    let isResumable: Bool
    var machine = ResumeMachine()
    var part: DownloadPart?
    var placement: Placement?
    /// What an earlier download left, until something of it is changed.
    var found: ResumeData?
    var written = Written.known
    /// The hops of the exchanges before the last.
    var earlier: [HTTP.Hop] = []
    /// The response of the last exchange, until its hop is among the earlier ones.
    var answered: TransportResponse?
    var resumedAt = 0
    /// The source of the bytes that the machine knows of; nil if their giver vouches for them.
    var source: ResumeSource?
    /// The digest of the whole file that the server declared.
    var declared: ContentDigest?
    /// Whether fetching by several exchanges has failed.
    var isAlone = false
    /// The number of bytes that were there at the last request.
    private var present = 0

    /// What is written to the part file.
    enum Written {
        /// The bytes that the machine knows of.
        case known
        /// Other bytes, or none: the file is being emptied.
        case other
        /// A body that is unrelated to the file that could be resumed.
        case unrelated
    }

    typealias Response = HTTPSession.Response<HTTPSession.DownloadedFile>

    var options: HTTPSession.DownloadOptions { download.options }

    /// Whether the file may be requested again, or by several exchanges. This requires that everything sent so far was
    /// a GET: interceptors and hooks may have turned it into something else, such as a POST.
    func mayAskAgain(_ sending: Sending) -> Bool { isResumable && sending.delegate.hasSentOnlyGETs }

    init(_ download: Download, of sending: Sending) {
        let request = sending.request
        (self.download, original, ownFields) = (download, request, sending.call.options.fields)
        secretFields = sending.unstoredFields
        let mayResume = ResumeMachine.mayResume(
            request.head.method, request.head.fields, hasBody: !request.body.isNone)
        isResumable = mayResume && (download.options.resuming != .never || download.data != nil)
    }

    /// Runs the download; `arrival` is a response that has come already.
    mutating func run(
        _ arrival: Sending.Arrival?, from sending: inout Sending
    ) async throws -> Response {
        do {
            var arrival = arrival
            if arrival == nil { try await findPart(sending) }
            while true {
                if let response = try await step(arrival, from: &sending) { return response }
                arrival = nil
            }
        } catch {
            throw await end(error, of: &sending)
        }
    }

    /// Makes one exchange. Returns nil if another must follow.
    private mutating func step(
        _ given: Sending.Arrival?, from sending: inout Sending
    ) async throws -> Response? {
        let arrival: Sending.Arrival
        do {
            if let given { arrival = given } else { arrival = try await ask(&sending) }
            answered = arrival.response
        } catch {
            try await goOn(after: error, &sending)
            return nil
        }
        let head = arrival.response.head
        switch action(on: arrival, sending) {
        case .startOver:
            try await startOver(arrival, sending)
            return try await fill(arrival, &sending)
        case .append(let range):
            try await chooseDestination(head, sending)
            declared = digest(declaredBy: arrival) ?? declared
            found = nil
            sending.tellResumed(at: range.lowerBound, of: machine.completeLength)
            return try await fill(arrival, &sending)
        case .complete:
            try await chooseDestination(head, sending)
            found = nil
            return try await finish(arrival.response, sending)
        case .askAgain:
            try leaveToAskAgain(arrival.response, &sending)
            return nil
        case .deliver: return try await deliver(arrival, &sending)
        case .refuse(let refusal):
            throw NetworkError(
                .invalidResponse, "\(refusal)", phase: .receive, requestMayHaveBeenSent: true, response: head)
        }
    }

    /// Handles a response that is not about the file: the server may be busy, or the response is delivered like any
    /// other.
    private mutating func deliver(
        _ arrival: Sending.Arrival, _ sending: inout Sending
    ) async throws -> Response? {
        let head = arrival.response.head
        if mayAskAgain(sending), case .goOn(let delay) = machine.interrupted(by: .status(head.status)) {
            leave(arrival.response, &sending)
            try await pause(delay, sending)
            return nil
        }
        if let refusal = download.refusal(of: head, sending.call) {
            throw await BodyBeginning.add(to: refusal, arrival.response.body, upTo: sending.call.reading.kept)
        }
        written = .unrelated
        try await startOver(arrival, sending)
        return try await fill(arrival, &sending)
    }

    /// The digest that a response declares. It covers the body on the wire, so it does not count if a coding was taken
    /// off. That of a partial body does not count for the whole file, nor that of the whole for a part that was asked
    /// for as such.
    func digest(declaredBy arrival: Sending.Arrival) -> ContentDigest? {
        guard options.checksDigestFields, !arrival.isChanged else { return nil }
        let head = arrival.response.head
        let isPart = head.status == .partialContent
        let whole = isPart ? nil : DigestFields.content(head.fields).strongest
        if isPart, !isResumable { return nil }
        return DigestFields.representation(head.fields).strongest ?? whole
    }

    private mutating func action(on arrival: Sending.Arrival, _ sending: Sending) -> ResumeMachine.Action {
        var head = arrival.response.head
        let isUnasked =
            head.status == .partialContent && !(sending.sent ?? sending.request).head.fields.contains("range")
        if isUnasked, head.fields.allowsWholeContent { head.status = .ok }
        if isResumable {
            let answer = ResumeSource.Answer(to: sending)
            let isElsewhere = source?.isOf(answer) == false
            let action = machine.answered(head, isChanged: arrival.isChanged, isElsewhere: isElsewhere)
            if action == .startOver || source == nil { source = ResumeSource(answer) }
            return action
        }
        if isUnasked, head.status == .partialContent { return .refuse(.unaskedRange) }
        return download.refusal(of: head, sending.call) == nil ? .startOver : .deliver
    }
}

// MARK: - Exchanges

extension DownloadRun {
    private mutating func ask(_ sending: inout Sending) async throws -> Sending.Arrival {
        begin(&sending)
        let former = present
        present = part?.content.byteCount ?? machine.offset
        if present > former { sending.count.progressed() }
        if machine.ask == .whole { return try await sending.arrival() }
        return try await sending.arrival(appendingTo: present, of: machine.completeLength)
    }

    /// Begins another exchange.
    private func begin(_ sending: inout Sending) {
        sending.request = isResumable ? original.with(machine.fields) : original
        let maySplit = maySplit(sending) || machine.limit != nil
        sending.part = maySplit ? CallPart(of: sending.delegate, isFirst: true) : nil
        // The first exchange begins where its wait in a queue ended, unless a part file was read meanwhile.
        if part != nil || !earlier.isEmpty { sending.start = sending.loop.now() }
        // Once the file has begun, the machine's rules decide about another exchange.
        sending.mayRetry = !machine.hasBegun
    }

    /// Discards the rest of a response after which something is still to be requested.
    mutating func leaveToAskAgain(_ response: TransportResponse, _ sending: inout Sending) throws {
        guard mayAskAgain(sending) else {
            throw NetworkError(
                .interceptorFailed,
                "the rest of the file cannot be requested: an interceptor or a hook sent something other than a GET",
                phase: .receive, requestMayHaveBeenSent: true, response: response.head)
        }
        leave(response, &sending)
    }

    /// Discards the rest of a response.
    mutating func leave(_ response: TransportResponse, _ sending: inout Sending) {
        leave(response.latestHop, &sending)
    }

    private mutating func leave(_ hop: HTTP.Hop?, _ sending: inout Sending) {
        answered = nil
        earlier += (sending.callHistory?.hops ?? []) + [hop].compactMap(\.self)
        // The next exchange may be redirected in the same way.
        sending.callHistory = sending.delegate.settings?.callHistory
    }

    /// Prepares to continue after an error, or rethrows it.
    mutating func goOn(after error: any Error, _ sending: inout Sending) async throws {
        let error = located(error, sending)
        guard mayAskAgain(sending), written != .unrelated, sending.delegate.cancellation.cause == nil,
            let failure = error as? NetworkError,
            case .goOn(let delay) = machine.interrupted(by: .error(failure)),
            sending.loop.now().advanced(by: delay.clampedNanoseconds) < sending.request.deadline
        else { throw error }
        leave(failure.hop, &sending)
        try await pause(delay, sending)
    }

    /// The error, with the hop of the response that it concerns.
    func located(_ error: any Error, _ sending: Sending) -> any Error {
        answered.map { sending.failing(error, on: $0) } ?? error
    }

    private func pause(_ delay: Duration, _ sending: Sending) async throws {
        let time = sending.loop.now().advanced(by: delay.clampedNanoseconds)
        _ = await ValueWaiter<Void>(on: sending.loop).wait(until: time, cancellation: sending.delegate.cancellation)
        try await sending.pass()
    }
}

extension Sending {
    fileprivate func tellResumed(at offset: Int, of length: Int?) {
        note(.downloadResumed(at: offset, of: length))
        session.hub.tell(.downloadResumed(snapshot, at: offset, of: length))
    }
}

extension TransportRequest {
    /// The request with these fields replacing its own with the same names.
    func with(_ fields: Fields) -> TransportRequest {
        with { request in
            for field in fields { request.head.fields[field.name] = field.value }
        }
    }
}
