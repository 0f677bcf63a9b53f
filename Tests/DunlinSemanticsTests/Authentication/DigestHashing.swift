import DunlinSecure
import DunlinSemantics
import DunlinTypes
import Testing

/// OpenSSL's hashes, as a session hands them to the rules.
let hashing: Hashing = { function, bytes in
    do throws(HashFunction.Unavailable) { return try function.hash(of: bytes) } catch { return nil }
}

func digestChallenge(_ parameters: String) throws -> DigestChallenge {
    try DigestChallenge(try #require(Challenge.all(in: [Bytes("Digest \(parameters)")]).first))
}

extension DigestMachine {
    init(_ user: String = "ada", _ password: String = "secret") throws {
        try self.init(user: user, password: password, hashing: hashing)
    }

    mutating func get(
        _ target: String = "/", _ clientNonce: String = "c", cause: DigestAnswer.Cause = .unasked
    ) throws -> DigestAnswer {
        try answer(DigestRequest(method: .get, target: target), clientNonce: clientNonce, cause: cause)
    }
}
