internal import DunlinReactor
internal import DunlinTransport

/// From a call to the response that its sink takes: attempt by attempt, hop by hop, each an exchange.
extension LiveCall {
    /// Brings a response and has it taken. Where a retry policy allows it, both are repeated, unless a hook has seen
    /// the response and may not see another.
    mutating func attempt<Value>(
        _ take: (inout LiveCall, TransportResponse) async throws -> Value
    ) async throws -> Value {
        let mayTakeAgain = !hasHook(\.data) && !hasHook(\.response)
        var drivers = StageDrivers(for: self)
        while true {
            if let value = try await attempted(&drivers, mayTakeAgain, take) { return value }
            try await drivers.rest(&self)
            start = loop.now()
        }
    }

    /// Nil if the call is to be sent again; the response and its connection have been given up by then.
    private mutating func attempted<Value>(
        _ drivers: inout StageDrivers, _ mayTakeAgain: Bool,
        _ take: (inout LiveCall, TransportResponse) async throws -> Value
    ) async throws -> Value? {
        let response = try await answer(&drivers)
        do {
            return try await take(&self, response)
        } catch  where mayTakeAgain {
            try await drivers.undelivered(error, &self)
            return nil
        }
    }

    /// The response to deliver, with its head. Nothing is sent again once the caller has that.
    package mutating func answer() async throws -> TransportResponse {
        var drivers = StageDrivers(for: self)
        return try await answer(&drivers)
    }

    /// As `answer`, past the interceptors around the call; its hooks and codings are for the caller to see to. Its body
    /// may be one that an interceptor made.
    package mutating func answerToPart() async throws -> (response: TransportResponse, isMade: Bool) {
        let arrival = try await intercepted { call in
            let response = try await call.answer()
            return Arrival(response, of: response, isChanged: call.hasMadeBody, nil)
        }
        return (arrival.response, arrival.isChanged)
    }

    /// Sends hop by hop until there is a response to deliver.
    private mutating func answer(_ drivers: inout StageDrivers) async throws -> TransportResponse {
        chosen = nil
        while true {
            let sendings = try await delegate.begin(drivers.why, part: part?.number)
            if let response = try await hop(&drivers, sendings) { return response }
            try await drivers.rest(&self)
            start = loop.now()
        }
    }

    /// Sends once, and asks the stages what they make of it. Nil if the call is to be sent again.
    // Inlined, for every request takes this step.
    @inline(__always)
    private mutating func hop(
        _ drivers: inout StageDrivers, _ sendings: SendingMachine?
    ) async throws -> TransportResponse? {
        let outcome: Result<TransportResponse, any Error>
        do {
            (sent, hasMadeBody) = (nil, false)
            if callHistory?.steps.refreshRefusal != nil {
                callHistory = callHistory.with { $0.refreshRefusal = nil }
            }
            try await check(sendings)
            switch try await drivers.sending(&self) {
            case .request(let sending):
                if sending !== request { sent = sending }
                let isPlain = chain.exchangeInterceptors.isEmpty
                let response = isPlain ? try await exchange(sending) : try await interceptedExchange(sending)
                if drivers.mayPass(response.head.status) { return response }
                outcome = .success(response)
            case .answer(let response):
                try checkCancellation()
                outcome = .success(response)
            }
        } catch {
            outcome = .failure(explained(error))
        }
        // Consumed, because a response that is not delivered must be gone, with its connection, before the next is
        // awaited.
        return try await drivers.judge(consume outcome, &self)
    }

    /// One exchange as it goes over the wire, in as many rounds as a proxy asks who sends it.
    // Inlined, for every request takes this step.
    @inline(__always)
    mutating func exchange(_ request: TransportRequest) async throws -> TransportResponse {
        try checkPassword(of: request)
        observers?.recorded.note(request)
        var rounds: [HTTP.Hop] = []
        defer { for hop in rounds { callHistory.append(hop) } }
        do {
            let response = try await callTransport.exchange(request, of: self) { rounds.append($0) }
            if !rounds.isEmpty { await delegate.add(.proxy, rounds.count, part: part?.number) }
            return response
        } catch {
            if !rounds.isEmpty { await delegate.add(.proxy, rounds.count, part: part?.number) }
            throw error
        }
    }

    /// Throws if a password would be sent where everybody on the way can read it. Whoever chooses proxies is asked for
    /// each exchange, so the way that it takes is judged here.
    @inline(__always)
    private mutating func checkPassword(of request: TransportRequest) throws {
        guard chain.settings.builder.basic.policy == .refused, callTransport.sockets != nil else { return }
        let rule = chain.settings.builder.basic.under(connectionRules)
        guard rule.dependsOnWay(request.head) else { return }
        guard request.head.fields["authorization"]?.hasPrefix("Basic ") == true else { return }
        try rule.under(try choice(for: request.head)).check(request.head)
    }

    /// Throws if it would be sent too often.
    func check(_ sendings: SendingMachine?) async throws {
        guard let sendings else { return }
        let (own, usual) = (delegate.settings?.options, chain.settings)
        let redirects = own.map { $0.redirects.resolved(usual.redirects) ?? .never } ?? usual.redirects
        let retries = own.map { $0.retry.resolved(usual.retries.policy) ?? .never } ?? usual.retries.policy
        let limit = SendingMachine.limit(redirects: redirects.limit, attempts: retries.attempts)
        guard sendings.count > limit else { return }
        let sent = await delegate.refuse(part: part?.number)
        throw NetworkError(
            .sentTooOften,
            "the request was sent again \(sent.count) times, and \(limit) times is the most: \(sent.reasons)",
            requestMayHaveBeenSent: true, peer: request.head.origin.description)
    }

    /// Throws if the call was cancelled: an answer that nothing was waited for is not delivered then.
    private func checkCancellation() throws {
        if cancellation.cause != nil { throw cancellation.failure(isUnsent: true, limit: request.timeouts.total) }
    }

    /// Adds the URL that led to a server that is not trusted.
    private func explained(_ error: any Error) -> any Error {
        let origin = request.head.origin
        return NetworkError.explained(error, at: origin, url: origin.description + request.head.target)
    }
}
