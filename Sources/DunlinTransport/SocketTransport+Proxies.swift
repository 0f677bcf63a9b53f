internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTypes
internal import DunlinWire

/// Exchanges that an HTTP proxy reads and forwards: in absolute form, and with an answer if the proxy asks who sends.
extension SocketTransport {
    /// How often a proxy may ask for one request.
    private static let mostChallenges = 5
    /// How much of a challenge's body is read to reuse its connection.
    private static let readChallenge = 64 << 10
    /// How much of a refusal's body is kept for its error.
    private static let readRefusal = 4 << 10
    /// How long either may take, in nanoseconds.
    private static let longestWait: Int64 = 1_000_000_000

    /// Makes an exchange through a forwarding proxy. Each round is a separate hop; `noting` is called with all but the
    /// last.
    func forwardedExchange(
        _ context: ExchangeContext, _ uploads: UploadScope?, noting: (HTTP.Hop) -> Void
    ) async throws -> TransportResponse {
        guard let proxy = context.connectionTerms?.proxy else {
            return try await Exchange.run(context, through: self, uploads)
        }
        let login = ProxyLogin(proxy: proxy, memory: connector.proxyMemory)
        let body = context.request.body
        // Without credentials there is nothing to answer, and no second round.
        if proxy.credentials == nil {
            let response = try await Exchange.run(context, through: self, uploads)
            guard response.head.status == .proxyAuthenticationRequired else { return response }
            throw try await refusal(
                response, login.challenged(response.head, to: HashedRequest(context.request.head, body), after: nil),
                context)
        }
        var asked = HashedRequest(try RequestMessage.absolute(context, nil), body)
        try await hash(&asked, by: [login.memory.bodyHashFunction(for: proxy)].compactMap(\.self), context)
        var sent = try login.unasked(asked)
        var round = 1
        while true {
            let authorized = context.authorized(sent?.value, isFirst: round == 1)
            let response = try await Exchange.run(authorized, through: self, uploads)
            // Only the proxy may ask with this status; those it forwards to must not (RFC 9110 §15.5.8).
            guard response.head.status == .proxyAuthenticationRequired else { return response }
            try await hash(&asked, for: response, context)
            let decision = login.challenged(response.head, to: asked, after: sent)
            guard case .send(let next) = decision, round < Self.mostChallenges, body.canBeSent else {
                throw try await refusal(response, decision, authorized)
            }
            noting(try await discard(challenge: response, context))
            sent = next
            round += 1
        }
    }

    /// Hashes a long body for the answer to a challenge. If that fails, the challenge's connection is closed.
    private func hash(
        _ request: inout HashedRequest, for response: TransportResponse, _ context: ExchangeContext
    ) async throws {
        guard context.request.body.canBeSent else { return }
        let choice = ChallengeChoice(Challenge.all(in: response.head.fields, from: .proxy))
        do {
            try await hash(&request, by: choice.options.compactMap(\.bodyHashFunction), context)
        } catch {
            if case .stream(let body) = response.body { discard(body, error) }
            throw error
        }
    }

    /// Hashes a long body ahead, off the loop.
    private func hash(
        _ request: inout HashedRequest, by functions: @autoclosure () -> [HashFunction], _ context: ExchangeContext
    ) async throws {
        let begun = context.clock.now()
        do {
            try await request.hash(by: functions()) { work in
                try await Race.run(until: context.clock.whole, context.cancellation, on: context.clock.reactor, work)
            }
        } catch let lost as Race.Lost {
            throw context.failure(lost == .cancelled ? .cancelled : .timedOut, in: .send, since: begun, context.hop)
        }
    }

    /// Reads the body of a challenge. One that breaks off or stalls is still a challenge: its connection is closed, and
    /// the answer uses another. Returns the hop.
    private func discard(challenge response: TransportResponse, _ context: ExchangeContext) async throws -> HTTP.Hop {
        guard case .stream(let body) = response.body else { return response.hop }
        do {
            try await drain(body, upTo: Self.readChallenge, until: soon(context))
        } catch {
            if isOver(context) { throw error }
        }
        return body.hop
    }

    private func soon(_ context: ExchangeContext) -> HTTP.Instant {
        min(context.clock.now().advanced(by: Self.longestWait), context.clock.whole)
    }

    private func isOver(_ context: ExchangeContext) -> Bool {
        context.cancellation.cause != nil || context.clock.now() >= context.clock.whole
    }

    /// The beginning of a body, or what comes of it soon; its connection is closed. Throws if the request is over.
    private func beginning(
        of body: any TransportResponse.BodyStream, _ context: ExchangeContext
    ) async throws -> Bytes {
        var bytes: [UInt8] = []
        do {
            try hurry(body, until: soon(context))
            while bytes.count < Self.readRefusal, let piece = try await body.next() { bytes += piece.array }
        } catch {
            if isOver(context) { throw error }
        }
        discard(body, NetworkError(.bodyConsumed, "the rest of the proxy's refusal is not read", phase: .receive))
        return Bytes(Array(bytes.prefix(Self.readRefusal)))
    }

    private func refusal(
        _ response: TransportResponse, _ decision: ProxyLogin.Decision, _ context: ExchangeContext
    ) async throws -> NetworkError {
        let proxy = context.connectionTerms?.proxy?.description ?? ""
        var reason = "the proxy refused the user name and the password in its URL"
        if case .fail(let problem) = decision { reason = problem }
        if case .send = decision, !context.request.body.canBeSent {
            reason =
                "the proxy asks for credentials, and the request's body can be sent once only; "
                + "give the body as bytes, a file or `.replayable`"
        }
        var (body, hop) = (Bytes.empty, response.hop)
        switch response.body {
        case .bytes(let bytes): body = bytes[..<min(bytes.count, Self.readRefusal)]
        case .stream(let stream):
            body = try await beginning(of: stream, context)
            hop = stream.hop
        }
        var error = context.error(.proxyAuthenticationFailed, reason, in: .firstByte, hop)
        error.peer = "the proxy \(proxy)"
        error.response = response.head
        error.body = body
        return error
    }
}
