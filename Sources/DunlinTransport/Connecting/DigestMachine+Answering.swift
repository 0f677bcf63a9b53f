internal import DunlinSecure
package import DunlinSemantics
package import DunlinTypes

/// What the rules of Digest leave to others, for servers and proxies alike: hashes, and numbers that nobody foretells.
extension DigestMachine {
    /// Throws for what no field can carry.
    package init(user: String, password: String) throws(Authorization.Problem) {
        try self.init(user: user, password: password) { function, bytes in
            do throws(HashFunction.Unavailable) { return try function.hash(of: bytes) } catch { return nil }
        }
    }

    /// The answer for a request with this content, which is asked for if it is hashed; nil is one that is not at hand.
    package mutating func answer(
        _ request: RequestHead, over content: @autoclosure () -> Bytes?, cause: DigestAnswer.Cause
    ) throws -> DigestAnswer {
        var asked = DigestRequest(method: request.method, target: request.target)
        if let function = bodyHashFunction { asked.bodyHash = try content().map(function.hash) }
        return try answer(asked, clientNonce: Hex.random(), cause: cause)
    }
}
