internal import DunlinReactor
internal import DunlinTransport

/// The two places where interceptors stand: around each exchange, and around all that brings a response.
///
/// Each of their `next` is a sending of its own, which begins as the one before it ended. How it goes counts for the
/// sending that the interceptors stand around, unless these have returned meanwhile.
extension TaskDelegate {
    /// One exchange, and what the interceptors around it make of it.
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

    /// Sends on the loop, after what was received before has been given up.
    private nonisolated func send(
        _ request: TransportRequest, _ call: LiveCall, _ id: SendingID, _ held: InterceptedResponse
    ) async throws -> TransportResponse {
        try await sending(call, id, held) { delegate, own in
            let part = delegate[own].part?.number
            // Refused before anything is given up: the interceptor may return what it has.
            if held.last != nil, let sendings = delegate.add(.continuation, part: part) {
                try delegate.check(sendings, delegate[own])
            }
            try delegate[own].checkBody(of: request, held)
            try await delegate.giveUp(try held.begin(delegate[own].cancellation), own)
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

    /// What `bring` brings, or what the interceptors around the call make of it.
    func intercepted(_ id: SendingID, _ bring: @escaping Bring) async throws -> LiveCall.Arrival {
        let call = self[id]
        guard call.isIntercepted else { return try await bring(self, id) }
        let (asked, held) = (call.request, InterceptedResponse())
        defer { end(held, id) }
        do {
            let response = try await call.chain.callInterceptors.run(asked, of: call) { [self] changed in
                try await self.bring(changed, insteadOf: call, id, held, bring)
            }
            let last = held.nature
            if held.isLast(response), let last { return LiveCall.Arrival(response, as: last) }
            // It has the limits of the call, whatever those of what was sent were.
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
            try await delegate.giveUp(try held.begin(delegate[own].cancellation), own)
            let request = try delegate[own].moved(changed, from: asked)
            delegate.change(own) { $0.request = request }
            defer {
                delegate.adopt(own, for: id, held) { call, sending in call = sending.with(part: call.part) }
            }
            do {
                let arrival = try await bring(delegate, own)
                held.received(arrival.response, of: arrival.raw, arrival.nature)
                return arrival.response
            } catch {
                throw delegate[own].sentRequests.call.explained(error)
            }
        }
    }
}

// MARK: - Both

extension TaskDelegate {
    /// Sends on the loop, with a cancellation of its own: whoever cancels `next` cancels what that sends, and no more.
    /// `call` is the one that the interceptors stand around.
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

    /// Once the interceptors have returned nothing is sent, and there may be no such sending any more.
    private func sent(
        by part: CallPart, _ id: SendingID, _ held: InterceptedResponse,
        _ send: @Sendable (isolated TaskDelegate, SendingID) async throws -> TransportResponse
    ) async throws -> TransportResponse {
        // In one turn: nothing is awaited in between.
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

    /// Has how a sending stands count for the one that the interceptors stand around, if they still wait for it. What
    /// was sent counts anyway.
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

    /// The interceptors have returned. What nobody waits for any more is about to be sent, or was.
    private func end(_ held: InterceptedResponse, _ id: SendingID) {
        held.end()
        guard held.last?.isUnderWay == true else { return }
        change(id) { $0.sentRequests.abandoned($0.sent ?? $0.request) }
    }

    /// Gives up what was sent before, if this is not the first request.
    private func giveUp(_ former: InterceptedResponse.Sent?, _ own: SendingID) async throws {
        guard let former else { return }
        let call = self[own]
        var hop = former.hop
        if let stream = former.stream {
            hop = try await call.discard(stream)
            call.callTransport.abandon(stream, LiveCall.gone)
        }
        former.cancellation.cancel(.handle)
        change(own) { call in
            if let hop { call.callHistory.append(hop) }
            call.start = loop.now()
        }
    }
}

// MARK: - The rules

extension LiveCall {
    /// Whether interceptors stand around the call.
    var isIntercepted: Bool { !chain.callInterceptors.isEmpty }

    /// The request that is sent around an exchange: another origin would get the fields and cookies of this one.
    fileprivate func admitted(
        _ changed: TransportRequest, insteadOf request: TransportRequest
    ) throws -> TransportRequest {
        guard changed.head.origin.isSame(as: request.head.origin) else {
            throw NetworkError(
                .interceptorFailed,
                "an interceptor around an exchange changed \(request.head.origin) to \(changed.head.origin): "
                    + "use one around calls"
            )
        }
        return within(changed, insteadOf: request)
    }

    /// The request as an interceptor around the call wants it. The way to another origin is the session's.
    fileprivate func moved(_ changed: TransportRequest, from asked: TransportRequest) throws -> TransportRequest {
        let origin = changed.head.origin
        if origin.isSame(as: asked.head.origin) { return within(changed, insteadOf: asked) }
        let builder = chain.settings.builder
        try builder.clearText.check(origin)
        let usual = origin.route == nil ? builder.routed(origin) : origin
        let routed = try delegate.settings?.routed(usual) ?? usual
        return within(changed, insteadOf: asked).with { $0.head.origin = routed }
    }

    /// The request as an interceptor wants it: its secrets are marked, its deadline is that of `asked` at most, and its
    /// origin is reached as before.
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

    /// Refused before anything is given up: the interceptor may return what it has.
    fileprivate func checkBody(of request: TransportRequest, _ held: InterceptedResponse) throws {
        guard held.last != nil, !request.body.canBeSent else { return }
        throw NetworkError(
            .bodyNotReplayable, "an interceptor sent the request again, and the body can be sent once only",
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
        guard !response.head.status.isInformational else {
            throw NetworkError(
                .interceptorFailed,
                "an interceptor returned status \(response.head.status), which is not a final response")
        }
        let last = held.last
        if let last, last.isUnderWay { last.cancellation.cancel(.handle) }
        guard let stream = response.stream else {
            if let source = last?.stream { callTransport.abandon(source, Self.gone) }
            return response.counted(as: last?.hop)
        }
        if stream === last?.stream || held.isLast(response) { return response }
        let counted = response.counted(as: last?.hop)
        return counted.with(.stream(bounded(stream, last?.stream)), counted.hop)
    }

    private func bounded(
        _ stream: any TransportResponse.BodyStream, _ source: (any TransportResponse.BodyStream)?
    ) -> any TransportResponse.BodyStream {
        let body = ForeignBody(
            stream, callTransport, cancellation, on: loop, until: request.deadline, limit: request.timeouts.total,
            source: source, announcing: stream.expectedLength)
        // What comes from our own sockets is counted there.
        guard source == nil, callTransport.sockets != nil, let control else { return body }
        return CountedBody(body, control, until: request.deadline)
    }

    /// The error to throw after all that was sent has been given up.
    fileprivate func givenUp(_ error: any Error, _ held: InterceptedResponse) -> any Error {
        let last = held.last
        let hop = last?.stream?.hop ?? last?.hop
        if let stream = last?.stream { callTransport.abandon(stream, Self.gone) }
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
