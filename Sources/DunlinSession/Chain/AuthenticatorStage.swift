internal import DunlinReactor
internal import DunlinRules
internal import DunlinTransport

/// Sends each hop to the base URL's origin with the authenticator's credential, and once more if it is refused.
struct AuthenticatorStage: Stage {
    let source: any CredentialSource
    let origin: HTTP.Origin

    func interest(in sending: Sending) -> StageInterest { concerns(sending.asking) ? .everything : .nothing }

    func signs(of request: TransportRequest, for asking: Asking) -> [Access.Sign] {
        concerns(asking) && request.head.origin.isSame(as: origin) ? [asking.session.user.sign(.authenticator)] : []
    }

    private func concerns(_ asking: Asking) -> Bool {
        let hasOwn = !asking.credentials.isSession || asking.settings?.password != nil
        return !hasOwn && !asking.session.isRefreshing
    }

    func send(
        _ request: TransportRequest, _ sending: inout Sending, _ next: Next
    ) async throws -> TransportResponse {
        // A request with fields of its own is sent with these.
        guard request.head.origin.isSame(as: origin), !request.head.fields.contains("authorization") else {
            return try await next(request, &sending)
        }
        var tries = Tries()
        while true {
            let grant = try await source.grant(for: sending)
            if grant.fields.contains(where: { request.head.fields.contains($0.name) }) {
                return try await next(request, &sending)
            }
            let authorized = request.with { $0.head.fields = $0.head.fields.overlaid(with: grant.fields) }
            let response = try await next(authorized, &sending)
            let isRefused = try await sending.judging(response) { try await self.isRefused(response.head, &$0) }
            guard isRefused else {
                source.accepted(grant.number)
                return response
            }
            if let why = tries.refusal(after: source.refused(grant.number, at: sending.loop.now())) {
                sending.callHistory = sending.callHistory.with { $0.refreshRefusal = why }
                return response
            }
            guard request.body.canBeSent else {
                throw sending.failing(Self.cannotBeSentAgain(response.head), on: response)
            }
            try await sending.discard(response)
            try sending.again(.credential)
        }
    }

    private func isRefused(_ head: ResponseHead, _ sending: inout Sending) async throws -> Bool {
        guard head.status >= 300 else { return false }
        return try await sending.withinLimits { [source] in source.isRefused(by: head) }
    }

    private static func cannotBeSentAgain(_ head: ResponseHead) -> NetworkError {
        NetworkError(
            .bodyNotReplayable,
            "the credential was refused, and the request's body can be sent once only; "
                + "give the body as bytes, a file or `.replayable`",
            requestMayHaveBeenSent: true, response: head)
    }

    /// How often a hop is sent again.
    private struct Tries {
        private var hasSentAgain = false
        /// How often it was sent again because the credential had expired before it reached the server.
        private var catchUps = 0
        private static let mostCatchUps = 3

        /// Why the request is not sent again; nil if it is. It waits for a refresh once. A request that was slower than
        /// its credential's lifetime continues with the next.
        mutating func refusal(after refusal: CredentialRefusal) -> NetworkError.RefreshRefusal? {
            switch refusal {
            case .deliver(let why): return why
            case .sendAgain where !hasSentAgain: hasSentAgain = true
            case .sendAgain(wasGood: false): return .refusedAgain
            case .sendAgain(wasGood: true), .sendWithNewer:
                catchUps += 1
                if catchUps > Self.mostCatchUps { return .expiresTooSoon }
            }
            return nil
        }
    }
}
