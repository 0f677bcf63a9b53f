internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport
internal import Synchronization

/// Makes the answers to challenges, and remembers where they were accepted.
///
/// The rules are those of `ChallengeChoice`, `DigestMachine` and `ProtectionSpaces`; this adds randomness, hashes and a
/// lock. A request asks for one answer at a time. Only accepted answers are sent unasked.
final class PasswordMemory: Sendable {
    /// The answer that a request carried.
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

        /// Whether this answered the space. The realm of Basic sent unasked is unknown.
        func isFor(_ space: HTTPSession.AuthenticationChallenge.ProtectionSpace) -> Bool {
            switch self {
            case .digest(_, let name): space.method == .digest && name.isOf(realm: space.realm)
            case .basic(_, let realm): space.method == .basic && (realm ?? space.realm).hasSameBytes(as: space.realm)
            case .bearer: space.method == .bearer
            }
        }
    }

    enum Decision: Sendable {
        case send(Sent)
        case fail(NetworkError.Code, String)
    }

    private struct State {
        /// The spaces in which an answer was accepted.
        var proven: ProtectionSpaces
        /// The spaces in which challenges were answered but no answer was accepted yet. Only Digest's, whose answers
        /// are counted.
        var unproven: ProtectionSpaces

        mutating func change(isProven: Bool, _ change: (inout ProtectionSpaces) -> Void) {
            if isProven { change(&proven) } else { change(&unproven) }
        }

        /// The machine of a space for this password.
        mutating func machine(
            _ name: ProtectionSpaces.Name, where isMeant: (DigestMachine) -> Bool
        ) -> (machine: DigestMachine, isProven: Bool)? {
            if let machine = proven.machine(name), isMeant(machine) { return (machine, true) }
            if let machine = unproven.machine(name), isMeant(machine) { return (machine, false) }
            return nil
        }
    }

    private let state: Mutex<State>
    /// Whether requests may have to carry an answer that was accepted before.
    private let used = Atomic<Bool>(false)

    init(limit: Int = 100) {
        state = Mutex(State(proven: ProtectionSpaces(limit: limit), unproven: ProtectionSpaces(limit: limit)))
    }

    var isInUse: Bool { used.load(ordering: .relaxed) }

    private static func name(_ challenge: DigestChallenge, _ request: HashedRequest) -> ProtectionSpaces.Name {
        .init(origin: request.head.server, scheme: .digest, realm: challenge.realm)
    }

    private static func name(basic realm: String, _ request: HashedRequest) -> ProtectionSpaces.Name {
        .init(origin: request.head.server, scheme: .basic, realm: realm)
    }
}

// MARK: - Before the server asks

extension PasswordMemory {
    /// The hash of the body for a request that has not been challenged yet; nil if none is needed.
    func bodyHashFunction(for request: RequestHead) -> HashFunction? {
        state.withLock { state in
            state.proven.name(for: request.server, target: request.target).flatMap {
                state.proven.machine($0)?.bodyHashFunction
            }
        }
    }

    /// The answer to send with a request that has not been challenged yet.
    func unasked(_ request: HashedRequest) -> Sent? {
        state.withLock { state in
            guard let name = state.proven.name(for: request.head.server, target: request.head.target) else {
                return nil
            }
            return state.proven.use(name) { access in
                switch access {
                case .basic(let value): return .basic(value: value, realm: nil)
                case .digest(var machine):
                    defer { access = .digest(machine) }
                    // Without an answer the server challenges, and then learns what is wrong.
                    guard case .send(let sent) = Self.answer(&machine, name, request, .unasked) else {
                        return nil
                    }
                    return sent
                }
            } ?? nil
        }
    }
}

// MARK: - After it has asked

extension PasswordMemory {
    /// Handles a further challenge after `last`: returns the answer with another nonce, if only that was wrong;
    /// otherwise forgets what was accepted before.
    func renewed(
        after last: Sent, by challenges: ResponseChallenges, _ request: HashedRequest
    ) -> Sent? {
        for option in challenges.items.flatMap(\.options) {
            switch (option, last) {
            case (.digest(let challenge), .digest(let answer, let name)) where name == Self.name(challenge, request):
                if let sent = renewed(answer, name, by: challenge, request) { return sent }
            case (.basic(let challenge), .basic(let value, let realm))
            where challenge.realm.hasSameBytes(as: realm ?? challenge.realm):
                let name = Self.name(basic: challenge.realm, request)
                state.withLock { if $0.proven.value(name) == value { $0.proven.remove(name) } }
            default: break
            }
        }
        return nil
    }

    private func renewed(
        _ last: DigestAnswer, _ name: ProtectionSpaces.Name, by challenge: DigestChallenge, _ request: HashedRequest
    ) -> Sent? {
        state.withLock { state in
            guard let (known, isProven) = state.machine(name, where: { $0.made(last) }) else { return nil }
            var machine = known
            guard case .answer(let cause) = machine.challenged(challenge, after: last) else {
                state.change(isProven: isProven) { $0.remove(name) }
                return nil
            }
            let decision = Self.answer(&machine, name, request, cause)
            state.change(isProven: isProven) { $0.keep(machine, challenge, request.head) }
            if case .send(let sent) = decision { return sent }
            return nil
        }
    }

    /// A remembered answer to one of these challenges; nil if that is the one that was refused.
    func recalled(
        _ options: [ChallengeChoice.Option], after refused: Sent?, _ request: HashedRequest
    ) -> Sent? {
        for option in options {
            switch option {
            case .basic(let challenge):
                let value = state.withLock { $0.proven.value(Self.name(basic: challenge.realm, request)) }
                if let value, value != refused?.value { return .basic(value: value, realm: challenge.realm) }
            case .digest(let challenge):
                if let sent = recalled(challenge, after: refused, request) { return sent }
            }
        }
        return nil
    }

    private func recalled(
        _ challenge: DigestChallenge, after refused: Sent?, _ request: HashedRequest
    ) -> Sent? {
        let name = Self.name(challenge, request)
        return state.withLock { state in
            guard var machine = state.proven.machine(name) else { return nil }
            if case .digest(let answer, _) = refused, machine.made(answer) { return nil }
            guard case .answer(let cause) = machine.challenged(challenge),
                case .send(let sent) = Self.answer(&machine, name, request, cause)
            else { return nil }
            state.proven.keep(machine, challenge, request.head)
            return sent
        }
    }

    /// This password's answer to a challenge.
    func answer(
        _ option: ChallengeChoice.Option, by password: HTTPSession.Password, _ request: HashedRequest,
        _ rule: BasicRule
    ) -> Decision {
        switch option {
        case .digest(let challenge): answer(challenge, by: password, request)
        case .basic(let challenge): answer(challenge, by: password, request, rule)
        }
    }

    private func answer(
        _ challenge: DigestChallenge, by password: HTTPSession.Password, _ request: HashedRequest
    ) -> Decision {
        let name = Self.name(challenge, request)
        return state.withLock { state in
            do {
                let known = state.machine(name) { $0.knows(user: password.user, password: password.password) }
                var machine = try known?.machine ?? DigestMachine(user: password.user, password: password.password)
                switch machine.challenged(challenge) {
                case .refuse(let problem): return .fail(.authenticationFailed, "\(problem)")
                case .answer(let cause):
                    let decision = Self.answer(&machine, name, request, cause)
                    state.change(isProven: known?.isProven ?? false) { $0.keep(machine, challenge, request.head) }
                    return decision
                }
            } catch {
                return .fail(.authenticationFailed, "\(error)")
            }
        }
    }

    private func answer(
        _ challenge: BasicChallenge, by password: HTTPSession.Password, _ request: HashedRequest, _ rule: BasicRule
    ) -> Decision {
        guard password.answersBasic else {
            return .fail(.authenticationFailed, NetworkError.basicNotAllowed)
        }
        guard rule.mayAnswer(request.head) else {
            return .fail(.clearTextRefused, Self.clearText)
        }
        do throws(Authorization.Problem) {
            let value = try challenge.answer(user: password.user, password: password.password)
            return .send(.basic(value: value, realm: challenge.realm))
        } catch {
            return .fail(.authenticationFailed, "\(error)")
        }
    }

    static let clearText = """
        the server asks for Basic over http, which sends the password in clear text; use https; \
        `basicInClearText = .allowed` sends it all the same
        """

    private static func answer(
        _ machine: inout DigestMachine, _ name: ProtectionSpaces.Name, _ request: HashedRequest,
        _ cause: DigestAnswer.Cause
    ) -> Decision {
        do {
            return .send(.digest(try machine.answer(request, cause: cause), name))
        } catch {
            return .fail(.authenticationFailed, "\(error)")
        }
    }
}

// MARK: - After it has let the request in

extension PasswordMemory {
    /// Notes that a request was accepted with this answer. Returns why its response cannot be trusted; nil if it can.
    func accepted(_ sent: Sent, _ response: ResponseHead, to request: RequestHead) -> String? {
        switch sent {
        case .bearer, .basic(_, realm: nil): return nil
        case .basic(let value, let realm?):
            _ = state.withLock {
                $0.proven.keep(
                    .basic(value), origin: request.server, realm: realm,
                    scope: .basic(request.target))
            }
            used.store(true, ordering: .relaxed)
            return nil
        case .digest(let answer, let name):
            return accepted(answer, name, AuthenticationInfo(response.fields, from: .origin), request)
        }
    }

    private func accepted(
        _ answer: DigestAnswer, _ name: ProtectionSpaces.Name, _ info: AuthenticationInfo?, _ request: RequestHead
    ) -> String? {
        state.withLock { state in
            guard let (known, isProven) = state.machine(name, where: { $0.made(answer) }) else { return nil }
            var machine = known
            if let info, case .wrong(let problem) = machine.confirmed(info, of: answer) { return "\(problem)" }
            if isProven {
                state.proven.put(machine, name)
            } else if let challenge = machine.challenge {
                state.unproven.remove(name)
                state.proven.keep(machine, challenge, request)
            }
            used.store(true, ordering: .relaxed)
            return nil
        }
    }
}

extension NetworkError {
    fileprivate static let basicNotAllowed = """
        the server accepts only Basic, which sends the password itself, and `.digest` never sends that; use \
        `.password`, which answers both
        """

    /// Whether the request failed because its password may not answer Basic, for those who have a name of their own for
    /// the setting.
    package var meansBasicNotAllowed: Bool { code == .authenticationFailed && reason == Self.basicNotAllowed }
}

extension RequestHead {
    /// The server: the origin, and the address at which it is asked instead of its own.
    fileprivate var server: String {
        guard let address = origin.route?.address else { return origin.description }
        return "\(origin) at \(address)"
    }
}

extension ProtectionSpaces {
    fileprivate mutating func machine(_ name: Name) -> DigestMachine? { use(name) { $0.machine } ?? nil }

    /// Replaces the machine of a space.
    fileprivate mutating func put(_ machine: DigestMachine, _ name: Name) {
        _ = use(name) { $0 = .digest(machine) }
    }

    fileprivate mutating func value(_ name: Name) -> String? {
        use(name) { if case .basic(let value) = $0 { value } else { nil } } ?? nil
    }

    fileprivate mutating func keep(_ machine: DigestMachine, _ challenge: DigestChallenge, _ request: RequestHead) {
        let address = WebAddress(origin: request.origin, target: request.target, fragment: nil)
        keep(
            .digest(machine), origin: request.server, realm: challenge.realm,
            scope: .digest(challenge, at: address))
    }
}

extension ProtectionSpaces.Access {
    fileprivate var machine: DigestMachine? {
        if case .digest(let machine) = self { machine } else { nil }
    }
}
