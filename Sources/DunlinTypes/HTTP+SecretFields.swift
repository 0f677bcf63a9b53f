extension HTTP {
    /// The names of fields whose values are secrets. One list for everything: no description shows these values, no
    /// redirect takes them to another origin, and none is written to a disk.
    ///
    /// The usual ones are always among them. A field of any name is secret too if it was appended as sensitive.
    ///
    /// ```swift
    /// configuration.secretFields = ["X-Tenant-Key"]
    /// ```
    public struct SecretFields: Sendable, Hashable {
        /// The names beside the usual ones, in lower case.
        public private(set) var more: Set<String> = []

        /// The usual ones and no others.
        public static let usual = HTTP.SecretFields()

        public init() {}

        /// The usual ones and these, in any case.
        public init(_ names: some Sequence<String>) {
            for name in names { insert(name) }
        }

        public mutating func insert(_ name: String) {
            let name = name.lowercased()
            if !Self.names.contains(name) { more.insert(name) }
        }

        public func union(_ names: some Sequence<String>) -> HTTP.SecretFields {
            var all = self
            for name in names { all.insert(name) }
            return all
        }

        /// Whether a name, in any case, is among them.
        public func contains(_ name: String) -> Bool {
            let name = name.lowercased()
            return Self.names.contains(name) || more.contains(name)
        }

        /// Whether a field of that name, in any case, looks as if it might be secret. Nobody knows all names that there
        /// are, so this is asked of fields that are stored on a disk.
        public func mayContain(_ name: String) -> Bool {
            let name = name.lowercased()
            return contains(name) || Self.signs.contains { name.contains($0) }
        }

        package static let signs = [
            "auth", "cookie", "token", "secret", "key", "password", "credential", "session", "signature",
        ]

        private static let names: Set<String> = [
            // HTTP's own (RFC 9110 §11, RFC 6265).
            "authorization", "proxy-authorization", "authentication-info", "proxy-authentication-info", "cookie",
            "cookie2",
            "set-cookie", "set-cookie2",
            // Keys and tokens as most services call them.
            "api-key", "apikey", "x-api-key", "x-apikey", "x-api-token", "api-token", "x-app-key", "x-auth",
            "x-auth-key",
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
            // What a customer's data is encrypted with.
            "x-amz-server-side-encryption-customer-key", "x-amz-copy-source-server-side-encryption-customer-key",
            "x-goog-encryption-key", "x-goog-copy-source-encryption-key", "x-ms-encryption-key",
            "x-ms-source-encryption-key",
        ]
    }
}

extension HTTP.SecretFields: ExpressibleByArrayLiteral {
    /// The usual ones and these.
    public init(arrayLiteral names: String...) {
        self.init(names)
    }
}

extension Fields {
    /// Marks fields of these names, as if they had been appended as sensitive.
    package mutating func mark(_ secret: HTTP.SecretFields) {
        // Those that are usual are known by their names.
        if secret.more.isEmpty { return }
        mark { secret.more.contains($0.lowercased()) }
    }
}
