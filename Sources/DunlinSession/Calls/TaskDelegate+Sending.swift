internal import DunlinReactor
internal import DunlinTransport

/// Brings a call to the response that its sink takes: attempt by attempt and hop by hop, each an exchange.
extension TaskDelegate {
    /// A function that takes a response or asks for one.
    package typealias Step<Input, Output> = (isolated TaskDelegate, Input) async throws -> Output

    /// Brings a response and has it taken. A retry policy may repeat both, unless a hook has seen the response and may
    /// not see another.
    // Inlined, like all steps of a plain request's way: each call of an isolated function costs two switches.
    @inline(__always)
    func attempt<Value>(_ id: SendingID, _ take: Step<TransportResponse, Value>) async throws -> Value {
        let mayTakeAgain = observers.map { !$0.hasHook(\.data) && !$0.hasHook(\.response) } ?? true
        var drivers = drivers(id)
        while true {
            if let value = try await attempted(id, &drivers, mayTakeAgain, take) { return value }
            try await rest(id, &drivers)
        }
    }

    private func drivers(_ id: SendingID) -> StageDrivers {
        change(id) { $0.sentRequests.beginAttempt() }
        return StageDrivers(read(id) { $0.chain }, settings, for: self[id])
    }

    /// Returns nil if the call is to be sent again; the response and its connection have been discarded by then.
    @inline(__always)
    private func attempted<Value>(
        _ id: SendingID, _ drivers: inout StageDrivers, _ mayTakeAgain: Bool, _ take: Step<TransportResponse, Value>
    ) async throws -> Value? {
        let response = try await answer(id, &drivers)
        do {
            return try await take(self, response)
        } catch  where mayTakeAgain {
            try await drivers.undelivered(error, id, of: self)
            return nil
        }
    }

    /// The response to deliver, with its head. Nothing is sent again once the caller has it.
    package func answer(_ id: SendingID) async throws -> TransportResponse {
        var drivers = drivers(id)
        return try await answer(id, &drivers)
    }

    /// Sends hop by hop until there is a response to deliver.
    @inline(__always)
    private func answer(_ id: SendingID, _ drivers: inout StageDrivers) async throws -> TransportResponse {
        change(id) { $0.chosen = nil }
        while true {
            let sendings = try begin(drivers.why, part: part(id)?.number)
            if let response = try await hop(id, &drivers, sendings) { return response }
            try await rest(id, &drivers)
        }
    }

    /// Returns when the call may be sent again.
    private func rest(_ id: SendingID, _ drivers: inout StageDrivers) async throws {
        if let observation { observation.again(drivers.why, id, of: self[id]) }
        try await drivers.rest(id, of: self)
        change(id) { $0.start = loop.now() }
    }

    /// Sends once, and asks the stages about the outcome. Returns nil if the call is to be sent again.
    @inline(__always)
    private func hop(
        _ id: SendingID, _ drivers: inout StageDrivers, _ sendings: SendingMachine?
    ) async throws -> TransportResponse? {
        let outcome: Result<TransportResponse, any Error>
        var exchange: ExchangeObservation?
        do {
            change(id) { $0.beginHop() }
            if let sendings { try check(sendings, self[id]) }
            let asked = read(id) { $0.request }
            // However long ago it was asked for, and whatever led here: what is stored is no answer to it either.
            try drivers.chain.settings.builder.clearText.check(asked.head.origin)
            let outgoing = drivers.isEmpty ? .send(asked) : try await drivers.sending(id, of: self)
            switch outgoing {
            case .send(var sending):
                if let upgrade = settings?.exchangeOptions?.upgrade { sending = upgrade.renewed(sending) }
                if let observation {
                    let begun = observation.begin(sending, id, of: self[id])
                    (exchange, sending) = (begun.exchange, begun.request)
                    change(id) { $0.added = begun.added }
                }
                if sending !== asked { change(id) { $0.sent = sending } }
                var response =
                    drivers.chain.exchangeInterceptors.isEmpty
                    ? try await self.exchange(sending, id) : try await interceptedExchange(sending, id)
                if let exchange { response = exchange.answered(response) }
                if drivers.mayPass(response.head.status) { return response }
                outcome = .success(response)
            case .answer(let response):
                try self[id].checkCancellation()
                outcome = .success(response)
            }
        } catch {
            exchange?.failed(error, over: self[id].hop(of: error))
            outcome = .failure(self[id].explained(error))
        }
        // Consumed, because a response that is not delivered must be released with its connection before the next is
        // awaited.
        return try await drivers.judge(consume outcome, id, of: self)
    }

    /// Makes one exchange over the wire, in as many rounds as a proxy needs for authentication. Notes what was sent.
    @inline(__always)
    func exchange(_ request: TransportRequest, _ id: SendingID) async throws -> TransportResponse {
        let call = try beginExchange(request, id)
        do {
            let response = try await call.callTransport.exchange(request, of: call) { note($0, id) }
            change(id) { $0.sentRequests.answered(request, response.head.status) }
            return response
        } catch {
            change(id) { $0.sentRequests.failed(request, error) }
            throw error
        }
    }

    /// Begins an exchange. Returns the sending's state.
    private func beginExchange(_ request: TransportRequest, _ id: SendingID) throws -> LiveCall {
        observers?.recorded.note(request)
        change(id) { $0.sentRequests.begin(request) }
        let call = self[id]
        guard call.part != nil || call.chain.judgesWays(settings), let chosen = try call.judgedWay(of: request) else {
            return call
        }
        change(id) { $0.chosen = chosen }
        return self[id]
    }

    /// Notes a hop after which a proxy required credentials.
    private func note(_ hop: HTTP.Hop, _ id: SendingID) {
        add(.proxy, part: part(id)?.number)
        change(id) { call in
            call.callHistory.append(hop)
            call.sentRequests.refusedByProxy()
        }
    }

    /// The part of the call that a sending is; nil if it is the call itself.
    private func part(_ id: SendingID) -> CallPart? { id == .main ? nil : read(id) { $0.part } }

    /// Throws if the call would be sent too often.
    func check(_ sendings: SendingMachine, _ call: LiveCall) throws {
        let limit = call.mostSendings
        guard sendings.count > limit else { return }
        let sent = refuse(part: call.part?.number)
        throw NetworkError(
            .sentTooOften,
            "the request was sent again \(sent.count) times (\(sent.reasons)); at most \(limit) are permitted: "
                + "`limits.resends` plus allowed retries and redirects",
            requestMayHaveBeenSent: true, peer: call.request.head.origin.description)
    }
}

// MARK: - What is delivered

extension TaskDelegate {
    /// Sends, and returns the response that hooks have accepted. The response to a range continues after `base`
    /// existing bytes; with nil for `total`, it brings the rest.
    package func arrival(
        _ id: SendingID, appendingTo base: Int = 0, of total: Int? = nil
    ) async throws -> LiveCall.Arrival {
        return try await intercepted(id) { delegate, id in
            // In two steps, because what the answer changes in the call is known only then.
            let response = try await delegate.answer(id)
            return try await delegate[id].admit(response, appendingTo: base, of: total)
        }
    }

    /// Sends a part of the call in parallel, past the interceptors around the call; the caller takes care of hooks and
    /// codings. Also returns the part's final state. `isMade` says whether an interceptor made the body.
    package func bring(
        _ part: LiveCall
    ) async -> (answer: Result<(response: TransportResponse, isMade: Bool), any Error>, part: LiveCall) {
        let id = begin(part)
        do {
            let arrival = try await intercepted(id) { delegate, id in
                let response = try await delegate.answer(id)
                return LiveCall.Arrival(response, of: response, isChanged: delegate[id].hasMadeBody, nil)
            }
            return (.success((arrival.response, arrival.isChanged)), endPart(id) ?? part)
        } catch {
            return (.failure(error), endPart(id) ?? part)
        }
    }

    /// Ends a part. What was sent for it counts as sent for the call.
    private func endPart(_ id: SendingID) -> LiveCall? {
        let part = end(id)
        if let part { change(.main) { $0.sentRequests.add(part.sentRequests) } }
        return part
    }
}

// MARK: - The rules

extension LiveCall {
    /// Begins another hop: forgets what was known of the last one.
    fileprivate mutating func beginHop() {
        (sent, hasMadeBody, added) = (nil, false, [])
        sentRequests.beginHop()
        if callHistory?.steps.refreshRefusal != nil { callHistory = callHistory.with { $0.refreshRefusal = nil } }
    }

    /// How often the call may be sent again, for all reasons together.
    fileprivate var mostSendings: Int {
        SendingMachine.limit(
            session.configuration.limits.resends, redirects: redirectPolicy.limit, attempts: retryPolicy.attempts)
    }

    /// The way that was judged for a password; nil if there is nothing to judge. Warns if the password would be sent
    /// readable for everybody on the way, and throws if it may not be. A chooser of proxies is asked for each exchange,
    /// so the way actually taken is judged here.
    fileprivate func judgedWay(of request: TransportRequest) throws -> ChosenTerms? {
        guard chain.settings.builder.basic.judgesEachWay, callTransport.sockets != nil else { return nil }
        let rule = chain.settings.builder.basic.under(asking.connectionRules)
        guard rule.dependsOnWay(request.head) else { return nil }
        guard request.head.fields["authorization"]?.hasPrefix("Basic ") == true else { return nil }
        let chosen = try asking.choice(for: request.head)
        try rule.under(chosen).check(request.head)
        return chosen
    }

    /// Throws if the call was cancelled: an answer that needed no wait is not delivered then.
    fileprivate func checkCancellation() throws {
        if cancellation.cause != nil { throw cancellation.failure(isUnsent: true, limit: request.timeouts.total) }
    }

    /// Adds the URL that led to a server that is not trusted.
    fileprivate func explained(_ error: any Error) -> any Error {
        let origin = request.head.origin
        return NetworkError.explained(
            error, at: origin, url: origin.description + request.head.target, hiding: session.secretFields)
    }
}
