internal import DunlinTypes

/// Digest authentication of one user in one realm (RFC 7616): answers challenges, and checks the server's
/// confirmations.
///
/// Rules:
/// 1. A challenge is answered once within a call. If the server says then that the nonce was stale, it is answered once
///    more; if it does not say so, the password is wrong.
/// 2. An answer that nobody asked for had the nonce of an earlier call. If the server gives another one then, it is
///    answered once, whether it says *stale* or not: one that was started anew does not know what it has forgotten.
/// 3. Each use of a nonce is counted, from 1. A nonce that the server gives with its confirmation replaces the one
///    before, but begins no session.
/// 4. With sessions all answers have the client's nonce of the first one, so that those agree who make the key once and
///    those who make it each time.
/// 5. A confirmation with a proof must have the right one, and speak of that very answer.
///
/// Several calls may use one machine by turns. Knows no randomness: client's nonces come from outside. Must not know
/// OpenSSL: hashes come from outside as well.
package struct DigestMachine: Sendable {
    package enum Action: Sendable, Hashable {
        /// Send the request again, with the answer that `answer` returns for this cause.
        case answer(DigestAnswer.Cause)
        case refuse(DigestProblem)
    }

    let user: String
    let password: String
    let hashing: Hashing
    package internal(set) var challenge: DigestChallenge?
    var nonces = DigestNonces()
    var session: DigestSession?

    /// Creates a machine. Throws for a user or password that no field can carry.
    package init(user: String, password: String, hashing: @escaping Hashing) throws(Authorization.Problem) {
        try Authorization.check(user: user, password: password)
        self.user = user
        self.password = password
        self.hashing = hashing
    }

    /// Whether it answers with this password.
    package func knows(user: String, password: String) -> Bool {
        self.user.hasSameBytes(as: user) && self.password.hasSameBytes(as: password)
    }

    /// Whether an answer was made with its password.
    package func made(_ answer: DigestAnswer) -> Bool { answer.isBy(user: user, password: password) }

    /// Takes a challenge. `last` is the answer that the call sent before, to any challenge.
    package mutating func challenged(_ new: DigestChallenge, after last: DigestAnswer? = nil) -> Action {
        let function = new.algorithm.function
        guard hashing(function, .empty) != nil else { return .refuse(.unavailable(function)) }
        guard let last, last.realm.hasSameBytes(as: new.realm) else {
            take(new)
            return .answer(.challenged)
        }
        let isForgotten = last.cause == .unasked && !last.nonce.hasSameBytes(as: new.nonce)
        guard new.isStale || isForgotten else { return .refuse(.wrongPassword) }
        if last.cause == .renewed { return .refuse(.staleAgain) }
        take(new)
        return .answer(.renewed)
    }

    private mutating func take(_ new: DigestChallenge) {
        let isKnown = challenge.map { $0.nonce.hasSameBytes(as: new.nonce) && $0.algorithm == new.algorithm } ?? false
        if !isKnown { session = nil }
        challenge = new
    }
}

extension DigestMachine: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows nothing secret, and no user's name.
    package var description: String { "Digest authentication" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
