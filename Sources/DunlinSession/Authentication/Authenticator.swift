extension HTTPSession {
    /// Puts a credential on every request to the base URL's origin, and gets another when it is refused: once for all
    /// requests that wait for it.
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
    /// `configuration.authentication = .by(OAuth())` has a session use it. For a bearer token that a closure gets,
    /// ``Authentication/bearer(_:refreshTimeout:_:)`` is shorter.
    ///
    /// Rules:
    /// 1. The first request that finds no credential, or a refused or expired one, has it refreshed; all others wait
    ///    for the same refresh, and share its result or its failure.
    /// 2. A request that is refused is sent once more with a newer credential, if its body can be sent again. If it is
    ///    refused again, its response is what it is.
    /// 3. After a failed refresh, and after a new credential that is refused before it is accepted, none is got for a
    ///    while, from a second to a minute: requests fail with what the refresh failed with, or go with what there is.
    /// 4. A credential with a lifetime is refreshed ahead, while requests still go with it.
    /// 5. `refresh` runs off the loops, in a task of its own with a limit of its own, whoever has left meanwhile.
    ///    Requests that are made in it go without the credential, and wait in no queue.
    /// 6. The credential stays with the origin. A request with its own `Authorization`, or other fields of the same
    ///    names, with `credentials` in its options or user info in its URL goes with these.
    public protocol Authenticator<Credential>: Sendable {
        associatedtype Credential: Sendable

        /// What there is to begin with; nil to refresh before the first request.
        var initialCredential: Credential? { get }

        /// How long a refresh may take.
        var refreshTimeout: Duration { get }

        /// The fields that a request with this credential has. Asked once for each credential.
        func fields(for credential: Credential) -> Fields

        /// How long a credential that has just been got is good for; nil until it is refused. Asked once for each.
        func lifetime(of credential: Credential) -> Duration?

        /// Gets a new credential; `stale` is the one before it, if there was one.
        func refresh(_ stale: Credential?, using client: HTTPSession) async throws -> Credential

        /// Whether a response says that the credential is not, or no longer, accepted.
        func isRefused(by response: ResponseHead) -> Bool
    }

    /// A bearer token (RFC 6750).
    public struct BearerToken: Sendable, Hashable, ExpressibleByStringLiteral {
        public var value: String
        /// How long it is good for from the time when it was got; nil until it is refused.
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

extension HTTPSession.BearerToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows nothing secret: descriptions end in logs.
    public var description: String { "a bearer token" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}
