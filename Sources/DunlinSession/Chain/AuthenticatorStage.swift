internal import DunlinReactor
internal import DunlinTransport

/// Sends each hop to the base URL's origin with the authenticator's credential, and once more if that is refused.
struct AuthenticatorStage: Stage {
    let source: any CredentialSource
    let origin: HTTP.Origin

    func seesAll(of call: LiveCall) -> Bool { true }

    func driver(for call: LiveCall) -> (any StageDriver)? {
        let hasOwn = call.delegate.settings.map { !$0.options.credentials.isSession } ?? false
        return hasOwn || Refreshing.includes(call.session) ? nil : Driver(source, origin)
    }

    private final class Driver: StageDriver {
        private let source: any CredentialSource
        private let origin: HTTP.Origin
        /// The credential that the hop under way goes with; nil if it has fields of its own, or goes elsewhere.
        private var sent: UInt64?
        private var hasSentAgain = false

        init(_ source: any CredentialSource, _ origin: HTTP.Origin) {
            self.source = source
            self.origin = origin
        }

        func sending(_ request: TransportRequest, _ call: inout LiveCall) async throws -> TransportRequest {
            sent = nil
            guard request.head.origin.isSame(as: origin), !request.head.fields.contains("authorization") else {
                return request
            }
            let grant = try await source.grant(for: call)
            if grant.fields.contains(where: { request.head.fields.contains($0.name) }) { return request }
            sent = grant.number
            return request.with { $0.head.fields = $0.head.fields.overlaid(with: grant.fields) }
        }

        func received(_ response: TransportResponse, _ call: inout LiveCall) async throws -> StageAction {
            guard let sent else { return .pass(response) }
            if response.head.status < 300 {
                source.accepted(sent)
                return .pass(response)
            }
            let head = response.head
            guard try await call.foreign({ [source] in source.isRefused(by: head) }) else {
                source.accepted(sent)
                return .pass(response)
            }
            guard source.refused(sent, at: call.loop.now()), !hasSentAgain else { return .pass(response) }
            guard call.request.body.canBeSent else {
                throw NetworkError(
                    .bodyNotReplayable, "the credential was refused, and the body can be sent once only",
                    requestMayHaveBeenSent: true, response: head)
            }
            hasSentAgain = true
            call.callHistory.append(try await call.discard(response))
            return .again(.send)
        }

        func movedOn() {
            hasSentAgain = false
        }

        func startOver() {
            hasSentAgain = false
        }
    }
}
