extension HTTPSession {
    /// An exchange that is about to begin: one request to a server, and its response.
    public struct Exchange: Sendable {
        /// The request that it belongs to.
        public let task: TaskSnapshot
        /// What is sent, without the fields that frame the message and before interceptors around the exchange. Its
        /// description shows no secrets; its target and fields may contain some.
        public let head: RequestHead
        /// The number of the exchange within its request: 1 for the first.
        public let number: Int
        /// The number of the attempt that it belongs to: 1 until the retry policy begins another.
        public let attempt: Int
        /// Whether its origin is another than that of the request as it was made.
        public let isElsewhere: Bool
        /// The names that are secret for the session.
        package let secretFields: HTTP.SecretFields
        /// Whether the session asks for itself whether a stored response is still valid.
        public var isRevalidation: Bool { task.isRevalidation }
    }

    /// The end of an exchange.
    public struct ExchangeEnd: Sendable {
        /// How a response's body ended.
        public enum Body: String, Sendable, Hashable {
            /// It came to its end.
            case complete
            /// It was not read to its end, because nobody wanted more of it.
            case left
            /// It broke off, or its request failed or was cancelled before its end.
            case failed
        }

        /// The head of the response, after the interceptors around the exchange; nil if none came.
        public let head: ResponseHead?
        /// The interim (1xx) responses that came before it.
        public let interim: [ResponseHead]
        /// How the exchange spent its time; nil if it was not sent, as far as is known.
        public let hop: HTTP.Hop?
        /// Why there was no response, or why its body broke off.
        public let error: (any Error)?
        /// How the body ended; nil without a response.
        public let body: Body?
        /// How many of the fields that observers wanted to add were not sent.
        public let droppedFields: Int
    }

    /// What happens to a request between its exchanges, or before the first. More cases may be added, so a `switch`
    /// needs a `default`.
    public enum RequestStep: Sendable {
        /// It waits for its turn in the session's queue, or in its batch's.
        case queued
        /// Its turn has come, after it has waited this long in the session's queue.
        case admitted(after: Duration)
        case suspended
        /// It continues, or was begun by its handle.
        case resumed
        /// It waits for a network, after it failed with this error without one. At most once.
        case waitingForConnectivity(NetworkError)
        /// It will be attempted again after a wait; this is the outcome of the last attempt.
        case retrying(NetworkError.RetriedAttempt)
        /// It follows this redirect; `to` is the new URL, without user info.
        case redirected(Redirect, to: String)
        /// It is sent again for a reason other than those above.
        case sendingAgain(SendingAgain)
        /// It was sent no further, because an identical request is under way, whose response it waits for.
        case joined
        /// A stored response answers it, whether or not a server was asked to confirm that.
        case servedFromCache(CacheUse)
        /// The download continues after the bytes that it already has, out of the given number in all, if that is
        /// known.
        case downloadResumed(at: Int, of: Int?)
    }

    /// Why a request is sent again, apart from retries and redirects.
    public enum SendingAgain: String, Sendable, Hashable, CaseIterable {
        /// With an answer to a challenge.
        case challenged
        /// With a newer credential, because the last one was refused.
        case refreshed
        /// The server had just closed the connection.
        case connectionLost
        /// There is a network again.
        case network
        /// The server refused the expectation `100-continue`.
        case expectationRefused
        /// The stored response turned out to be useless.
        case cacheUnusable
    }
}
