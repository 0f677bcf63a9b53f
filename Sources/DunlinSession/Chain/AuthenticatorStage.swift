internal import DunlinReactor
internal import DunlinTransport

/// Sends each hop to the base URL's origin with the authenticator's credential, and once more if it is refused.
struct AuthenticatorStage: Stage {
    let driver: RefreshDriver
    let origin: HTTP.Origin

    func interest(in sending: Sending) -> StageInterest {
        concerns(sending.delegate.settings, sending.session) ? .everything : .nothing
    }

    func signs(of request: TransportRequest, for asking: Asking) -> [Access.Sign] {
        guard concerns(asking.settings, asking.session), request.head.origin.isSame(as: origin) else { return [] }
        return [asking.session.user.sign(.authenticator)]
    }

    private func concerns(_ settings: RequestSettings?, _ session: SessionCore) -> Bool {
        if let settings, !settings.options.credentials.isSession || settings.password != nil { return false }
        return !session.isRefreshing
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
            let grant = try await driver.grant(for: sending)
            guard let authorized = grant.credential.added(to: request) else { return try await next(request, &sending) }
            let response = try await next(authorized, &sending)
            guard response.head.status >= 300, try await isRefused(response, &sending) else {
                driver.accepted(grant.number)
                return response
            }
            if let why = tries.refusal(after: driver.refused(grant.number, at: sending.loop.now())) {
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

    private func isRefused(_ response: TransportResponse, _ sending: inout Sending) async throws -> Bool {
        try await sending.judging(response) { sending in
            try await sending.withinLimits { [driver] in driver.isRefused(by: response.head) }
        }
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
