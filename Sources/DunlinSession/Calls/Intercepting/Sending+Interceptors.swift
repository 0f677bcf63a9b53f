internal import DunlinReactor
internal import DunlinTransport

/// The two places of interceptors: around each exchange, and around the whole call. They run off the loop, and
/// meanwhile the delegate keeps the sending as a `Loan`, under a number.
extension Sending {
    /// Brings a response to what interceptors send.
    package typealias Bring = @Sendable (inout Sending) async throws -> Arrival

    /// Makes one exchange through the interceptors around it.
    mutating func intercepted(exchange request: TransportRequest) async throws -> TransportResponse {
        let (call, number) = (self, await delegate.lend(self, nil))
        let result = await outcome {
            try await call.chain.exchangeInterceptors.run(request, of: call) { changed in
                try await call.send(try call.admitted(changed, insteadOf: request), number)
            }
        }
        let loan = await takeBack(number)
        do {
            let response = try result.get()
            hasMadeBody = !loan.hasLastBody(response)
            return try call.taken(response, loan)
        } catch {
            throw sentRequests.hop.explained(call.givenUp(error, loan))
        }
    }

    /// The response that `bring` brings, as the interceptors around the call return it.
    mutating func intercepted(_ bring: @escaping Bring) async throws -> Arrival {
        guard isIntercepted else { return try await bring(&self) }
        let (call, given, number) = (self, request, await delegate.lend(self, bring))
        let result = await outcome {
            try await call.chain.callInterceptors.run(given, of: call) { changed in
                try await call.send(changed, number)
            }
        }
        let loan = await takeBack(number)
        do {
            let response = try result.get()
            if loan.isLast(response), let traits = loan.traits { return Arrival(response, as: traits) }
            // It has the call's limits, whatever limits the sent request had.
            request = request.with { ($0.deadline, $0.timeouts) = (given.deadline, given.timeouts) }
            return Arrival(
                made: try call.taken(response.marking(session.configuration.secretFields), loan),
                insteadOf: loan.traits)
        } catch {
            throw call.givenUp(error, loan)
        }
    }

    private func outcome(
        _ run: () async throws -> TransportResponse
    ) async -> Result<TransportResponse, any Error> {
        do { return .success(try await run()) } catch { return .failure(error) }
    }

    /// Takes the sending back: the interceptors have returned. Requests that nobody awaits any more may have been sent
    /// or be about to be.
    private mutating func takeBack(_ number: Int) async -> Loan {
        let (loan, part) = (await delegate.takeBack(number) ?? Loan(self, nil), part)
        self = loan.sending
        self.part = part
        let last = sent ?? request
        if loan.last?.isUnderWay == true { note { $0.discarded(last) } }
        return loan
    }

    /// Sends on the loop with its own cancellation: cancelling `next` cancels only what it sends.
    private func send(_ request: TransportRequest, _ number: Int) async throws -> TransportResponse {
        let part = CallPart(of: self)
        return try await withTaskCancellationHandler {
            try await withTaskExecutorPreference(loop) { @concurrent in
                let response = try await delegate.send(request, insteadOf: self, number, as: part)
                await loop.leave()
                return response
            }
        } onCancel: {
            part.cancellation.cancel(.task)
        }
    }
}

extension TaskDelegate {
    /// Sends a request of interceptors that were lent a sending. `call` is the sending as they got it. Throws if they
    /// have returned: then nothing is sent.
    fileprivate func send(
        _ request: TransportRequest, insteadOf call: Sending, _ number: Int, as part: CallPart
    ) async throws -> TransportResponse {
        guard let loan = loans[number] else { throw Loan.isLate }
        var own = loan.sending
        (own.part, own.start, own.watched, own.retries) = (part, loop.now(), nil, 0)
        do {
            return try await loan.bring == nil
                ? exchange(request, number, &own) : bring(request, insteadOf: call, number, &own)
        } catch {
            loans[number]?.failed(error, part.cancellation)
            throw error
        }
    }

    /// Sends around an exchange, after what was received before has been discarded.
    private func exchange(
        _ request: TransportRequest, _ number: Int, _ own: inout Sending
    ) async throws -> TransportResponse {
        var request = request
        if loans[number]?.last != nil {
            // Refused before anything is discarded, since the interceptor may return what it has.
            try own.addContinuation()
            if let upgrade = settings?.exchangeOptions?.upgrade { request = upgrade.renewed(request) }
        }
        try await begin(request, number, &own)
        if request !== own.request { own.sent = request }
        loans[number]?.adopt(&own) { ($0.callHistory, $0.sent) = ($1.callHistory, $1.sent) }
        defer { loans[number]?.adopt(&own) { $0.callHistory = $1.callHistory } }
        do {
            let response = try await own.carried(request, loans[number]?.sending.watched)
                .marking(own.session.configuration.secretFields)
            loans[number]?.received(response, of: response)
            return response
        } catch {
            throw own.sentRequests.hop.explained(error)
        }
    }

    /// Sends around the call.
    private func bring(
        _ changed: TransportRequest, insteadOf sending: Sending, _ number: Int, _ own: inout Sending
    ) async throws -> TransportResponse {
        guard let bring = loans[number]?.bring else { throw Loan.isLate }
        try await begin(changed, number, &own)
        own.request = try own.moved(changed, from: sending.request)
        own.callHistory = own.callHistory.beginningWalk(as: sending.callHistory)
        defer { loans[number]?.adopt(&own) { $0 = $1 } }
        do {
            let arrival = try await bring(&own)
            loans[number]?.received(arrival.response, of: arrival.raw, arrival.traits)
            return arrival.response
        } catch {
            throw own.sentRequests.call.explained(error)
        }
    }

    /// Begins a request of interceptors', and discards what was sent before, unless it is the first.
    private func begin(_ request: TransportRequest, _ number: Int, _ own: inout Sending) async throws {
        guard let loan = loans[number] else { throw Loan.isLate }
        if loan.last != nil { try Loan.checkBody(of: request) }
        loans[number]?.begin(own.cancellation)
        guard let former = loan.last else { return }
        var hop = former.hop
        if let stream = loan.stream {
            hop = try await own.hop(discarding: stream)
            own.callTransport.discard(stream, Loan.gone)
        }
        // Its response may be gone, with the body that would tell. What is under way ends by being cancelled.
        if !former.isUnderWay { former.watched?.end() }
        former.cancellation.cancel(.handle)
        if let hop { own.callHistory.append(hop) }
        own.start = loop.now()
    }
}

// MARK: - The rules

extension Sending {
    /// Whether the call has interceptors around it.
    var isIntercepted: Bool { !chain.callInterceptors.isEmpty }

    /// The request to send around an exchange. Throws for another origin, which would get the fields and cookies of
    /// this one.
    fileprivate func admitted(
        _ changed: TransportRequest, insteadOf request: TransportRequest
    ) throws -> TransportRequest {
        guard changed.head.origin.isSame(as: request.head.origin) else {
            throw NetworkError(
                .interceptorFailed,
                "an interceptor around exchanges may not change the origin (\(request.head.origin) to "
                    + "\(changed.head.origin)); make it one around calls"
            )
        }
        return within(changed, insteadOf: request)
    }

    /// The request as an interceptor around the call wants it. The session chooses the route to another origin.
    fileprivate func moved(_ changed: TransportRequest, from given: TransportRequest) throws -> TransportRequest {
        let origin = changed.head.origin
        if origin.isSame(as: given.head.origin) { return within(changed, insteadOf: given) }
        let builder = chain.settings.builder
        let usual = origin.route == nil ? builder.routed(origin) : origin
        let routed = try delegate.settings?.routed(usual) ?? usual
        return within(changed, insteadOf: given).with { $0.head.origin = routed }
    }

    /// The request as an interceptor wants it, with its secrets marked, at most the deadline of `given`, and the same
    /// route to its origin.
    private func within(_ changed: TransportRequest, insteadOf given: TransportRequest) -> TransportRequest {
        let deadline = min(changed.deadline, given.deadline, InheritedDeadline.present?.time ?? .never)
        if changed === given, deadline == given.deadline { return changed }
        return changed.with { changes in
            changes.head.fields.mark(session.configuration.secretFields)
            chain.settings.builder.leaveOutCodingsOfPart(&changes.head.fields, insteadOf: given.head.fields)
            changes.deadline = deadline
            if changes.head.origin.route == nil, changes.head.origin.isSame(as: given.head.origin) {
                changes.head.origin = given.head.origin
            }
        }
    }

    /// The response that the interceptors returned. A stream of their own is read within the call's limits.
    fileprivate func taken(_ response: TransportResponse, _ loan: Loan) throws -> TransportResponse {
        let isUpgrade = response.head.status == .switchingProtocols && response.stream?.duplexStream != nil
        guard !response.head.status.isInformational || isUpgrade else {
            throw NetworkError(
                .interceptorFailed,
                "an interceptor returned status \(response.head.status), which is not a final response")
        }
        let last = loan.last
        if let last, last.isUnderWay { last.cancellation.cancel(.handle) }
        guard let stream = response.stream else {
            if let source = loan.stream { callTransport.discard(source, Loan.gone) }
            return response.counted(as: last?.hop)
        }
        if stream === loan.stream || loan.isLast(response) { return response }
        let counted = response.counted(as: last?.hop)
        // The limits of a request end with its 101.
        let deadline = isUpgrade ? .never : request.deadline
        return counted.with(.stream(bounded(stream, loan.stream, until: deadline)), counted.hop)
    }

    private func bounded(
        _ stream: any TransportResponse.BodyStream, _ source: (any TransportResponse.BodyStream)?,
        until deadline: HTTP.Instant
    ) -> any TransportResponse.BodyStream {
        let body = CancellableBody(
            stream, callTransport, cancellation, on: loop, until: deadline, limit: request.timeouts.total,
            source: source, announcing: stream.expectedLength)
        // Bodies from Dunlin's own sockets are counted there.
        guard source == nil, callTransport.sockets != nil, let control else { return body }
        return CountedBody(body, control, until: deadline)
    }

    /// The error to throw after everything that was sent has been discarded.
    fileprivate func givenUp(_ error: any Error, _ loan: Loan) -> any Error {
        let last = loan.last
        let hop = loan.stream?.hop ?? last?.hop
        if let stream = loan.stream { callTransport.discard(stream, Loan.gone) }
        last?.cancellation.cancel(.handle)
        let isOver = delegate.cancellation.cause != nil || loop.now() >= request.deadline
        let known = isOver ? loan.explained(error) : error
        return hop.map { failing(known, after: $0) } ?? known
    }
}

extension TransportResponse {
    /// The same response. One that an interceptor made itself gets the hop that led to it.
    fileprivate func counted(as hop: HTTP.Hop?) -> TransportResponse {
        guard let hop, self.hop == HTTP.Hop() else { return self }
        return with(body, hop)
    }
}

extension Loan {
    fileprivate static var isLate: NetworkError {
        NetworkError(.interceptorFailed, "an interceptor called `next` after it had returned")
    }

    /// Throws before anything is discarded, since the interceptor may return what it has.
    fileprivate static func checkBody(of request: TransportRequest) throws {
        if request.body.canBeSent { return }
        throw NetworkError(
            .bodyNotReplayable,
            "an interceptor sent the request again, and its body can be sent once only; "
                + "give the body as bytes, a file or `.replayable`",
            requestMayHaveBeenSent: true)
    }

    fileprivate static var gone: NetworkError {
        NetworkError(
            .bodyConsumed,
            "the response was discarded: its interceptor sent the request again, or returned another response",
            phase: .receive)
    }
}
