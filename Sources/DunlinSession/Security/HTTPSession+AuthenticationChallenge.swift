extension HTTPSession {
    /// A demand for proof of an identity: ours, which a server wants before it goes on, or the server's, which we want.
    ///
    /// ```swift
    /// configuration.authenticationHandler = { challenge in
    ///     // Any origin that a redirect leads to may name any realm: only this one may have the password.
    ///     guard case .protectionSpace(let space) = challenge.kind,
    ///         challenge.origin.description == "https://api.example.com",
    ///         let login = await prompt(space.realm, again: challenge.previousFailures > 0)
    ///     else { return .performDefault }
    ///     return .useCredential(.password(user: login.user, password: login.password))
    /// }
    /// ```
    public struct AuthenticationChallenge: Sendable {
        public enum Kind: Sendable, Hashable {
            /// The server has shown its certificate and the policy has decided. Nothing has been sent to it yet: no
            /// client certificate, and no byte of a request.
            case serverTrust(HTTP.TrustDecision)
            /// The server asks for a client's certificate.
            case clientCertificate(acceptableIssuers: [String])
            /// A response says 401, and asks for this. If it asks for several, each is a challenge of its own: the
            /// strongest comes first, and `reject` asks about the next.
            case protectionSpace(ProtectionSpace)
        }

        /// What a response asks for (RFC 9110 §11.5): a method, and the server's name for what it protects.
        public struct ProtectionSpace: Sendable, Hashable {
            public enum Method: Sendable, Hashable {
                case digest
                case basic
                case bearer
                /// The scheme as the server writes it, such as `Negotiate`. No credential answers it.
                case other(String)
            }

            public var method: Method
            /// Empty if the server names none. These are the server's words: show them as such.
            public var realm: String

            public init(_ method: Method, realm: String = "") {
                self.method = method
                self.realm = realm
            }
        }

        public var kind: Kind
        /// The origin that asks.
        public var origin: HTTP.Origin
        /// How often an answer of the handler's was refused, in this request and by this origin. What was sent
        /// unasked, because it was right before, does not count.
        public var previousFailures: Int
        /// The response that asked; a handshake asks without one.
        public var response: ResponseHead?
        /// What answers if the handler has no opinion: the password that the request or its session has. Nil if there
        /// is none, if it was refused, or if it may not answer this protection space. A handler that returns it leaves
        /// it to the default.
        public var proposed: Credential?

        public init(
            _ kind: Kind, origin: HTTP.Origin, previousFailures: Int = 0, response: ResponseHead? = nil,
            proposed: Credential? = nil
        ) {
            self.kind = kind
            self.origin = origin
            self.previousFailures = previousFailures
            self.response = response
            self.proposed = proposed
        }
    }
}

extension HTTPSession {
    /// Answers challenges. The connection waits meanwhile, within the request's timeouts; the hook runs off the loop
    /// and is cancelled with the request. A hook that does not heed that holds the request until it returns.
    ///
    /// Look at the challenge's `origin` before you answer: any server may name any realm.
    ///
    /// An answer to a response's challenge is sent with the request again. Nobody is asked if the body cannot be sent
    /// again, nor about Basic in clear text that is not allowed: the request fails with `bodyNotReplayable` or
    /// `clearTextRefused`. If the answer is refused, the handler is asked again, with the count; if it says the same
    /// again, the response is delivered, and after five refusals the request fails with `authenticationFailed`.
    ///
    /// What the session's handler answered and the server took is remembered for the protection space, and is tried
    /// before the handler is asked; what it was not asked about is not. What the request's own did counts for the
    /// request alone, and so does all that is said for a request with credentials of its own; a request with a handler
    /// of its own sends nothing unasked. The session's handler is asked one question at a time about an
    /// origin's protection space: requests that are challenged meanwhile wait for the answer, each within its own
    /// limits, and take it as theirs. What a handler requests through its own session waits in no queue and does not
    /// ask the session's handler about a 401.
    public typealias AuthenticationHandler =
        @Sendable (HTTPSession.AuthenticationChallenge) async -> HTTPSession.AuthenticationChallenge.Response
}

extension HTTPSession.AuthenticationChallenge {
    /// The answer to a challenge.
    public enum Response: Sendable {
        /// Answer with this credential.
        case useCredential(HTTPSession.AuthenticationChallenge.Credential)
        /// Do as if there were no handler: the policy decides about servers, the configured identity is shown, the
        /// configured password answers this challenge and no other, and a 401 without one is delivered. If it cannot
        /// answer, the next challenge is asked about. If the request's handler returns it, the session's is asked.
        case performDefault
        /// Fail the request, with this error if there is one. It is not tried again, whatever the error is.
        case cancel((any Error)? = nil)
        /// Give no answer. A server that was to be trusted is not; one that asked for our identity goes on without. Of
        /// a response's challenges the next one is asked about; after the last the response is delivered.
        case reject
    }
}

extension HTTPSession.AuthenticationChallenge {
    /// What answers a challenge.
    public enum Credential: Sendable, Hashable {
        /// **Lowers security.** Trust the server although the policy refuses it. It is reported to
        /// `securityWarningHandler`.
        case trustDespiteRefusal
        case identity(HTTPSession.ClientIdentity)
        /// Answers a protection space by Digest or Basic, as the server asks. Basic goes over http only if the
        /// session's `basicInClearText` allows it.
        case password(user: String, password: String)
        /// Answers a protection space by Bearer, for this request alone.
        case bearer(token: String)
    }
}

extension HTTPSession.AuthenticationChallenge.Credential: CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// Shows nothing secret: descriptions end in logs.
    public var description: String {
        switch self {
        case .trustDespiteRefusal: "trust despite refusal"
        case .identity: "client identity"
        case .password: "a user and a password"
        case .bearer: "a bearer token"
        }
    }

    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
