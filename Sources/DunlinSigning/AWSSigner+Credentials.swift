extension AWSSigner {
    /// Who signs: an access key, its secret, and for temporary credentials their session token.
    ///
    /// No description shows the secret or the token.
    public struct Credentials: Sendable, Hashable {
        public var accessKey: String
        public var secret: String
        public var sessionToken: String?

        public init(accessKey: String, secret: String, sessionToken: String? = nil) {
            self.accessKey = accessKey
            self.secret = secret
            self.sessionToken = sessionToken
        }
    }
}

extension AWSSigner.Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "Credentials(\(accessKey))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["accessKey": accessKey], displayStyle: .struct) }
}
