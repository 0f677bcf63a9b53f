package import DunlinTypes

/// Hashes bytes; nil if there is no such function. The code below the hashes does not know OpenSSL.
package typealias Hashing = @Sendable (HashFunction, Bytes) -> Bytes?

/// The formulas of RFC 7616 §3.4.1 to §3.4.4 and of §3.5, in their order.
struct DigestCalculation {
    let function: HashFunction
    let hashing: Hashing

    func hash(_ text: String) throws(DigestProblem) -> String {
        guard let hash = hashing(function, Bytes(text)) else { throw .unavailable(function) }
        return hash.hex
    }

    /// Returns the hash of A1. `session` has the nonces of the session's first answer, for algorithms with sessions.
    func key(
        user: String, realm: String, password: String, session: DigestSession?
    ) throws(DigestProblem) -> String {
        let key = try hash("\(user):\(realm):\(password)")
        guard let session else { return key }
        return try hash("\(key):\(session.nonce):\(session.clientNonce)")
    }

    /// Returns the response, or the server's proof, which has no method. `quality` is nil for RFC 2069.
    func response(
        key: String, use: DigestUse, quality: DigestQuality?, method: String, target: String, bodyHash: Bytes?
    ) throws(DigestProblem) -> String {
        var request = "\(method):\(target)"
        if quality == .integrity {
            guard let bodyHash else { throw .noBodyHash }
            request += ":\(bodyHash.hex)"
        }
        let requestHash = try hash(request)
        guard let quality else { return try hash("\(key):\(use.nonce):\(requestHash)") }
        return try hash("\(key):\(use.nonce):\(use.count):\(use.clientNonce):\(quality.rawValue):\(requestHash)")
    }
}

/// One use of a nonce.
struct DigestUse: Sendable {
    let nonce: String
    let clientNonce: String
    let count: String
}

/// The nonces that began a session.
struct DigestSession: Sendable {
    let nonce: String
    let clientNonce: String
}
