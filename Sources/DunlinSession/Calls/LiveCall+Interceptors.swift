internal import DunlinReactor
internal import DunlinTransport

/// The two places where interceptors stand: around each exchange, and around all that brings a response.
extension LiveCall {
    /// One exchange, and what the interceptors around it make of it.
    mutating func interceptedExchange(_ request: TransportRequest) async throws -> TransportResponse {
        let held = InterceptedResponse(self)
        defer { (callHistory, sent) = (held.value.callHistory, held.value.sent) }
        do {
            let response = try await chain.exchangeInterceptors.run(request, of: self) { changed in
                let call = held.value
                return try await call.send(try call.admitted(changed, insteadOf: request), held)
            }
            hasMadeBody = !held.hasLastBody(response)
            return try taken(response, held)
        } catch {
            throw givenUp(error, held)
        }
    }

    /// Sends on the loop, after what was received before has been given up.
    private func send(
        _ request: TransportRequest, _ held: InterceptedResponse<LiveCall>
    ) async throws -> TransportResponse {
        try await sending(held) { call in
            // Refused before anything is given up: the interceptor may return what it has.
            if held.end() != nil { try await call.check(await delegate.add(.continuation, part: part?.number)) }
            try call.checkBody(of: request, held)
            try await call.giveUp(held.begin(call.cancellation))
            if request !== call.request { call.sent = request }
            held.set(call.with(part: part))
            defer { held.set(held.value.with(hopsOf: call)) }
            let response = try await call.exchange(request).marking(chain.settings.secretFields)
            held.received(response, of: response)
            return response
        }
    }

    /// The request that is sent around an exchange: another origin would get the fields and cookies of this one.
    private func admitted(
        _ changed: TransportRequest, insteadOf request: TransportRequest
    ) throws -> TransportRequest {
        guard changed.head.origin.isSame(as: request.head.origin) else {
            throw NetworkError(
                .interceptorFailed,
                "an exchange with \(request.head.origin) cannot go to \(changed.head.origin): do that around the call")
        }
        return within(changed, insteadOf: request)
    }
}

// MARK: - Around the call

extension LiveCall {
    package typealias Bring = @Sendable (inout LiveCall) async throws -> Arrival

    /// Whether interceptors stand around the call.
    package var isIntercepted: Bool { !chain.callInterceptors.isEmpty }

    /// What `bring` brings, or what the interceptors around the call make of it.
    package mutating func intercepted(_ bring: @escaping Bring) async throws -> Arrival {
        guard isIntercepted else { return try await bring(&self) }
        let (asked, held) = (request, InterceptedResponse(Course(call: self)))
        defer { self = held.value.call }
        do {
            let response = try await chain.callInterceptors.run(asked, of: self) { changed in
                try await held.value.call.bring(changed, insteadOf: asked, held, bring)
            }
            let last = held.value.arrival
            if held.isLast(response), let last { return Arrival(response, as: last) }
            let made = Arrival(made: try taken(response.marking(chain.settings.secretFields), held), insteadOf: last)
            // It has the limits of the call, whatever those of what was sent were.
            held.set(Course(call: held.value.call.with(limitsOf: asked), arrival: last))
            return made
        } catch {
            throw givenUp(error, held)
        }
    }

    /// The call as its last sending left it, and what is known of what that brought.
    private struct Course: Sendable {
        var call: LiveCall
        var arrival: Arrival.Nature?
    }

    private func bring(
        _ changed: TransportRequest, insteadOf asked: TransportRequest, _ held: InterceptedResponse<Course>,
        _ bring: @escaping Bring
    ) async throws -> TransportResponse {
        try await sending(held) { call in
            try call.checkBody(of: changed, held)
            try await call.giveUp(held.begin(call.cancellation))
            call.request = try call.moved(changed, from: asked)
            defer { held.set(Course(call: call.with(part: part), arrival: held.value.arrival)) }
            let arrival = try await bring(&call)
            held.set(Course(call: call, arrival: arrival.nature))
            held.received(arrival.response, of: arrival.raw)
            return arrival.response
        }
    }

    /// The request as an interceptor around the call wants it. The way to another origin is the session's.
    private func moved(_ changed: TransportRequest, from asked: TransportRequest) throws -> TransportRequest {
        let origin = changed.head.origin
        if origin.isSame(as: asked.head.origin) { return within(changed, insteadOf: asked) }
        let builder = chain.settings.builder
        try builder.clearText.check(origin)
        let usual = origin.route == nil ? builder.routed(origin) : origin
        let routed = try delegate.settings?.routed(usual) ?? usual
        return within(changed, insteadOf: asked).with { $0.head.origin = routed }
    }
}

// MARK: - Both

extension LiveCall {
    /// Sends on the loop, with a cancellation of its own: whoever cancels `next` cancels what that sends, and no more.
    private func sending<Value: Sendable>(
        _ held: InterceptedResponse<Value>, _ send: @Sendable (inout LiveCall) async throws -> TransportResponse
    ) async throws -> TransportResponse {
        let own = CallPart(of: self)
        return try await withTaskCancellationHandler {
            try await withTaskExecutorPreference(loop) { @concurrent in
                var call = with(part: own)
                call.start = loop.now()
                do {
                    let response = try await send(&call)
                    await loop.leave()
                    return response
                } catch {
                    held.failed(error, own.cancellation)
                    throw error
                }
            }
        } onCancel: {
            own.cancellation.cancel(.task)
        }
    }

    /// Gives up what was sent before, if this is not the first request.
    private mutating func giveUp<Value: Sendable>(
        _ former: InterceptedResponse<Value>.Sent?
    ) async throws {
        guard let former else { return }
        var hop = former.hop
        if let stream = former.stream {
            hop = try await discard(stream)
            callTransport.abandon(stream, Self.gone)
        }
        former.cancellation.cancel(.handle)
        if let hop { callHistory.append(hop) }
        start = loop.now()
    }

    /// Refused before anything is given up: the interceptor may return what it has.
    private func checkBody<Value: Sendable>(
        of request: TransportRequest, _ held: InterceptedResponse<Value>
    ) throws {
        guard held.end() != nil, !request.body.canBeSent else { return }
        throw NetworkError(
            .bodyNotReplayable, "an interceptor sends again, and the body can be sent once only",
            requestMayHaveBeenSent: true)
    }

    private static var gone: NetworkError {
        NetworkError(
            .bodyConsumed, "the response was given up: its interceptor sent again, or returned another",
            phase: .receive)
    }

    /// The response that the interceptors returned. A stream of their own is read within the call's limits.
    private func taken<Value: Sendable>(
        _ response: TransportResponse, _ held: InterceptedResponse<Value>
    ) throws -> TransportResponse {
        guard !response.head.status.isInformational else {
            throw NetworkError(
                .interceptorFailed, "an interceptor returned status \(response.head.status), which is no response")
        }
        let last = held.end()
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
    private func givenUp<Value: Sendable>(_ error: any Error, _ held: InterceptedResponse<Value>) -> any Error {
        let last = held.end()
        let hop = last?.stream?.hop ?? last?.hop
        if let stream = last?.stream { callTransport.abandon(stream, Self.gone) }
        last?.cancellation.cancel(.handle)
        let isOver = delegate.cancellation.cause != nil || loop.now() >= request.deadline
        let known = isOver ? held.explained(error) : error
        return hop.map { failing(known, after: $0) } ?? known
    }

    /// The request as an interceptor wants it: its secrets are marked, its deadline is that of `asked` at most, and its
    /// origin is reached as before.
    private func within(_ changed: TransportRequest, insteadOf asked: TransportRequest) -> TransportRequest {
        let deadline = min(changed.deadline, asked.deadline, InheritedDeadline.present?.time ?? .never)
        if changed === asked, deadline == asked.deadline { return changed }
        return changed.with { changes in
            changes.head.fields.mark(chain.settings.secretFields)
            chain.settings.builder.leaveOutCodingsOfPart(&changes.head.fields, insteadOf: asked.head.fields)
            changes.deadline = deadline
            if changes.head.origin.route == nil, changes.head.origin.isSame(as: asked.head.origin) {
                changes.head.origin = asked.head.origin
            }
        }
    }
}

extension LiveCall {
    fileprivate func with(part: CallPart?) -> LiveCall {
        var call = self
        call.part = part
        return call
    }

    fileprivate func with(hopsOf other: LiveCall) -> LiveCall {
        var call = self
        call.callHistory = other.callHistory
        return call
    }

    fileprivate func with(limitsOf asked: TransportRequest) -> LiveCall {
        var call = self
        call.request = request.with { ($0.deadline, $0.timeouts) = (asked.deadline, asked.timeouts) }
        return call
    }
}

extension TransportResponse {
    /// The same response. One that an interceptor made itself gets the hop that led to it.
    fileprivate func counted(as hop: HTTP.Hop?) -> TransportResponse {
        guard let hop, self.hop == HTTP.Hop() else { return self }
        return with(body, hop)
    }
}
