package import DunlinTypes

/// The reason why a Digest challenge is not answered, or why a server's proof is invalid. It holds no secret.
package enum DigestProblem: Error, Sendable, Hashable {
    /// There was no challenge yet.
    case notChallenged
    /// The answer was refused.
    case wrongPassword
    /// A new nonce was stale at once.
    case staleAgain
    /// The hash function is missing: a FIPS provider has no MD5.
    case unavailable(HashFunction)
    /// The server wants the body hashed, but its hash is missing.
    case noBodyHash
    /// All four thousand million uses of a nonce are used up.
    case nonceUsedUp
    case unusableClientNonce
    /// The server confirmed another answer than this one.
    case otherAnswer
    /// The sender of the response does not know the password.
    case wrongProof
}

extension DigestProblem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notChallenged: "there is no challenge to answer"
        case .wrongPassword: "the user name or the password was refused"
        case .staleAgain: "the server calls every nonce stale, even one that it has just sent"
        case .unavailable(let function): "\(function) is not available here"
        case .noBodyHash: "the server asks for a digest of the body (auth-int), and the body is not in memory"
        case .nonceUsedUp: "the server's nonce was used as often as it can be"
        case .unusableClientNonce: "the client's nonce is empty or has control characters"
        case .otherAnswer: "the server's Authentication-Info is for another request"
        case .wrongProof: "the server did not prove that it knows the password"
        }
    }
}
