internal import DunlinSemantics

extension HTTP {
    /// The credentials of a user, either sent unasked in an Authorization field, or a password to answer a server's
    /// challenge.
    ///
    /// The first of these is used: an Authorization field of the request, the request's credentials, the user info in
    /// its URL, the session's default field, the session's credentials or the user info in its base URL. The last two
    /// are only for the base URL's origin. A session with both a default field and credentials is refused. Credentials
    /// are never sent to another origin that a redirect leads to. User info counts as `password`.
    public enum Credentials: Sendable, Hashable {
        /// A user and password for Basic (RFC 7617, in UTF-8), sent unasked. A user name with a colon, and control
        /// characters, are refused.
        case basic(user: String, password: String)
        /// A bearer token (RFC 6750), sent unasked. Text that is not a valid token is refused.
        case bearer(token: String)
        /// A user and password to answer a 401: by Digest with the strongest algorithm offered, otherwise by Basic,
        /// over http only if the session's `basicInClearText` allows it. Nothing is sent before the server asks.
        case password(user: String, password: String)
        /// A user and password for Digest only: a server that offers nothing but Basic never gets the password.
        case digest(user: String, password: String)
    }
}

extension HTTP.Credentials {
    /// The value of the Authorization field; nil for a password, which is not sent unasked. Throws an error with `code`
    /// if there can be no value.
    package func authorization(_ code: NetworkError.Code) throws -> String? {
        do throws(Authorization.Problem) {
            switch self {
            case .basic(let user, let password): return try Authorization.basic(user: user, password: password)
            case .bearer(let token): return try Authorization.bearer(token: token)
            case .password(let user, let password), .digest(let user, let password):
                try Authorization.check(user: user, password: password)
                return nil
            }
        } catch {
            throw NetworkError(code, "the credentials cannot be sent", underlying: error)
        }
    }

    /// Whether the credentials are sent as Basic, which everybody on the way can read in clear text.
    package var isBasic: Bool { if case .basic = self { true } else { false } }
}

extension HTTP.Credentials: CustomDebugStringConvertible, CustomReflectable {
    /// The kind of credentials, without any secret, because descriptions end up in logs.
    public var debugDescription: String {
        switch self {
        case .basic: "basic credentials"
        case .bearer: "bearer token"
        case .password, .digest: "a user and a password"
        }
    }

    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Fields {
    /// Replaces the Authorization field; nil removes it.
    package mutating func authorize(_ value: String?) {
        remove("authorization")
        guard let value else { return }
        append(name: "Authorization", value: value, sensitive: true)
    }
}
