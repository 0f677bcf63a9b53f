extension HTTPSession {
    /// A demand for proof of an identity: ours, which a server wants before it goes on, or the server's, which we want.
    public struct AuthenticationChallenge: Sendable {
        public enum Kind: Sendable, Hashable {
            /// The server has shown its certificate and the policy has decided. Nothing has been sent to it yet: no
            /// client certificate, and no byte of a request.
            case serverTrust(TrustDecision)
            /// The server asks for a client's certificate.
            case clientCertificate(acceptableIssuers: [String])
        }

        public var kind: Kind
        /// The origin that asks.
        public var origin: HTTP.Origin
        /// How often an answer to this challenge was refused.
        public var previousFailures: Int
        /// The response that asked; a handshake asks without one.
        public var response: ResponseHead?

        public init(
            _ kind: Kind, origin: HTTP.Origin, previousFailures: Int = 0, response: ResponseHead? = nil
        ) {
            self.kind = kind
            self.origin = origin
            self.previousFailures = previousFailures
            self.response = response
        }
    }
}

extension HTTPSession {
    /// Answers challenges. The connection waits meanwhile, within the request's timeouts; the hook runs off the loop.
    public typealias AuthenticationHandler =
        @Sendable (HTTPSession.AuthenticationChallenge) async -> HTTPSession.AuthenticationChallenge.Response
}

extension HTTPSession.AuthenticationChallenge {
    /// The answer to a challenge.
    public enum Response: Sendable {
        /// Answer with this credential.
        case useCredential(HTTPSession.AuthenticationChallenge.Credential)
        /// Do as if there were no handler: the policy decides about servers, the configured identity is shown, and so
        /// on. If a session's handler returns it, the request's own is asked.
        case performDefault
        /// Fail the request, with this error if there is one.
        case cancel((any Error)? = nil)
        /// Give no answer. A server that was to be trusted is not; one that asked for our identity goes on without.
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
        }
    }

    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
