/// The one list of names whose values are secrets, and of the signs by which others are told.
extension HTTP.SecretFields {
    /// Names of fields, in lower case, that are secret for certain.
    static let names: Set<String> = [
        // HTTP's own (RFC 9110 §11, RFC 6265).
        "authorization", "proxy-authorization", "authentication-info", "proxy-authentication-info", "cookie",
        "cookie2", "set-cookie", "set-cookie2",
        // Keys and tokens as most services call them.
        "api-key", "apikey", "x-api-key", "x-apikey", "x-api-token", "api-token", "x-app-key", "x-auth", "x-auth-key",
        "x-auth-token", "auth-token", "x-access-token", "access-token", "x-refresh-token", "x-id-token", "x-token",
        "x-session-token", "x-session-id", "x-secret", "x-secret-key", "x-client-secret", "client-secret",
        "x-api-secret", "x-password", "x-csrf-token", "csrf-token", "x-xsrf-token", "x-forwarded-access-token",
        // And as some do.
        "x-amz-security-token", "x-aws-ec2-metadata-token", "x-goog-api-key", "x-goog-iam-authorization-token",
        "ocp-apim-subscription-key", "x-functions-key", "x-ms-authorization-auxiliary", "x-vault-token",
        "x-consul-token", "x-nomad-token", "private-token", "job-token", "x-gitlab-token", "circle-token",
        "x-figma-token", "x-shopify-access-token", "x-rapidapi-key", "dd-api-key", "dd-application-key",
        "x-airbrake-token", "x-parse-master-key", "x-parse-rest-api-key", "x-parse-session-token",
        "x-postmark-server-token",
        // What a proxy that logs in says of the user.
        "cf-access-jwt-assertion", "cf-access-client-secret", "x-goog-iap-jwt-assertion", "x-amzn-oidc-data",
        "x-amzn-oidc-accesstoken", "x-jwt", "x-jwt-assertion", "x-jwt-token", "jwt",
        // What a customer's data is encrypted with.
        "x-amz-server-side-encryption-customer-key", "x-amz-copy-source-server-side-encryption-customer-key",
        "x-goog-encryption-key", "x-goog-copy-source-encryption-key", "x-ms-encryption-key",
        "x-ms-source-encryption-key",
    ]

    /// What a name contains that is likely to be a secret's, wherever it stands: in a head, a query, a form or JSON.
    static let signs = [
        "auth", "cookie", "token", "secret", "key", "password", "credential", "session", "signature", "passw",
        "passphrase", "passcode", "pwd", "jwt", "bearer", "private", "cvv", "cvc", "iban", "csrf", "xsrf",
        "pincode", "otp", "mfa", "securitycode", "verificationcode", "recovery", "cardnumber", "mnemonic", "seed",
        // What OAuth and SAML send instead of a token, or to get one.
        "assertion", "saml", "codeverifier", "devicecode", "usercode",
    ]

    /// Whole names.
    static let words = ["pass", "pin", "tan", "ssn", "code", "pan", "sig", "access", "refresh"]
}

// MARK: - What is not shown

extension HTTP.SecretFields {
    /// A name that is longer is not judged, and taken for that of a secret.
    package static let longestName = 100

    private static let signLetters = signs.map { Array($0.utf8) }
    private static let wordLetters = Set(words.map { Array($0.utf8) })

    /// Whether the value of that name is left out of what is printed, be it in a query, a form or JSON. So is what most
    /// likely is a secret: to show too little does no harm.
    public func hides(_ name: some StringProtocol) -> Bool {
        guard name.utf8.count <= Self.longestName else { return true }
        let letters = Self.letters(of: name)
        return Self.wordLetters.contains(letters)
            || letters.indices.contains { start in Self.signLetters.contains { letters[start...].starts(with: $0) } }
            || more.contains { Self.letters(of: $0) == letters }
    }

    /// Fields that ask for a password, and none is in them.
    private static let challenges: Set<String> = ["www-authenticate", "proxy-authenticate"]
    /// Fields whose names look like a secret's, and whose values are none.
    private static let plain = challenges.union(["refresh", "idempotency-key"])

    /// Whether the value of a head's field of that name is left out of what is printed.
    package func hidesField(_ name: String) -> Bool {
        contains(name) || (hides(name) && !Self.plain.contains(name.lowercased()))
    }

    /// Fields whose values are URLs, which may have secrets in their queries.
    private static let links: Set<String> = ["location", "content-location", "referer", "link", "refresh"]

    /// The value of a field that is not secret, without the secrets that URLs in it have.
    package func shown(_ value: String, of name: String) -> String {
        let name = name.lowercased()
        if Self.challenges.contains(name) { return SecretText.withoutUserInfo(value) }
        let hasLink = Self.links.contains(name) || value.contains("//") || value.contains("?") || value.contains("%")
        return hasLink ? SecretText.masked(value, as: name == "link" ? .links : .link, hiding: self) : value
    }

    /// The same in all ways of writing several words as one.
    private static func letters(of name: some StringProtocol) -> [UInt8] {
        name.utf8.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }.map {
            (0x41...0x5A).contains($0) ? $0 | 0x20 : $0
        }
    }
}
