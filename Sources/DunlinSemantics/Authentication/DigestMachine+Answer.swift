package import DunlinTypes

/// The properties of a request that a Digest answer depends on.
package struct DigestRequest: Sendable {
    package var method: HTTP.Method
    /// The target as in the request line.
    package var target: String
    /// The hash of the body by `DigestMachine.bodyHashFunction`; of no bytes if there is no body.
    package var bodyHash: Bytes?

    package init(method: HTTP.Method, target: String, bodyHash: Bytes? = nil) {
        self.method = method
        self.target = target
        self.bodyHash = bodyHash
    }
}

extension DigestChallenge {
    /// The function to hash the body with for an answer; nil if it need not be hashed.
    var bodyHashFunction: HashFunction? { quality == .integrity ? algorithm.function : nil }
}

extension ChallengeChoice.Option {
    /// The function to hash the body with for an answer; nil if it need not be hashed.
    package var bodyHashFunction: HashFunction? {
        if case .digest(let challenge) = self { challenge.bodyHashFunction } else { nil }
    }
}

extension DigestMachine {
    /// The function to hash the body with for the next answer; nil if it need not be hashed.
    package var bodyHashFunction: HashFunction? { challenge?.bodyHashFunction }

    /// Returns the answer for one request. It may be sent once: the next one has another count.
    ///
    /// `clientNonce` must be unguessable, and new for each answer.
    package mutating func answer(
        _ request: DigestRequest, clientNonce: String, cause: DigestAnswer.Cause = .unasked
    ) throws(DigestProblem) -> DigestAnswer {
        guard let challenge else { throw .notChallenged }
        if clientNonce.isEmpty || Authorization.hasControls(clientNonce) { throw .unusableClientNonce }
        let calculation = DigestCalculation(function: challenge.algorithm.function, hashing: hashing)
        let begun = session ?? DigestSession(nonce: challenge.nonce, clientNonce: clientNonce)
        let isSession = challenge.algorithm.isSession
        let key = try calculation.key(
            user: Self.form(user, challenge), realm: challenge.realm, password: Self.form(password, challenge),
            session: isSession ? begun : nil)
        if challenge.quality == .integrity, request.bodyHash == nil { throw .noBodyHash }
        guard let number = nonces.use(challenge.nonce) else { throw .nonceUsedUp }
        if isSession { session = begun }
        let use = DigestUse(
            nonce: challenge.nonce, clientNonce: isSession ? begun.clientNonce : clientNonce,
            count: Hex.text(number, count: 8)
        )
        let response = try calculation.response(
            key: key, use: use, quality: challenge.quality, method: request.method.rawValue, target: request.target,
            bodyHash: request.bodyHash)
        let value = try value(challenge, calculation, use, target: request.target, response: response)
        return DigestAnswer(
            value: value, cause: cause, nonce: use.nonce, clientNonce: use.clientNonce, count: use.count,
            quality: challenge.quality, realm: challenge.realm, target: request.target, algorithm: challenge.algorithm,
            key: key, user: user, password: password)
    }

    /// Returns the field's value, ordered as in the examples of RFC 7616 §3.9, without the parameters that RFC 2069
    /// lacks if it is spoken.
    private func value(
        _ challenge: DigestChallenge, _ calculation: DigestCalculation, _ use: DigestUse, target: String,
        response: String
    ) throws(DigestProblem) -> String {
        var parameters = [
            try userParameter(challenge, calculation), "realm=\(QuotedText.of(challenge.realm))",
            "uri=\(QuotedText.of(target))",
        ]
        if let text = challenge.algorithmText { parameters.append("algorithm=\(text)") }
        parameters.append("nonce=\(QuotedText.of(use.nonce))")
        if let quality = challenge.quality {
            parameters += ["nc=\(use.count)", "cnonce=\(QuotedText.of(use.clientNonce))", "qop=\(quality.rawValue)"]
        }
        parameters.append("response=\"\(response)\"")
        if let opaque = challenge.opaque { parameters.append("opaque=\(QuotedText.of(opaque))") }
        if challenge.hashesUser { parameters.append("userhash=true") }
        return "Digest " + parameters.joined(separator: ", ")
    }

    /// Returns the text's form: NFC for a server that names UTF-8 (§4).
    private static func form(_ text: String, _ challenge: DigestChallenge) -> String {
        challenge.isUTF8 ? NormalText.of(text) : text
    }

    /// Returns the user's parameter. A name beyond ASCII uses the extended form if the server knows UTF-8 (§3.4).
    private func userParameter(
        _ challenge: DigestChallenge, _ calculation: DigestCalculation
    ) throws(DigestProblem) -> String {
        let user = Self.form(user, challenge)
        if challenge.hashesUser { return "username=\"\(try calculation.hash("\(user):\(challenge.realm)"))\"" }
        if challenge.isUTF8, !user.utf8.allSatisfy({ $0 < 0x80 }) { return "username*=\(ExtendedText.of(user))" }
        return "username=\(QuotedText.of(user))"
    }
}

/// Writes a text as the value of a parameter whose name ends in a star (RFC 8187 §3.2).
enum ExtendedText {
    static func of(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if isPlain(byte) { bytes.append(byte) } else { bytes.appendTriplet(of: byte) }
        }
        return "UTF-8''" + String(decoding: bytes, as: UTF8.self)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$&+-.^_`|~".utf8.contains(byte)
        }
    }
}
