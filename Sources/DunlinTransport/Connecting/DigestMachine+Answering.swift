internal import DunlinSecure
package import DunlinSemantics
internal import DunlinTypes

/// What Digest's rules leave to others, for servers and proxies: hashes, and unpredictable numbers.
extension DigestMachine {
    /// Throws for characters that no field can carry.
    package init(user: String, password: String) throws(Authorization.Problem) {
        try self.init(user: user, password: password) { function, bytes in
            do throws(HashFunction.Unavailable) { return try function.hash(of: bytes) } catch { return nil }
        }
    }

    package mutating func answer(_ request: HashedRequest, cause: DigestAnswer.Cause) throws -> DigestAnswer {
        var asked = DigestRequest(method: request.head.method, target: request.head.target)
        if let function = bodyHashFunction { asked.bodyHash = try request.bodyHash(by: function) }
        return try answer(asked, clientNonce: Hex.random(), cause: cause)
    }
}
