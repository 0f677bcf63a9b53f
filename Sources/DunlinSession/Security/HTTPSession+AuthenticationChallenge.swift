extension HTTPSession {
    /// A request for proof of identity: ours, which a server requires before it continues, or the server's, which we
    /// require.
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
            /// The server has presented its certificate and the policy has decided. Nothing has been sent to it yet:
            /// neither a client certificate nor any byte of a request.
            case serverTrust(HTTP.TrustDecision)
            /// The server asks for a client's certificate.
            case clientCertificate(acceptableIssuers: [String])
            /// A 401 response asks for credentials of this kind. If it offers several, each is a challenge of its own:
            /// the strongest comes first, and `reject` leads to the next.
            case protectionSpace(ProtectionSpace)
        }

        /// What a response asks for (RFC 9110 §11.5): a method, and the server's name for what it protects.
        public struct ProtectionSpace: Sendable, Hashable {
            public enum Method: Sendable, Hashable {
                case digest
                case basic
                case bearer
                /// Another scheme, as the server wrote it, such as `Negotiate`. No credential answers it.
                case other(String)
            }

            public var method: Method
            /// The realm; empty if the server names none. It is the server's text, so mark it as such when you show it.
            public var realm: String

            public init(_ method: Method, realm: String = "") {
                self.method = method
                self.realm = realm
            }

            /// Compares realms byte by byte, as servers do.
            public static func == (left: ProtectionSpace, right: ProtectionSpace) -> Bool {
                left.method == right.method && left.realm.hasSameBytes(as: right.realm)
            }

            public func hash(into hasher: inout Hasher) { hasher.combine(bytesOf: realm) }
        }

        public var kind: Kind
        /// The origin that asks.
        public var origin: HTTP.Origin
        /// How often this origin refused an answer of the handler in this request. Answers sent unasked, because they
        /// were accepted before, do not count.
        public var previousFailures: Int
        /// The response with the challenge; nil in a handshake.
        public var response: ResponseHead?
        /// The password of the request or its session, which answers if the handler has no opinion. Nil if there is
        /// none, if it was refused, or if it may not answer this protection space. Returning it means leaving the
        /// answer to the default.
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
    /// Answers challenges. The connection waits meanwhile, within the request's timeouts; the handler runs off the loop
    /// and is cancelled with the request. A handler that ignores the cancellation delays the request until it returns.
    ///
    /// Check the challenge's `origin` before you answer: any server may name any realm.
    ///
    /// The request is sent again with the answer to a response's challenge. The handler is not asked if the body cannot
    /// be sent again or if Basic in clear text is not allowed: the request then fails with `bodyNotReplayable` or
    /// `clearTextRefused`. If the answer is refused, the handler is asked again, with the number of failures; if it
    /// gives the same answer, the response is delivered, and after five refusals the request fails with
    /// `authenticationFailed`.
    ///
    /// Answers of the session's handler that a server accepted are remembered for the protection space and tried before
    /// the handler is asked; other answers are not. Answers of a request's own handler, and all answers for a request
    /// with its own credentials, are for that request alone; a request with its own handler sends nothing unasked. The
    /// session's handler is asked one question at a time about an origin's protection space: requests that are
    /// challenged meanwhile wait for the answer, each within its own limits, and use it. A handler's own requests
    /// through its session wait in no queue and do not ask the session's handler about a 401.
    public typealias AuthenticationHandler =
        @Sendable (HTTPSession.AuthenticationChallenge) async -> HTTPSession.AuthenticationChallenge.Answer
}

extension HTTPSession.AuthenticationChallenge {
    /// The answer to a challenge.
    public enum Answer: Sendable {
        /// Answer with this credential.
        case useCredential(HTTPSession.AuthenticationChallenge.Credential)
        /// Act as without a handler: the policy decides about servers, the configured identity is presented, the
        /// configured password answers this challenge only, and a 401 without one is delivered. If the password cannot
        /// answer, the next challenge is asked about. If the request's handler returns this, the session's is asked.
        case performDefault
        /// Fail the request, with this error if there is one. It is not tried again, whatever the error is.
        case cancel((any Error)? = nil)
        /// Give no answer. A server is then not trusted, and one that asked for our identity continues without. For a
        /// response, the next challenge is asked about; after the last, the response is delivered.
        case reject
    }
}

extension HTTPSession.AuthenticationChallenge {
    /// An answer to a challenge.
    public enum Credential: Sendable, Hashable {
        /// **Lowers security.** Trust the server although the policy refuses it. This is reported to
        /// `securityWarningHandler`.
        case trustDespiteRefusal
        case identity(HTTPSession.ClientIdentity)
        /// A password for a protection space, by Digest or Basic as the server asks. Basic is used over http only if
        /// the session's `basicInClearText` allows it.
        case password(user: String, password: String)
        /// A token for a protection space, by Bearer, for this request alone.
        case bearer(token: String)
    }
}

extension HTTPSession.AuthenticationChallenge.Credential: CustomDebugStringConvertible,
    CustomReflectable
{
    /// The kind of credential, without any secret, because descriptions end up in logs.
    public var debugDescription: String {
        switch self {
        case .trustDespiteRefusal: "trust despite refusal"
        case .identity: "client identity"
        case .password: "a user and a password"
        case .bearer: "a bearer token"
        }
    }

    public var customMirror: Mirror { Mirror(self, children: []) }
}
