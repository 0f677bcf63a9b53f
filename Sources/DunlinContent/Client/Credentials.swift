internal import DunlinSemantics

extension HTTP {
    /// The credentials of a user: sent unasked in an Authorization field, or a password for what a server asks.
    ///
    /// A field of that name among the request's own counts first; then the request's credentials, the user info in its
    /// URL, the session's default field, and last the session's credentials or the user info in its base URL. The last
    /// two are for the base URL's origin only. A session that has both a default field and credentials is refused.
    /// No credentials are for another origin that a redirect leads to. User info is as `password`.
    public enum Credentials: Sendable, Hashable {
        /// RFC 7617, in UTF-8, unasked. A user name with a colon is refused, and so are control characters.
        case basic(user: String, password: String)
        /// RFC 6750, unasked. A text that is no token is refused.
        case bearer(token: String)
        /// Answers the challenge of a 401: Digest by its strongest algorithm, or else Basic, which goes over http only
        /// where the session's `basicInClearText` allows it. Nothing is sent before the server asks.
        case password(user: String, password: String)
        /// The same by Digest alone: a server that asks for nothing but Basic never gets the password.
        case digest(user: String, password: String)
    }
}

extension HTTP.Credentials {
    /// The field's value; nil for a password, which is not sent unasked. `code` is what is thrown if there can be none.
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

    /// Whether they are sent for everybody on the way to read, where that is in clear text.
    package var isBasic: Bool { if case .basic = self { true } else { false } }
}

extension HTTP.Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows nothing secret: descriptions end in logs.
    public var description: String {
        switch self {
        case .basic: "basic credentials"
        case .bearer: "bearer token"
        case .password, .digest: "a user and a password"
        }
    }

    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Fields {
    /// Says who the user is, in place of whoever was said; nil for nobody.
    package mutating func authorize(_ value: String?) {
        remove("authorization")
        guard let value else { return }
        append(name: "Authorization", value: value, sensitive: true)
    }
}
