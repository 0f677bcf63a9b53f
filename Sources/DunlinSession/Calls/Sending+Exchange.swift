internal import DunlinReactor
internal import DunlinTransport

/// Brings a call to the response that its sink takes: attempt by attempt and hop by hop, each an exchange.
extension Sending {
    /// A function that takes a response: it reads the body.
    typealias Take<Value> = (TransportResponse, inout Sending) async throws -> Value

    /// Brings a response and has it taken. A retry policy may repeat both, unless a hook has seen the response and may
    /// not see another.
    // Inlined, like all steps of a plain request's way.
    @inline(__always)
    mutating func attempt<Value>(_ take: Take<Value>) async throws -> Value {
        let mayTakeAgain = observers.map { !$0.hasHook(\.data) && !$0.hasHook(\.response) } ?? true
        forgetAttempt()
        try begin(nil)
        if mayRetry, chain.retries(delegate.settings) { return try await retrying(mayTakeAgain, take) }
        return try await taken(mayTakeAgain, take)
    }

    /// Brings a response and has it taken. If it is a stored one whose body cannot be read, another is asked for.
    @inline(__always)
    mutating func taken<Value>(
        _ mayTakeAgain: Bool, isRetried: Bool = false, _ take: Take<Value>
    ) async throws -> Value {
        while true {
            let response = try await isRetried ? responseOfAttempt() : response()
            do {
                return try await take(response, &self)
            } catch  where mayTakeAgain {
                try await forgetServed(after: error)
                callHistory = callHistory?.withoutLastStep
                try again(.cache)
            }
        }
    }

    /// The response to deliver, with its head. Nothing is sent again once the caller has it.
    package mutating func answer() async throws -> TransportResponse {
        try await attempt { response, _ in response }
    }

    /// Sends the request, and whatever the stages send after it. A plain request whose exchange is a success passes no
    /// stage; otherwise its outcome is known to them in place of their first exchange.
    @inline(__always)
    private mutating func response() async throws -> TransportResponse {
        try ask(request)
        let chain = chain
        if !chain.seesAll(of: self) {
            do {
                let response = try await exchange(request)
                if response.head.status < 300 { return response }
                known = KnownOutcome(position: chain.stages.count, outcome: .success(response))
            } catch {
                known = KnownOutcome(position: chain.stages.count, outcome: .failure(error))
            }
        }
        return try await chain.first(request, &self)
    }

    /// The response of an attempt that may be repeated, which is off a plain request's way.
    private mutating func responseOfAttempt() async throws -> TransportResponse { try await response() }

    /// Makes a request that of the current hop. Throws if it may not be sent, however long ago it was asked for and
    /// whatever led here: what is stored is no answer to it either.
    mutating func ask(_ request: TransportRequest) throws {
        (self.request, chosen) = (request, nil)
        try checkMayBeSent(request)
    }

    func checkMayBeSent(_ request: TransportRequest) throws {
        try chain.settings.builder.clearText.check(request.head.origin)
    }

    /// Sends once. Stages call it as what comes behind the last of them.
    @inline(__always)
    mutating func exchange(_ request: TransportRequest) async throws -> TransportResponse {
        do {
            var sending = request
            if let upgrade = delegate.settings?.exchangeOptions?.upgrade { sending = upgrade.renewed(sending) }
            if let observation = delegate.observation { sending = observation.begin(sending, &self) }
            if sending !== self.request { sent = sending }
            let response =
                chain.exchangeInterceptors.isEmpty
                ? try await carried(sending, watched) : try await intercepted(exchange: sending)
            return watched?.answered(response) ?? response
        } catch {
            watched?.failed(error, over: hop(of: error))
            throw explained(error)
        }
    }

    /// Makes one exchange over the wire, in as many rounds as a proxy needs for authentication. Notes what was sent.
    @inline(__always)
    mutating func carried(
        _ request: TransportRequest, _ observation: ExchangeObservation?
    ) async throws -> TransportResponse {
        try prepare(request)
        do {
            let response = try await callTransport.exchange(observation?.sends(request) ?? request, of: &self)
            note { $0.answered(request, response.head.status) }
            return response
        } catch {
            note { $0.failed(request, error) }
            throw error
        }
    }

    private mutating func prepare(_ request: TransportRequest) throws {
        observers?.note(request)
        note { $0.begin(request) }
        guard part != nil || chain.judgesWays(delegate.settings) else { return }
        if let judged = try judgedWay(of: request) { chosen = judged }
    }
}

// MARK: - The rules

extension Sending {
    /// Changes what is known of what was sent.
    mutating func note(_ change: (inout SentRequests) -> Void) {
        change(&sentRequests)
        delegate.noteSent(sentRequests.call)
    }

    /// Notes a hop after which a proxy required credentials.
    mutating func noteRound(_ hop: HTTP.Hop) {
        count.add(.proxy)
        callHistory.append(hop)
        note { $0.refusedByProxy() }
    }

    /// The way that was judged for a password; nil if there is nothing to judge. Warns if the password would be sent
    /// readable for everybody on the way, and throws if it may not be. A chooser of proxies is asked for each exchange,
    /// so the way actually taken is judged here.
    private func judgedWay(of request: TransportRequest) throws -> ChosenTerms? {
        guard chain.settings.builder.basic.judgesEachWay, callTransport.sockets != nil else { return nil }
        let rule = chain.settings.builder.basic.under(asking.connectionRules)
        guard rule.dependsOnWay(request.head) else { return nil }
        guard request.head.fields["authorization"]?.hasPrefix("Basic ") == true else { return nil }
        let chosen = try asking.choice(for: request.head)
        try rule.under(chosen).check(request.head)
        return chosen
    }

    /// Throws if the call was cancelled: an answer that needed no wait is not delivered then.
    func checkCancellation() throws {
        if cancellation.cause != nil { throw cancellation.failure(isUnsent: true, limit: request.timeouts.total) }
    }

    /// Adds the URL that led to a server that is not trusted.
    private func explained(_ error: any Error) -> any Error {
        let origin = request.head.origin
        return NetworkError.explained(
            error, at: origin, url: origin.description + request.head.target, hiding: session.secretFields)
    }
}

// MARK: - What is delivered

extension Sending {
    /// Sends, and returns the response that hooks have accepted. The response to a range continues after `base`
    /// existing bytes; with nil for `total`, it brings the rest.
    package mutating func arrival(appendingTo base: Int = 0, of total: Int? = nil) async throws -> Arrival {
        try await intercepted { sending in
            let response = try await sending.answer()
            return try await sending.admit(response, appendingTo: base, of: total)
        }
    }

    /// The state of another part of the call, which begins anew.
    package func beginning(_ part: CallPart, _ request: TransportRequest, _ count: SendingMachine) -> Sending {
        var sending = self
        (sending.part, sending.request, sending.count) = (part, request, count)
        (sending.start, sending.callHistory, sending.mayRetry) = (loop.now(), delegate.settings?.callHistory, false)
        (sending.watched, sending.retries) = (nil, 0)
        return sending
    }
}

extension TaskDelegate {
    /// Sends a part of the call in parallel, on the call's loop. The caller takes care of hooks and codings; the
    /// arrival says whether an interceptor made the body. Also returns the part as it is then.
    package func bring(_ part: Sending) async -> (answer: Result<Sending.Arrival, any Error>, part: Sending) {
        var part = part
        do {
            let arrival = try await part.intercepted { sending in
                let response = try await sending.answer()
                return Sending.Arrival(response, of: response, isChanged: sending.hasMadeBody, nil)
            }
            return (.success(arrival), part)
        } catch {
            return (.failure(error), part)
        }
    }
}
