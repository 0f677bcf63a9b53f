package import DunlinTypes

/// A server's confirmation of an accepted answer (RFC 7616 §3.5), in Authentication-Info or Proxy-Authentication-Info.
package struct AuthenticationInfo: Sendable, Equatable {
    /// The nonce for the next answers.
    package let nextNonce: String?
    /// The proof that the server knows the password too, in hexadecimal digits.
    package let proof: String?
    /// The quality of protection, as written.
    package let quality: String?
    package let clientNonce: String?
    package let count: String?

    /// Reads the field; nil without one, and if it is invalid, as with a repeated parameter.
    package init?(_ fields: Fields, from challenger: Challenger) {
        self.init(fields.rawValues(of: challenger.infoField))
    }

    /// Reads the values of several fields as one list.
    package init?(_ values: [Bytes]) {
        guard !values.isEmpty, let parameters = Self.parameters(values) else { return nil }
        var texts: [String: String] = [:]
        for (name, value) in parameters {
            guard let text = String(validating: value, as: UTF8.self) else { return nil }
            texts[name] = text
        }
        nextNonce = texts["nextnonce"].flatMap { $0.isEmpty ? nil : $0 }
        proof = texts["rspauth"]
        quality = texts["qop"]
        clientNonce = texts["cnonce"]
        count = texts["nc"]
    }

    private static func parameters(_ values: [Bytes]) -> [String: Bytes]? {
        guard values.reduce(0, { $0 + $1.count }) <= ChallengeReader.longest else { return nil }
        var parameters: [String: Bytes] = [:]
        for value in values {
            var reader = ValueReader(value)
            while true {
                reader.skipBlanks()
                if reader.take(",") { continue }
                if reader.isAtEnd { break }
                guard let (name, value) = reader.parameter(), parameters[name] == nil,
                    parameters.count < ChallengeReader.mostParameters
                else { return nil }
                parameters[name] = value
            }
        }
        return parameters
    }
}
