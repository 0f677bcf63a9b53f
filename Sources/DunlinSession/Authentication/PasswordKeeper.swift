internal import DunlinReactor
internal import DunlinSecure
internal import DunlinSemantics
internal import Synchronization

/// Makes the answers to challenges, and remembers where they got in.
///
/// The rules are those of `ChallengeChoice`, `DigestMachine` and `ProtectionSpaces`; this adds the randomness, the
/// hashes and the lock. A request asks for one answer at a time.
final class PasswordKeeper: Sendable {
    /// What a request went with.
    enum Sent: Sendable {
        case basic(value: String, realm: String?)
        case digest(DigestAnswer, ProtectionSpaces.Name)
        case bearer(value: String)

        var value: String {
            switch self {
            case .basic(let value, _), .bearer(let value): value
            case .digest(let answer, _): answer.value
            }
        }

        func isBy(_ password: HTTPSession.Password) -> Bool {
            switch self {
            case .digest(let answer, _): answer.isBy(user: password.user, password: password.password)
            case .basic(let value, _): BasicChallenge.isAnswer(value, user: password.user, password: password.password)
            case .bearer: false
            }
        }

        /// Whether this is what it answered. Of Basic that was sent unasked nobody knows the realm.
        func isFor(_ space: HTTPSession.AuthenticationChallenge.ProtectionSpace) -> Bool {
            switch self {
            case .digest(_, let name): space.method == .digest && name.isOf(realm: space.realm)
            case .basic(_, let realm): space.method == .basic && realm ?? space.realm == space.realm
            case .bearer: space.method == .bearer
            }
        }
    }

    enum Decision: Sendable {
        case send(Sent)
        case fail(NetworkError.Code, String)
    }

    private let state: Mutex<ProtectionSpaces>
    /// Whether requests may have to be sent with something that got in before.
    private let used = Atomic<Bool>(false)

    init(limit: Int = 100) {
        state = Mutex(ProtectionSpaces(limit: limit))
    }

    var isInUse: Bool { used.load(ordering: .relaxed) }

    func removeAll() { state.withLock { $0.removeAll() } }

    private static func name(_ challenge: DigestChallenge, _ request: RequestHead) -> ProtectionSpaces.Name {
        .init(origin: request.origin.description, scheme: .digest, realm: challenge.realm)
    }

    private static func name(basic realm: String, _ request: RequestHead) -> ProtectionSpaces.Name {
        .init(origin: request.origin.description, scheme: .basic, realm: realm)
    }
}

// MARK: - Before the server asks

extension PasswordKeeper {
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
}

// MARK: - After it has asked

extension PasswordKeeper {
    /// The server asks again after `last`. The answer with another nonce, if that was all that was wrong; otherwise
    /// what got in before is forgotten.
    func renewed(
        after last: Sent, by challenges: ResponseChallenges, _ request: RequestHead, _ body: RequestBody
    ) -> Sent? {
        for option in challenges.items.flatMap(\.options) {
            switch (option, last) {
            case (.digest(let challenge), .digest(let answer, let name)) where name == Self.name(challenge, request):
                if let sent = renewed(answer, name, by: challenge, request, body) { return sent }
            case (.basic(let challenge), .basic(_, let realm)) where realm == nil || realm == challenge.realm:
                state.withLock { $0.remove(Self.name(basic: challenge.realm, request)) }
            default: break
            }
        }
        return nil
    }

    private func renewed(
        _ last: DigestAnswer, _ name: ProtectionSpaces.Name, by challenge: DigestChallenge, _ request: RequestHead,
        _ body: RequestBody
    ) -> Sent? {
        state.withLock { spaces in
            let known: DigestMachine? = spaces.use(name) { $0.machine } ?? nil
            guard var machine = known, machine.made(last) else { return nil }
            guard case .answer(let cause) = machine.challenged(challenge, after: last) else {
                spaces.remove(name)
                return nil
            }
            let decision = Self.answer(&machine, name, request, body, cause)
            spaces.keep(machine, challenge, request)
            if case .send(let sent) = decision { return sent }
            return nil
        }
    }

    /// The answer of this password to a challenge.
    func answer(
        _ option: ChallengeChoice.Option, by password: HTTPSession.Password, _ request: RequestHead,
        _ body: RequestBody, _ rule: BasicRule
    ) -> Decision {
        switch option {
        case .digest(let challenge): answer(challenge, by: password, request, body)
        case .basic(let challenge): answer(challenge, by: password, request, rule)
        }
    }

    private func answer(
        _ challenge: DigestChallenge, by password: HTTPSession.Password, _ request: RequestHead, _ body: RequestBody
    ) -> Decision {
        let name = Self.name(challenge, request)
        return state.withLock { spaces in
            do {
                let known: DigestMachine? = spaces.use(name) { $0.machine } ?? nil
                let isSame = known?.knows(user: password.user, password: password.password) ?? false
                var machine = try isSame ? known ?? Self.machine(password) : Self.machine(password)
                switch machine.challenged(challenge) {
                case .refuse(let problem): return .fail(.authenticationFailed, "\(problem)")
                case .answer(let cause):
                    let decision = Self.answer(&machine, name, request, body, cause)
                    spaces.keep(machine, challenge, request)
                    used.store(true, ordering: .relaxed)
                    return decision
                }
            } catch {
                return .fail(.authenticationFailed, "\(error)")
            }
        }
    }

    private static func machine(_ password: HTTPSession.Password) throws -> DigestMachine {
        try DigestMachine(user: password.user, password: password.password) { function, bytes in
            do throws(HashFunction.Unavailable) { return try function.hash(of: bytes) } catch { return nil }
        }
    }

    private func answer(
        _ challenge: BasicChallenge, by password: HTTPSession.Password, _ request: RequestHead, _ rule: BasicRule
    ) -> Decision {
        guard password.answersBasic else {
            return .fail(.authenticationFailed, "the server asks for Basic, and the password answers Digest alone")
        }
        guard rule.mayAnswer(at: request.origin, isAllowed: password.allowsBasicInClearText) else {
            return .fail(
                .clearTextRefused,
                """
                the server asks for the password in clear text; `basicInClearText` or `allowsBasicInClearText` would \
                send it so
                """)
        }
        do throws(Authorization.Problem) {
            let value = try challenge.answer(user: password.user, password: password.password)
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
}

// MARK: - After it has let the request in

extension PasswordKeeper {
    /// A request got in with this. Returns why its response is not to be believed; nil if it is.
    func accepted(_ sent: Sent, _ response: ResponseHead, to request: RequestHead) -> String? {
        switch sent {
        case .bearer, .basic(_, realm: nil): return nil
        case .basic(let value, let realm?):
            _ = state.withLock {
                $0.keep(
                    .basic(value), origin: request.origin.description, realm: realm, scope: .basic(request.target))
            }
            used.store(true, ordering: .relaxed)
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

extension ProtectionSpaces {
    fileprivate mutating func keep(_ machine: DigestMachine, _ challenge: DigestChallenge, _ request: RequestHead) {
        let address = WebAddress(origin: request.origin, target: request.target, fragment: nil)
        keep(
            .digest(machine), origin: request.origin.description, realm: challenge.realm,
            scope: .digest(challenge, at: address))
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
