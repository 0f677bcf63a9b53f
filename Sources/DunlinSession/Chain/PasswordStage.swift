internal import DunlinTransport

/// Answers a challenge of the base URL's origin by a password, and sends it unasked where it got in before.
struct PasswordStage: Stage {
    let keeper: PasswordKeeper
    let origin: HTTP.Origin

    func seesAll(of call: LiveCall) -> Bool { true }

    func driver(for call: LiveCall) -> (any StageDriver)? {
        let hasOwn = call.delegate.settings.map { !$0.options.credentials.isSession } ?? false
        return hasOwn ? nil : Driver(keeper, origin)
    }

    private final class Driver: StageDriver {
        private let keeper: PasswordKeeper
        private let origin: HTTP.Origin
        /// What the hop under way went with, or the one before it.
        private var last: PasswordKeeper.Sent?
        /// The answer to a challenge, for as long as the server has said nothing to it: it is sent again with the hop.
        private var next: PasswordKeeper.Sent?
        private var isNextSent = false
        private var answers = 0
        /// A server may call each nonce stale once, and then ask for Basic; one that asks for more is not after a
        /// password.
        private static let mostAnswers = 3

        init(_ keeper: PasswordKeeper, _ origin: HTTP.Origin) {
            self.keeper = keeper
            self.origin = origin
        }

        private func covers(_ request: TransportRequest) -> Bool {
            request.head.origin.isSame(as: origin) && !request.head.fields.contains("authorization")
        }

        func sending(_ request: TransportRequest, _ call: inout LiveCall) async throws -> TransportRequest {
            last = nil
            guard covers(request) else { return request }
            guard let sent = try answer(request) else { return request }
            last = sent
            return request.with { $0.head.fields.authorize(sent.value) }
        }

        /// A Digest answer is good for one sending.
        private func answer(_ request: TransportRequest) throws -> PasswordKeeper.Sent? {
            guard let next else { return keeper.unasked(request.head, request.body) }
            defer { isNextSent = true }
            return isNextSent ? keeper.repeated(next, request.head, request.body) : next
        }

        func received(_ response: TransportResponse, _ call: inout LiveCall) async throws -> StageAction {
            let request = call.request
            guard covers(request) else { return .pass(response) }
            let last = last
            (self.last, next) = (nil, nil)
            guard response.head.status == .unauthorized else {
                if let last, let problem = keeper.accepted(last, response.head, to: request.head) {
                    throw failure(.authenticationFailed, "the response is not to be believed: \(problem)", response)
                }
                return .pass(response)
            }
            guard answers < Self.mostAnswers else { return .pass(response) }
            switch keeper.challenged(response.head, to: request.head, request.body, after: last) {
            case .deliver: return .pass(response)
            case .fail(let code, let reason): throw failure(code, reason, response)
            case .send(let answer):
                guard request.body.canBeSent else {
                    throw failure(
                        .bodyNotReplayable, "the server asks who the user is, and the body can be sent once only",
                        response)
                }
                (next, isNextSent) = (answer, false)
                answers += 1
                call.callHistory.append(try await call.discard(response))
                return .again(.send)
            }
        }

        private func failure(_ code: NetworkError.Code, _ reason: String, _ response: TransportResponse) -> NetworkError
        {
            NetworkError(code, reason, requestMayHaveBeenSent: true, response: response.head)
        }

        func movedOn() {
            (last, next, answers) = (nil, nil, 0)
        }

        func startOver() {
            (last, next, answers) = (nil, nil, 0)
        }
    }
}
