package import DunlinSemantics

extension HTTP {
    /// The credentials of a user, sent unasked in an Authorization field.
    ///
    /// A field of that name among the request's own counts first; then the request's credentials, the user info in its
    /// URL, the session's default field, and last the session's credentials or the user info in its base URL. The last
    /// two are sent to the base URL's origin only. A session that has both a default field and credentials is refused.
    /// No credentials are sent to another origin that a redirect leads to.
    public enum Credentials: Sendable, Hashable {
        /// RFC 7617, in UTF-8. A user name with a colon is refused, and so are control characters.
        case basic(user: String, password: String)
        /// RFC 6750. A text that is no token is refused.
        case bearer(token: String)
    }
}

extension HTTP.Credentials {
    /// The field's value. `code` is what is thrown if there can be none.
    package func authorization(_ code: NetworkError.Code) throws -> String {
        do throws(Authorization.Problem) {
            return switch self {
            case .basic(let user, let password): try Authorization.basic(user: user, password: password)
            case .bearer(let token): try Authorization.bearer(token: token)
            }
        } catch {
            throw NetworkError(code, "the credentials cannot be sent", underlying: error)
        }
    }

    package init(_ info: WebAddress.UserInfo) {
        self = .basic(user: info.user, password: info.password ?? "")
    }
}

extension HTTP.Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows nothing secret: descriptions end in logs.
    public var description: String {
        switch self {
        case .basic: "basic credentials"
        case .bearer: "bearer token"
        }
    }

    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Fields {
    /// Says who the user is, in place of whoever was said.
    package mutating func authorize(_ value: String) {
        remove("authorization")
        append(name: "Authorization", value: value, sensitive: true)
    }
}
