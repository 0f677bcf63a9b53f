/// The one list of names whose values are secret, and of the patterns by which other secret names are recognised.
extension HTTP.SecretFields {
    /// Field names, in lower case, whose values are certainly secret.
    static let names: Set<String> = [
        // HTTP's own (RFC 9110 §11, RFC 6265).
        "authorization", "proxy-authorization", "authentication-info", "proxy-authentication-info", "cookie",
        "cookie2", "set-cookie", "set-cookie2",
        // Browsers can send a WebSocket's token nowhere else, so servers take it here (RFC 6455 §11.3.4).
        "sec-websocket-protocol",
        // Keys and tokens as most services name them.
        "api-key", "apikey", "x-api-key", "x-apikey", "x-api-token", "api-token", "x-app-key", "x-auth", "x-auth-key",
        "x-auth-token", "auth-token", "x-access-token", "access-token", "x-refresh-token", "x-id-token", "x-token",
        "x-session-token", "x-session-id", "x-secret", "x-secret-key", "x-client-secret", "client-secret",
        "x-api-secret", "x-password", "x-csrf-token", "csrf-token", "x-xsrf-token", "x-forwarded-access-token",
        // Keys and tokens of particular services.
        "x-amz-security-token", "x-aws-ec2-metadata-token", "x-goog-api-key", "x-goog-iam-authorization-token",
        "ocp-apim-subscription-key", "x-functions-key", "x-ms-authorization-auxiliary", "x-vault-token",
        "x-consul-token", "x-nomad-token", "private-token", "job-token", "x-gitlab-token", "circle-token",
        "x-figma-token", "x-shopify-access-token", "x-rapidapi-key", "dd-api-key", "dd-application-key",
        "x-airbrake-token", "x-parse-master-key", "x-parse-rest-api-key", "x-parse-session-token",
        "x-postmark-server-token",
        // What an authenticating proxy says of the user.
        "cf-access-jwt-assertion", "cf-access-client-secret", "x-goog-iap-jwt-assertion", "x-amzn-oidc-data",
        "x-amzn-oidc-accesstoken", "x-jwt", "x-jwt-assertion", "x-jwt-token", "jwt",
        // Keys that a customer's data is encrypted with.
        "x-amz-server-side-encryption-customer-key", "x-amz-copy-source-server-side-encryption-customer-key",
        "x-goog-encryption-key", "x-goog-copy-source-encryption-key", "x-ms-encryption-key",
        "x-ms-source-encryption-key",
    ]

    /// Parts of a name that suggest a secret value, whether in a head, a query, a form or JSON.
    static let signs = [
        "auth", "cookie", "token", "secret", "key", "password", "credential", "session", "signature", "passw",
        "passphrase", "passcode", "pwd", "jwt", "bearer", "private", "cvv", "cvc", "iban", "csrf", "xsrf",
        "pincode", "otp", "mfa", "securitycode", "verificationcode", "recovery", "cardnumber", "mnemonic", "seed",
        // What OAuth and SAML send instead of a token, or to get one.
        "assertion", "saml", "codeverifier", "devicecode", "usercode",
    ]

    /// Words that suggest a secret only as the whole name.
    static let words = ["pass", "pin", "tan", "ssn", "code", "pan", "sig", "access", "refresh"]
}

// MARK: - What is not shown

extension HTTP.SecretFields {
    /// The length up to which names are judged; a longer name is treated as secret.
    package static let longestName = 100

    private static let signLetters = signs.map { Array($0.utf8) }
    private static let wordLetters = Set(words.map { Array($0.utf8) })

    /// Whether the value with this name is left out of printed queries, forms and JSON. Values that are probably secret
    /// are left out too, since showing too little does no harm.
    public func hides(_ name: some StringProtocol) -> Bool {
        let bytes = name.utf8
        guard bytes.count <= Self.longestName else { return true }
        // `user[pin]` and `user.pin` are names within others.
        return isSecret(bytes)
            || bytes.contains(where: Self.isJoint)
                && bytes.split(whereSeparator: Self.isJoint).contains(where: isSecret)
    }

    private static func isJoint(_ byte: UInt8) -> Bool { "[].:".utf8.contains(byte) }

    private func isSecret(_ name: some Sequence<UInt8>) -> Bool {
        let letters = Self.letters(of: name)
        return Self.wordLetters.contains(letters)
            || letters.indices.contains { start in Self.signLetters.contains { letters[start...].starts(with: $0) } }
            || more.contains { Self.letters(of: $0.utf8) == letters }
    }

    /// Fields that ask for a password and contain none.
    private static let challenges: Set<String> = ["www-authenticate", "proxy-authenticate"]
    /// Fields whose names look secret but whose values are not.
    private static let plain = challenges.union(["refresh", "idempotency-key"])

    /// Whether the value of the head field with this name is left out of what is printed.
    package func hidesField(_ name: String) -> Bool {
        contains(name) || (hides(name) && !Self.plain.contains(name.lowercased()))
    }

    /// Fields whose values are URLs, which may have secrets in their queries.
    private static let links: Set<String> = ["location", "content-location", "referer", "link", "refresh"]

    /// The value of a field that is not secret, without the secrets in any URLs, forms and JSON in it.
    package func shown(_ value: String, of name: String) -> String {
        let name = name.lowercased()
        if Self.challenges.contains(name) { return SecretText.withoutUserInfo(value) }
        // A link, an encoded text, or pairs of names and values.
        let mayHoldMore = Self.links.contains(name) || value.utf8.contains { "/?%=\"".utf8.contains($0) }
        return mayHoldMore ? SecretText.masked(value, as: name == "link" ? .links : .link, hiding: self) : value
    }

    /// The letters of a name, the same however its words are joined.
    private static func letters(of name: some Sequence<UInt8>) -> [UInt8] {
        name.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }.map {
            (0x41...0x5A).contains($0) ? $0 | 0x20 : $0
        }
    }
}
