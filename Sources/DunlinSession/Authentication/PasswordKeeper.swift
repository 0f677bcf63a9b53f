internal import DunlinSecure
internal import DunlinSemantics
internal import Synchronization

/// Answers the challenges of the base URL's origin with a user's name and password, and remembers where that got in.
///
/// The rules are those of `ChallengeChoice`, `DigestMachine` and `ProtectionSpaces`; this adds the randomness, the
/// hashes and the lock. A request asks for one answer at a time.
final class PasswordKeeper: Sendable {
    /// What a request went with.
    enum Sent: Sendable {
        case basic(value: String, realm: String?)
        case digest(DigestAnswer, ProtectionSpaces.Name)

        var value: String {
            switch self {
            case .basic(let value, _): value
            case .digest(let answer, _): answer.value
            }
        }
    }

    enum Decision: Sendable {
        case send(Sent)
        /// The server does not ask for a password, or not for this one any more.
        case deliver
        case fail(NetworkError.Code, String)
    }

    private let password: HTTPSession.Password
    private let state = Mutex(ProtectionSpaces())

    init(_ password: HTTPSession.Password) {
        self.password = password
    }

    /// What a request goes with that nobody has asked yet.
    func unasked(_ request: RequestHead, _ body: RequestBody) -> Sent? {
        state.withLock { spaces in
            guard let name = spaces.name(for: request.origin.description, target: request.target) else { return nil }
            return spaces.use(name) { access in
                switch access {
                case .basic(let value): return .basic(value: value, realm: nil)
                case .digest(var machine):
                    defer { access = .digest(machine) }
                    // Without an answer the server asks, and is told then what is wrong.
                    guard case .send(let sent) = Self.answer(&machine, name, request, body, .unasked) else {
                        return nil
                    }
                    return sent
                }
            } ?? nil
        }
    }

    /// The server has asked; `last` is what the call sent before.
    func challenged(
        _ response: ResponseHead, to request: RequestHead, _ body: RequestBody, after last: Sent?
    ) -> Decision {
        let choice = ChallengeChoice(Challenge.all(in: response.fields, from: .origin))
        var problem: Decision = .deliver
        for option in choice.options {
            switch self.answer(option, request, body, after: last) {
            case .deliver: return .deliver
            case .send(let sent): return .send(sent)
            // A weaker challenge may do.
            case .fail(let code, let reason): problem = .fail(code, reason)
            }
        }
        return problem
    }

    private func answer(
        _ option: ChallengeChoice.Option, _ request: RequestHead, _ body: RequestBody, after last: Sent?
    ) -> Decision {
        switch option {
        case .digest(let challenge): answer(challenge, request, body, after: last)
        case .basic(let challenge): answer(challenge, request, after: last)
        }
    }

    private func answer(
        _ challenge: DigestChallenge, _ request: RequestHead, _ body: RequestBody, after last: Sent?
    ) -> Decision {
        let origin = request.origin.description
        let name = ProtectionSpaces.Name(origin: origin, scheme: .digest, realm: challenge.realm)
        var before: DigestAnswer?
        if case .digest(let answer, _) = last { before = answer }
        return state.withLock { spaces in
            do {
                let known: DigestMachine? = spaces.use(name) { $0.machine } ?? nil
                var machine = try known ?? newMachine()
                switch machine.challenged(challenge, after: before) {
                case .refuse(.wrongPassword), .refuse(.staleAgain):
                    spaces.remove(name)
                    return .deliver
                case .refuse(let problem): return .fail(.authenticationFailed, "\(problem)")
                case .answer(let cause):
                    let decision = Self.answer(&machine, name, request, body, cause)
                    let address = WebAddress(origin: request.origin, target: request.target, fragment: nil)
                    spaces.keep(
                        .digest(machine), origin: origin, realm: challenge.realm,
                        scope: .digest(challenge, at: address))
                    return decision
                }
            } catch {
                return .fail(.authenticationFailed, "\(error)")
            }
        }
    }

    private func newMachine() throws -> DigestMachine {
        try DigestMachine(user: password.user, password: password.password) { function, bytes in
            do throws(HashFunction.Unavailable) { return try function.hash(of: bytes) } catch { return nil }
        }
    }

    private func answer(_ challenge: BasicChallenge, _ request: RequestHead, after last: Sent?) -> Decision {
        if case .basic(_, let realm) = last, realm == nil || realm == challenge.realm {
            let name = ProtectionSpaces.Name(
                origin: request.origin.description, scheme: .basic, realm: challenge.realm)
            state.withLock { $0.remove(name) }
            return .deliver
        }
        guard request.origin.scheme == .https || password.allowsBasicInClearText else {
            return .fail(
                .clearTextRefused,
                "the server asks for the password in clear text; `allowsBasicInClearText` would send it so")
        }
        do throws(Authorization.Problem) {
            let value = try Authorization.basic(user: password.user, password: password.password)
            return .send(.basic(value: value, realm: challenge.realm))
        } catch {
            return .fail(.authenticationFailed, "\(error)")
        }
    }

    private static func answer(
        _ machine: inout DigestMachine, _ name: ProtectionSpaces.Name, _ request: RequestHead, _ body: RequestBody,
        _ cause: DigestAnswer.Cause
    ) -> Decision {
        do {
            var asked = DigestRequest(method: request.method, target: request.target)
            if let function = machine.bodyHashFunction { asked.bodyHash = try body.whole.map(function.hash) }
            return .send(.digest(try machine.answer(asked, clientNonce: clientNonce(), cause: cause), name))
        } catch {
            return .fail(.authenticationFailed, "\(error)")
        }
    }

    private static func clientNonce() -> String {
        var random = SystemRandomNumberGenerator()
        let numbers: [UInt64] = [random.next(), random.next()]
        return numbers.map { String($0, radix: 16) }.joined()
    }

    /// The same answer for another sending of the same request.
    func repeated(_ sent: Sent, _ request: RequestHead, _ body: RequestBody) -> Sent? {
        guard case .digest(let answer, let name) = sent else { return sent }
        return state.withLock { spaces in
            spaces.use(name) { access -> Sent? in
                guard case .digest(var machine) = access else { return nil }
                defer { access = .digest(machine) }
                guard case .send(let again) = Self.answer(&machine, name, request, body, answer.cause) else {
                    return nil
                }
                return again
            } ?? nil
        }
    }

    /// A request got in with this. Returns why its response is not to be believed; nil if it is.
    func accepted(_ sent: Sent, _ response: ResponseHead, to request: RequestHead) -> String? {
        switch sent {
        case .basic(let value, let realm):
            guard let realm else { return nil }
            _ = state.withLock {
                $0.keep(
                    .basic(value), origin: request.origin.description, realm: realm, scope: .basic(request.target))
            }
            return nil
        case .digest(let answer, let name):
            guard let info = AuthenticationInfo(response.fields, from: .origin) else { return nil }
            let confirmation = state.withLock { spaces in
                spaces.use(name) { access -> DigestMachine.Confirmation in
                    guard case .digest(var machine) = access else { return .unproven }
                    defer { access = .digest(machine) }
                    return machine.confirmed(info, of: answer)
                }
            }
            if case .wrong(let problem) = confirmation { return "\(problem)" }
            return nil
        }
    }
}

extension ProtectionSpaces.Access {
    fileprivate var machine: DigestMachine? {
        if case .digest(let machine) = self { machine } else { nil }
    }
}

extension RequestBody {
    /// All of it, if it is at hand; nothing for no body.
    fileprivate var whole: Bytes? {
        switch content {
        case .none: .empty
        case .bytes(let bytes): bytes
        case .stream, .file: nil
        }
    }
}
