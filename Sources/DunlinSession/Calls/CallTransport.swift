internal import DunlinReactor
internal import DunlinSemantics
package import DunlinTransport
internal import DunlinWire

/// Carries a session's calls: by Dunlin's own sockets, whose type is named so that the hot path has no indirection, or
/// by a custom transport.
package final class CallTransport: Sendable {
    package let sockets: SocketTransport?
    private let custom: (any Transport)?
    /// The rules for a custom transport's requests, as far as they can be applied without knowing what it dials.
    private let connectionRules: ConnectionRules?
    /// The limits that a custom transport is given for judging responses.
    private let limits: WireLimits

    init(_ sockets: SocketTransport) {
        self.sockets = sockets
        (custom, connectionRules, limits) = (nil, nil, WireLimits())
    }

    init(custom: any Transport, _ connectionRules: ConnectionRules? = nil, limits: WireLimits = WireLimits()) {
        sockets = nil
        self.custom = custom
        self.connectionRules = connectionRules
        self.limits = limits
    }

    /// Makes one exchange, in as many rounds as a proxy needs for authentication.
    @inline(__always)
    func exchange(_ request: TransportRequest, of sending: inout Sending) async throws -> TransportResponse {
        guard let sockets else { return try await customExchange(request, of: sending) }
        let exchangeOptions = sending.part?.exchangeOptions ?? sending.delegate.settings?.exchangeOptions
        return try await sockets.exchange(
            request, cancellation: sending.cancellation, uploads: sending.uploads, exchangeOptions: exchangeOptions,
            chosen: sending.chosen, observer: sending.observers?.reporter(for: sending.delegate),
            number: sending.delegate.id.rawValue, since: sending.start, on: sending.loop
        ) {
            sending.noteRound($0)
        }
    }

    private func customExchange(_ request: TransportRequest, of sending: Sending) async throws -> TransportResponse {
        guard let custom else { throw NetworkError(.invalidConfiguration, "the session has no transport") }
        let exchangeOptions = sending.part?.exchangeOptions ?? sending.delegate.settings?.exchangeOptions
        let rules = sending.delegate.settings?.exchangeOptions?.connectionRules ?? connectionRules
        if let refusal = rules?.guardRules?.refusal(of: request.head.origin) {
            throw NetworkError(refusal, request.head.origin)
        }
        // Dunlin's own sockets wait before they write, and send nothing when time is up.
        try await sending.pass(isUnsent: sending.callHistory?.hops.isEmpty ?? true)
        try sending.chain.settings.builder.clearText.check(request.head.origin)
        if sending.loop.now() >= request.deadline {
            throw NetworkError(
                .timedOut, "the request timed out", phase: sending.cancellation.phase, isSafeToRetry: true,
                exceeding: .total, limit: request.timeouts.total)
        }
        let reporter = sending.observers?.reporter(for: sending.delegate)
        reporter?.saw(.requestHead(request.head))
        let upgrade = exchangeOptions?.upgrade
        let scope = ExchangeScope(
            on: sending.loop, exchangeOptions?.control, limits: limits, upgrade: upgrade,
            hiding: sending.session.secretFields)
        let response: TransportResponse
        do {
            response = try await self.withinLimits(
                until: request.deadline, request.timeouts.total, sending.cancellation, on: sending.loop
            ) {
                try await ExchangeScope.$present.withValue(scope) { try await custom.exchange(request) }
            }
        } catch {
            throw scope.explained(error)
        }
        if response.head.status == .switchingProtocols { try Self.check(response, to: request, upgrade) }
        // It is not known when they came.
        for head in response.interim { reporter?.saw(.interimHead(head)) }
        reporter?.saw(.responseHead(response.head))
        return response
    }

    /// Throws unless a 101 answers what the request offered, and brings the connection.
    private static func check(
        _ response: TransportResponse, to request: TransportRequest, _ upgrade: UpgradeOptions?
    ) throws {
        do throws(UpgradeError) {
            guard upgrade != nil, let offer = UpgradeOffer(in: request.head.fields),
                case .stream(let stream) = response.body, stream.duplexStream != nil
            else { throw .notAsked }
            _ = try offer.accepted(by: response.head)
        } catch {
            throw NetworkError(
                .invalidResponse, "\(error)", phase: .receive, requestMayHaveBeenSent: true, underlying: error,
                response: response.head)
        }
    }

    /// Closes the connection of one of Dunlin's own bodies that nobody reads any more; later reads get `error`.
    package func discard(_ body: any TransportResponse.BodyStream, _ error: any Error) {
        if let sockets { sockets.discard(Self.source(of: body), error) } else { body.duplexStream?.close() }
        ReportingBody.leave(body)
    }

    /// Drains a body, as `SocketTransport.drain` does. With a limit of 0 it is left: nobody reads any more of it.
    package func drain(
        _ body: any TransportResponse.BodyStream, upTo limit: Int, until deadline: HTTP.Instant
    ) async throws {
        defer { if limit == 0 { ReportingBody.leave(body) } }
        try await sockets?.drain(Self.source(of: body), upTo: limit, until: deadline)
    }

    /// Hurries a body, as `SocketTransport.hurry` does.
    package func hurry(_ body: any TransportResponse.BodyStream, until deadline: HTTP.Instant) throws {
        try sockets?.hurry(Self.source(of: body), until: deadline)
    }

    /// The body that a body reads from: an interceptor may have wrapped one of Dunlin's own.
    static func source(of body: any TransportResponse.BodyStream) -> any TransportResponse.BodyStream {
        var body = body
        while let source = (body as? any WrappedBody)?.source { body = source }
        return body
    }

    /// Runs work that supports only task cancellation, and stops it when the call is cancelled or its deadline comes.
    /// Its error names `phase`, or the phase given to the cancellation.
    func withinLimits<Value: Sendable>(
        until deadline: HTTP.Instant, _ limit: Duration?, _ cancellation: Cancellation, on loop: Reactor,
        in phase: HTTP.Phase? = nil,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        do {
            return try await Race.run(until: deadline, cancellation, on: loop, work)
        } catch let lost as Race.Lost {
            guard lost == .timedOut || cancellation.cause == .deadline else { throw cancellation.failure() }
            throw NetworkError(
                .timedOut, "the request timed out", phase: phase ?? cancellation.phase,
                requestMayHaveBeenSent: true, exceeding: .total, limit: limit)
        }
    }
}

extension NetworkError {
    /// Creates the error for what the guard forbids before anything was dialled.
    init(_ refusal: GuardRefusal, _ origin: HTTP.Origin) {
        self.init(
            .guardRefused, "\(refusal)", phase: .connect, isSafeToRetry: true, peer: origin.description,
            underlying: refusal)
    }
}
