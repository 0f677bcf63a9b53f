internal import DunlinReactor
internal import DunlinTransport

/// The two places of interceptors: around each exchange, and around the whole call.
///
/// Each call of `next` is its own sending, which begins in the state that the previous one left. Its outcome counts for
/// the sending that the interceptors surround, unless they have returned meanwhile.
extension TaskDelegate {
    /// Makes one exchange through the interceptors around it.
    func interceptedExchange(_ request: TransportRequest, _ id: SendingID) async throws -> TransportResponse {
        let held = InterceptedResponse()
        defer { end(held, id) }
        let call = self[id]
        do {
            let response = try await call.chain.exchangeInterceptors.run(request, of: call) { [self] changed in
                try await send(try call.admitted(changed, insteadOf: request), call, id, held)
            }
            let hasMadeBody = !held.hasLastBody(response)
            change(id) { $0.hasMadeBody = hasMadeBody }
            return try call.taken(response, held)
        } catch {
            throw self[id].sentRequests.hop.explained(call.givenUp(error, held))
        }
    }

    /// Sends on the loop, after what was received before has been discarded.
    private nonisolated func send(
        _ request: TransportRequest, _ call: LiveCall, _ id: SendingID, _ held: InterceptedResponse
    ) async throws -> TransportResponse {
        try await sending(call, id, held) { delegate, own in
            let part = delegate[own].part?.number
            // Refused before anything is discarded, since the interceptor may return what it has.
            if held.last != nil, let sendings = delegate.add(.continuation, part: part) {
                try delegate.check(sendings, delegate[own])
            }
            var request = request
            if held.last != nil, let upgrade = delegate.settings?.exchangeOptions?.upgrade {
                request = upgrade.renewed(request)
            }
            try delegate[own].checkBody(of: request, held)
            try await delegate.giveUp(try held.begin(own, delegate[own].cancellation), own)
            delegate.change(own) { if request !== $0.request { $0.sent = request } }
            delegate.adopt(own, for: id, held) { call, sending in
                (call.callHistory, call.sent) = (sending.callHistory, sending.sent)
            }
            defer { delegate.adopt(own, for: id, held) { $0.callHistory = $1.callHistory } }
            do {
                let response = try await delegate.exchange(request, own)
                    .marking(call.session.configuration.secretFields)
                held.received(response, of: response)
                return response
            } catch {
                throw delegate[own].sentRequests.hop.explained(error)
            }
        }
    }
}

// MARK: - Around the call

extension TaskDelegate {
    typealias Bring = @Sendable (isolated TaskDelegate, SendingID) async throws -> LiveCall.Arrival

    /// The response that `bring` brings, as the interceptors around the call return it.
    func intercepted(_ id: SendingID, _ bring: @escaping Bring) async throws -> LiveCall.Arrival {
        let call = self[id]
        guard call.isIntercepted else { return try await bring(self, id) }
        let (asked, held) = (call.request, InterceptedResponse())
        defer { end(held, id) }
        do {
            let response = try await call.chain.callInterceptors.run(asked, of: call) { [self] changed in
                try await self.bring(changed, insteadOf: call, id, held, bring)
            }
            let last = held.traits
            if held.isLast(response), let last { return LiveCall.Arrival(response, as: last) }
            // It has the call's limits, whatever limits the sent request had.
            change(id) { $0.takeLimits(of: asked) }
            return LiveCall.Arrival(
                made: try call.taken(response.marking(call.session.configuration.secretFields), held), insteadOf: last)
        } catch {
            throw call.givenUp(error, held)
        }
    }

    private nonisolated func bring(
        _ changed: TransportRequest, insteadOf call: LiveCall, _ id: SendingID, _ held: InterceptedResponse,
        _ bring: @escaping Bring
    ) async throws -> TransportResponse {
        let asked = call.request
        return try await sending(call, id, held) { delegate, own in
            try delegate[own].checkBody(of: changed, held)
            try await delegate.giveUp(try held.begin(own, delegate[own].cancellation), own)
            let request = try delegate[own].moved(changed, from: asked)
            delegate.change(own) { sending in
                sending.request = request
                sending.callHistory = sending.callHistory.beginningWalk(as: call.callHistory)
            }
            defer {
                delegate.adopt(own, for: id, held) { call, sending in call = sending.with(part: call.part) }
            }
            do {
                let arrival = try await bring(delegate, own)
                held.received(arrival.response, of: arrival.raw, arrival.traits)
                return arrival.response
            } catch {
                throw delegate[own].sentRequests.call.explained(error)
            }
        }
    }
}

// MARK: - Both

extension TaskDelegate {
    /// Sends on the loop with its own cancellation: cancelling `next` cancels only what it sends. `call` is the one
    /// that the interceptors surround.
    private nonisolated func sending(
        _ call: LiveCall, _ id: SendingID, _ held: InterceptedResponse,
        _ send: @Sendable (isolated TaskDelegate, SendingID) async throws -> TransportResponse
    ) async throws -> TransportResponse {
        let part = CallPart(of: call)
        return try await withTaskCancellationHandler {
            try await withTaskExecutorPreference(loop) { @concurrent in
                let response = try await sent(by: part, id, held, send)
                await loop.leave()
                return response
            }
        } onCancel: {
            part.cancellation.cancel(.task)
        }
    }

    /// Sends, unless the interceptors have returned: then nothing is sent, and the sending may no longer exist.
    private func sent(
        by part: CallPart, _ id: SendingID, _ held: InterceptedResponse,
        _ send: @Sendable (isolated TaskDelegate, SendingID) async throws -> TransportResponse
    ) async throws -> TransportResponse {
        // Nothing is awaited in between, so this cannot change.
        try held.checkIsAwaited()
        var call = self[id].with(part: part)
        call.start = loop.now()
        let own = begin(call)
        defer { end(own) }
        do {
            return try await send(self, own)
        } catch {
            held.failed(error, part.cancellation)
            throw error
        }
    }

    /// Copies a sending's state to the one that the interceptors surround, if they still wait for it. What was sent
    /// counts in any case.
    private func adopt(
        _ own: SendingID, for id: SendingID, _ held: InterceptedResponse,
        _ adopt: (inout LiveCall, LiveCall) -> Void
    ) {
        var sending = self[own]
        change(id) { call in
            call.sentRequests.add(sending.sentRequests)
            sending.sentRequests = call.sentRequests
        }
        guard held.isAwaited(sending.cancellation) else { return }
        change(id) { adopt(&$0, sending) }
    }

    /// Notes that the interceptors have returned. Requests that nobody awaits any more may have been sent or be about
    /// to be.
    private func end(_ held: InterceptedResponse, _ id: SendingID) {
        held.end()
        guard held.last?.isUnderWay == true else { return }
        change(id) { $0.sentRequests.discarded($0.sent ?? $0.request) }
    }

    /// Discards what was sent before, unless this is the first request.
    private func giveUp(_ former: InterceptedResponse.Sent?, _ own: SendingID) async throws {
        guard let former else { return }
        let call = self[own]
        var hop = former.hop
        if let stream = former.stream {
            hop = try await call.discard(stream)
            call.callTransport.discard(stream, LiveCall.gone)
        }
        // Its response may be gone, with the body that would tell. What is under way ends by being cancelled.
        if !former.isUnderWay { observation?.leave(former.id) }
        former.cancellation.cancel(.handle)
        change(own) { call in
            if let hop { call.callHistory.append(hop) }
            call.start = loop.now()
        }
    }
}

// MARK: - The rules

extension LiveCall {
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
    fileprivate func moved(_ changed: TransportRequest, from asked: TransportRequest) throws -> TransportRequest {
        let origin = changed.head.origin
        if origin.isSame(as: asked.head.origin) { return within(changed, insteadOf: asked) }
        let builder = chain.settings.builder
        let usual = origin.route == nil ? builder.routed(origin) : origin
        let routed = try delegate.settings?.routed(usual) ?? usual
        return within(changed, insteadOf: asked).with { $0.head.origin = routed }
    }

    /// The request as an interceptor wants it, with its secrets marked, at most the deadline of `asked`, and the same
    /// route to its origin.
    private func within(_ changed: TransportRequest, insteadOf asked: TransportRequest) -> TransportRequest {
        let deadline = min(changed.deadline, asked.deadline, InheritedDeadline.present?.time ?? .never)
        if changed === asked, deadline == asked.deadline { return changed }
        return changed.with { changes in
            changes.head.fields.mark(session.configuration.secretFields)
            chain.settings.builder.leaveOutCodingsOfPart(&changes.head.fields, insteadOf: asked.head.fields)
            changes.deadline = deadline
            if changes.head.origin.route == nil, changes.head.origin.isSame(as: asked.head.origin) {
                changes.head.origin = asked.head.origin
            }
        }
    }

    /// Throws before anything is discarded, since the interceptor may return what it has.
    fileprivate func checkBody(of request: TransportRequest, _ held: InterceptedResponse) throws {
        guard held.last != nil, !request.body.canBeSent else { return }
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

    /// The response that the interceptors returned. A stream of their own is read within the call's limits.
    fileprivate func taken(_ response: TransportResponse, _ held: InterceptedResponse) throws -> TransportResponse {
        let isUpgrade = response.head.status == .switchingProtocols && response.stream?.duplexStream != nil
        guard !response.head.status.isInformational || isUpgrade else {
            throw NetworkError(
                .interceptorFailed,
                "an interceptor returned status \(response.head.status), which is not a final response")
        }
        let last = held.last
        if let last, last.isUnderWay { last.cancellation.cancel(.handle) }
        guard let stream = response.stream else {
            if let source = last?.stream { callTransport.discard(source, Self.gone) }
            return response.counted(as: last?.hop)
        }
        if stream === last?.stream || held.isLast(response) { return response }
        let counted = response.counted(as: last?.hop)
        // The limits of a request end with its 101.
        let deadline = isUpgrade ? .never : request.deadline
        return counted.with(.stream(bounded(stream, last?.stream, until: deadline)), counted.hop)
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
    fileprivate func givenUp(_ error: any Error, _ held: InterceptedResponse) -> any Error {
        let last = held.last
        let hop = last?.stream?.hop ?? last?.hop
        if let stream = last?.stream { callTransport.discard(stream, Self.gone) }
        last?.cancellation.cancel(.handle)
        let isOver = delegate.cancellation.cause != nil || loop.now() >= request.deadline
        let known = isOver ? held.explained(error) : error
        return hop.map { failing(known, after: $0) } ?? known
    }

    fileprivate func with(part: CallPart?) -> LiveCall {
        var call = self
        call.part = part
        return call
    }

    fileprivate mutating func takeLimits(of asked: TransportRequest) {
        request = request.with { ($0.deadline, $0.timeouts) = (asked.deadline, asked.timeouts) }
    }
}

extension TransportResponse {
    /// The same response. One that an interceptor made itself gets the hop that led to it.
    fileprivate func counted(as hop: HTTP.Hop?) -> TransportResponse {
        guard let hop, self.hop == HTTP.Hop() else { return self }
        return with(body, hop)
    }
}
