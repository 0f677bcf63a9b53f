internal import DunlinReactor
internal import DunlinRules
internal import DunlinTransport

/// Sends each hop to the base URL's origin with the authenticator's credential, and once more if it is refused.
struct AuthenticatorStage: Stage {
    let source: any CredentialSource
    let origin: HTTP.Origin

    func seesAll(of call: LiveCall) -> Bool { true }

    func driver(for call: LiveCall) -> (any StageDriver)? { concerns(call.asking) ? Driver(source, origin) : nil }

    func signs(of request: TransportRequest, for asking: Asking) -> [Access.Sign] {
        concerns(asking) && request.head.origin.isSame(as: origin) ? [asking.session.user.sign(.authenticator)] : []
    }

    private func concerns(_ asking: Asking) -> Bool {
        let hasOwn = !asking.credentials.isSession || asking.settings?.password != nil
        return !hasOwn && !asking.session.isRefreshing
    }

    private final class Driver: StageDriver {
        private let source: any CredentialSource
        private let origin: HTTP.Origin
        /// The credential of the current hop; nil if the hop has fields of its own or goes elsewhere.
        private var sent: UInt64?
        private var hasSentAgain = false
        /// How often it was sent again because the credential had expired before it reached the server.
        private var catchUps = 0
        private static let mostCatchUps = 3

        init(_ source: any CredentialSource, _ origin: HTTP.Origin) {
            self.source = source
            self.origin = origin
        }

        func sending(_ request: TransportRequest, _ call: LiveCall) async throws -> TransportRequest {
            sent = nil
            guard request.head.origin.isSame(as: origin), !request.head.fields.contains("authorization") else {
                return request
            }
            let grant = try await source.grant(for: call)
            if grant.fields.contains(where: { request.head.fields.contains($0.name) }) { return request }
            sent = grant.number
            return request.with { $0.head.fields = $0.head.fields.overlaid(with: grant.fields) }
        }

        func received(_ response: TransportResponse, _ call: LiveCall) async throws -> StageAction {
            guard let sent else { return .pass(response) }
            if response.head.status < 300 {
                source.accepted(sent)
                return .pass(response)
            }
            let head = response.head
            guard try await call.withinLimits({ [source] in source.isRefused(by: head) }) else {
                source.accepted(sent)
                return .pass(response)
            }
            if let why = refusal(after: source.refused(sent, at: call.loop.now())) {
                return .pass(response, StageNotes(callHistory: call.callHistory.with { $0.refreshRefusal = why }))
            }
            guard call.request.body.canBeSent else {
                throw NetworkError(
                    .bodyNotReplayable,
                    "the credential was refused, and the request's body can be sent once only; "
                        + "give the body as bytes, a file or `.replayable`",
                    requestMayHaveBeenSent: true, response: head)
            }
            let hop = try await call.discard(response)
            return .again(.send(.credential), StageNotes(callHistory: call.callHistory.adding(hop)))
        }

        /// Why the request is not sent again; nil if it is. It waits for a refresh once. A request that was slower than
        /// its credential's lifetime continues with the next.
        private func refusal(after refusal: CredentialRefusal) -> NetworkError.RefreshRefusal? {
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

        func movedOn() {
            (hasSentAgain, catchUps) = (false, 0)
        }

        func startOver() {
            (hasSentAgain, catchUps) = (false, 0)
        }
    }
}
