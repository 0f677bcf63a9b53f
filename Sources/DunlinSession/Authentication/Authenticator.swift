extension HTTPSession {
    /// A type that puts a credential on every request to the base URL's origin, and refreshes it when it is refused:
    /// once for all requests that wait for it.
    ///
    /// ```swift
    /// struct OAuth: HTTPSession.Authenticator {
    ///     func fields(for token: Token) -> Fields {
    ///         ["Authorization": "Bearer \(token.value)"]
    ///     }
    ///     func lifetime(of token: Token) -> Duration? { token.lifetime }
    ///     func refresh(_ stale: Token?, using client: HTTPSession) async throws -> Token {
    ///         try await client.post("oauth/token", body: .form(grant), as: Token.self)
    ///     }
    /// }
    /// ```
    ///
    /// `configuration.authentication = .by(OAuth())` makes a session use it. For a bearer token that a closure obtains,
    /// ``Authentication/bearer(_:refreshTimeout:_:)`` is shorter.
    ///
    /// Rules:
    /// 1. The first request that finds no credential, or a refused or expired one, starts a refresh; all others wait
    ///    for the same refresh, and share its result or failure.
    /// 2. A request that is refused is sent once more with a newer credential, if its body can be sent again. If it is
    ///    refused again, that response is delivered.
    /// 3. After a failed refresh, and after a new credential that is refused before it was ever accepted, there is no
    ///    refresh for a second to a minute: requests fail with the refresh's error, or are sent with the credential
    ///    that there is.
    /// 4. A credential with a lifetime is refreshed ahead of its end, while requests still use it.
    /// 5. `refresh` runs off the loops, in its own task with its own time limit, even if the requests that need it end.
    ///    Requests made in it are sent without the credential, and wait in no queue.
    /// 6. The credential is sent to the base URL's origin only. A request with its own `Authorization` or other fields
    ///    with the same names, with `credentials` in its options, or with user info in its URL is sent with these
    ///    instead.
    public protocol Authenticator<Credential>: Sendable {
        associatedtype Credential: Sendable

        /// The credential to begin with; nil to refresh before the first request.
        var initialCredential: Credential? { get }

        /// The time limit of a refresh.
        var refreshTimeout: Duration { get }

        /// Returns the fields of a request with this credential. Called once for each credential.
        func fields(for credential: Credential) -> Fields

        /// Returns how long a new credential is valid; nil for until it is refused. Called once for each credential.
        func lifetime(of credential: Credential) -> Duration?

        /// Returns a new credential; `stale` is the previous one, if there was one.
        func refresh(_ stale: Credential?, using client: HTTPSession) async throws -> Credential

        /// Returns whether a response says that the credential is not, or no longer, accepted.
        func isRefused(by response: ResponseHead) -> Bool
    }

    /// A bearer token (RFC 6750).
    public struct BearerToken: Sendable, Hashable, ExpressibleByStringLiteral {
        public var value: String
        /// How long the token is valid from when it was obtained; nil for until it is refused.
        public var lifetime: Duration?

        public init(_ value: String, lifetime: Duration? = nil) {
            self.value = value
            self.lifetime = lifetime
        }

        public init(stringLiteral value: String) {
            self.init(value)
        }
    }
}

extension HTTPSession.Authenticator {
    public var initialCredential: Credential? { nil }
    public var refreshTimeout: Duration { .seconds(30) }
    public func lifetime(of credential: Credential) -> Duration? { nil }
    public func isRefused(by response: ResponseHead) -> Bool { response.status == .unauthorized }
}

extension HTTPSession.BearerToken: CustomDebugStringConvertible, CustomReflectable {
    /// Shows nothing secret, because descriptions end up in logs.
    public var debugDescription: String { "a bearer token" }
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}
