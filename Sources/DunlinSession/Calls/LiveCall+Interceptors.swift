internal import DunlinReactor
internal import DunlinTransport

/// The two places where interceptors stand: around each exchange, and around all that brings a response.
extension LiveCall {
    /// One exchange.
    mutating func exchange(_ request: TransportRequest) async throws -> TransportResponse {
        let line = chain.exchangeInterceptors
        if line.isEmpty { return try await callTransport.exchange(request, of: self) }
        let held = InterceptedResponse(self)
        defer { callHistory = held.value.callHistory }
        do {
            let response = try await line.run(request, of: self) { changed in
                let call = held.value
                return try await call.send(try call.admitted(changed, insteadOf: request), held)
            }
            return owned(response, held.take())
        } catch {
            abandon(held.take())
            throw held.explained(error)
        }
    }

    /// Sends on the loop, after what was received before has been given up.
    private func send(
        _ request: TransportRequest, _ held: InterceptedResponse<LiveCall>
    ) async throws -> TransportResponse {
        try await withTaskExecutorPreference(loop) { @concurrent in
            var call = self
            do {
                try await call.giveUp(held, for: request)
                held.set(call)
                let response = try await callTransport.exchange(request, of: call)
                    .marking(chain.settings.secretFields)
                held.received(response)
                await loop.leave()
                return response
            } catch {
                held.failed(error)
                throw error
            }
        }
    }

    /// Gives up what was received before, if this is not the first request to be sent.
    private mutating func giveUp<Value: Sendable>(
        _ held: InterceptedResponse<Value>, for request: TransportRequest
    ) async throws {
        if held.begin() { return }
        if let former = held.take() {
            callHistory.append(try await discard(former))
            abandon(former)
        }
        guard request.body.canBeSent else {
            throw NetworkError(
                .bodyNotReplayable, "an interceptor sends again, and the body can be sent once only",
                requestMayHaveBeenSent: true)
        }
        start = loop.now()
    }

    /// The request that is sent around an exchange: another origin would get the fields and cookies of this one.
    private func admitted(
        _ changed: TransportRequest, insteadOf request: TransportRequest
    ) throws -> TransportRequest {
        guard changed.head.origin.isSame(as: request.head.origin) else {
            throw NetworkError(
                .interceptorFailed,
                "an exchange with \(request.head.origin) cannot go to \(changed.head.origin): do that around the call",
                isSafeToRetry: false)
        }
        return within(changed)
    }

    /// The request as an interceptor wants it: its secrets are marked, and its deadline is the call's at most.
    private func within(_ changed: TransportRequest) -> TransportRequest {
        if changed === request { return changed }
        return changed.with { changes in
            changes.head.fields.mark(chain.settings.secretFields)
            changes.deadline = min(changes.deadline, request.deadline)
        }
    }
}

extension LiveCall {
    package typealias Bring = @Sendable (inout LiveCall) async throws -> Arrival

    /// Whether interceptors stand around the call.
    package var isIntercepted: Bool { !chain.callInterceptors.isEmpty }

    /// What `bring` brings, or what the interceptors around the call make of it.
    package mutating func intercepted(_ bring: @escaping Bring) async throws -> Arrival {
        guard isIntercepted else { return try await bring(&self) }
        let held = InterceptedResponse(Course(call: self))
        defer { self = held.value.call }
        do {
            let asked = request
            let response = try await chain.callInterceptors.run(asked, of: self) { request in
                try await Self.bring(request, insteadOf: asked, held, bring)
            }
            let last = held.take()
            guard let arrival = held.value.arrival, arrival.response === response else {
                return Arrival(response: owned(response, last), insteadOf: held.value.arrival)
            }
            return arrival
        } catch {
            abandon(held.take())
            throw held.explained(error)
        }
    }

    /// The call as its last sending left it, and what that brought.
    private struct Course: Sendable {
        var call: LiveCall
        var arrival: Arrival?
    }

    /// The request as an interceptor around the call wants it. To another origin it takes no secrets of this one's, and
    /// the way there is the session's.
    private func moved(_ changed: TransportRequest, from asked: TransportRequest) throws -> TransportRequest {
        let (former, origin) = (asked.head, changed.head.origin)
        if origin.isSame(as: former.origin) { return within(changed) }
        let settings = chain.settings
        try settings.builder.clearText.check(origin)
        let usual = origin.route == nil ? settings.builder.routed(origin) : origin
        let routed = try delegate.settings?.routed(usual) ?? usual
        let policy = delegate.settings?.options.redirects.resolved(settings.redirects) ?? settings.redirects
        return within(changed).with { changes in
            changes.head.origin = routed
            changes.head.fields = RedirectMachine.fields(
                changes.head.fields, to: origin, insteadOf: former.fields, for: former.origin, policy)
        }
    }

    private static func bring(
        _ request: TransportRequest, insteadOf asked: TransportRequest, _ held: InterceptedResponse<Course>,
        _ bring: @escaping Bring
    ) async throws -> TransportResponse {
        let loop = held.value.call.loop
        return try await withTaskExecutorPreference(loop) { @concurrent in
            var call = held.value.call
            do {
                try await call.giveUp(held, for: request)
                call.request = try call.moved(request, from: asked)
                let arrival = try await bring(&call)
                held.set(Course(call: call, arrival: arrival))
                held.received(arrival.raw)
                await loop.leave()
                return arrival.response
            } catch {
                held.set(Course(call: call))
                held.failed(error)
                throw error
            }
        }
    }
}
