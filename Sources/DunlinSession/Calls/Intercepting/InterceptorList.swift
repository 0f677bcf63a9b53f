internal import DunlinReactor
internal import DunlinRules

/// A session's interceptors at one place. A request passes them from first to last, off the loop, and then what they
/// surround.
struct InterceptorList: Sendable {
    private let scope: HTTPSession.Interception.Scope
    private let interceptors: [any HTTPSession.Interceptor]

    init(_ interceptions: [HTTPSession.Interception], _ scope: HTTPSession.Interception.Scope) {
        self.scope = scope
        interceptors = interceptions.filter { $0.scope == scope }.map(\.interceptor)
    }

    var isEmpty: Bool { interceptors.isEmpty }

    /// The interceptors that a request made here passes, as text; nil for none. Those whose own code makes the request
    /// are left out.
    func passed(in core: SessionCore) -> String? {
        if isEmpty { return nil }
        let passed = interceptors.indices.filter { !Enclosure.contains(subject($0, of: core)) }
        if passed.isEmpty { return nil }
        return passed.count == interceptors.count ? "all" : "\(passed)"
    }

    private func subject(_ index: Int, of core: SessionCore) -> Enclosure.Subject {
        .interceptor(of: ObjectIdentifier(core), scope, index: index)
    }

    typealias Send = @Sendable (TransportRequest) async throws -> TransportResponse

    /// Runs the interceptors until the first one returns or the call is over.
    func run(_ request: TransportRequest, of sending: Sending, _ send: @escaping Send) async throws -> TransportResponse
    {
        try await sending.withinLimits { [self] in try await pass(request, from: 0, of: sending, send) }
    }

    private func pass(
        _ request: TransportRequest, from index: Int, of sending: Sending, _ send: @escaping Send
    ) async throws -> TransportResponse {
        guard index < interceptors.count else { return try await send(request) }
        // A request from an interceptor's own code does not pass it again.
        let subject = subject(index, of: sending.session)
        if Enclosure.contains(subject) {
            return try await pass(request, from: index + 1, of: sending, send)
        }
        let interceptor = interceptors[index]
        let (turn, around) = (InterceptorTurn(), Enclosure.alive)
        defer { turn.end() }
        let next = HTTPSession.Next(sending.snapshot, sending.session, hop: scope == .call ? 1 : sending.hop) {
            changed in
            if let refusal = turn.begin() { throw Self.failure(interceptor, "\(refusal)", hasSent: true) }
            do {
                // What comes next does not count as the interceptor's own code.
                let response = try await Enclosure.leave(subject, around: around) {
                    try await pass(
                        Self.stripped(changed, insteadOf: request, sending), from: index + 1, of: sending, send)
                }
                turn.answered()
                return response
            } catch {
                turn.failed(error)
                throw error
            }
        }
        do {
            return try await Enclosure.enter(subject, of: sending.session.owner) {
                try await interceptor.intercept(request, next: next)
            }
        } catch {
            throw Self.explained(error, by: interceptor, turn, sending)
        }
    }

    /// The request without given secrets, if an interceptor sends it to another origin.
    private static func stripped(
        _ changed: TransportRequest, insteadOf given: TransportRequest, _ sending: Sending
    ) -> TransportRequest {
        let origin = changed.head.origin
        if origin.isSame(as: given.head.origin) { return changed }
        let usual = sending.session.configuration.redirects
        let policy = sending.delegate.settings?.options.redirects.resolved(usual) ?? usual
        return changed.with { changes in
            changes.head.fields = RedirectMachine.fields(
                changes.head.fields, to: origin, insteadOf: given.head.fields, for: given.head.origin, policy.rules)
            changes.body = RedirectMachine.body(
                changes.body, &changes.head.fields, to: origin, insteadOf: given.body, for: given.head.origin,
                policy.rules, sending.session.configuration.secretFields)
        }
    }

    /// The error to report: an error of `next` as it is. A `NetworkError` of another request must not say that this one
    /// may be sent again.
    private static func explained(
        _ error: any Error, by interceptor: any HTTPSession.Interceptor, _ turn: InterceptorTurn, _ sending: Sending
    ) -> any Error {
        if turn.hasThrown(error) || error is CancellationError && sending.cancellation.cause != nil { return error }
        guard var own = error as? NetworkError else {
            return failure(interceptor, "failed: \(error)", hasSent: turn.hasSent, error)
        }
        (own.request, own.hop) = (nil, nil)
        if turn.hasSent { (own.requestMayHaveBeenSent, own.isSafeToRetry) = (true, false) }
        return own
    }

    private static func failure(
        _ interceptor: any HTTPSession.Interceptor, _ what: String, hasSent: Bool, _ cause: (any Error)? = nil
    ) -> NetworkError {
        let name = interceptor is ClosureInterceptor ? "an interceptor" : "\(type(of: interceptor))"
        return NetworkError(.interceptorFailed, "\(name) \(what)", requestMayHaveBeenSent: hasSent, underlying: cause)
    }
}

extension Sending {
    /// How often the request has been sent, including the current sending.
    fileprivate var hop: Int { delegate.hop }
}

extension HTTPSession.Next {
    /// The session, for requests of the interceptor's own: they do not pass it again, and wait in no queue. Nil for an
    /// interceptor that is tested alone.
    public var session: HTTPSession? { (owner as? SessionCore).map(HTTPSession.init) }
}

extension HTTPSession.Next {
    /// Returns the request as a shell command for `curl`, with the effects of the session's settings except passwords,
    /// and without the secrets of its `secretFields` unless `showingSecrets` is true. For an interceptor that is tested
    /// alone, the same as `request.curl`.
    public func curl(_ request: TransportRequest, showingSecrets: Bool = false) -> String {
        guard let session = owner as? SessionCore else { return request.curl(showingSecrets: showingSecrets) }
        // It is not known here whose password answers for the request: the session's must not stand for another's.
        let settings = session.curl.with(nil, decodes: session.curl.decodes, login: nil)
        return RequestRecord(RequestRecord.Source(request), settings).curl(showingSecrets: showingSecrets)
    }
}
