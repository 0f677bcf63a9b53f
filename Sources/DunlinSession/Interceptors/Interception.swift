extension HTTPSession {
    /// An interceptor and its place.
    ///
    /// ```swift
    /// configuration.interceptors = [
    ///     .call { request, next in try await timed { try await next(request) } },
    ///     .exchange(Signer(key: key)),
    ///     .transport { Recorder(inner: $0) },
    /// ]
    /// ```
    ///
    /// The first of a place is the outermost.
    public struct Interception: Sendable {
        package enum Place {
            case call
            case exchange
        }

        let place: Place
        let interceptor: any Interceptor

        /// The user's transport, if it is one around the session's.
        var outerTransport: (any Transport)? { (interceptor as? TransportInterceptor)?.outer }

        private init(_ place: Place, _ interceptor: any Interceptor) {
            (self.place, self.interceptor) = (place, interceptor)
        }

        /// Around a whole call: it sees redirects, answers to challenges and retries as one. The request is what was
        /// asked for; cookies, and what `authentication` adds, come later. Sent to another origin, it goes without the
        /// secret fields of this one, unless the interceptor gives them other values. The body of the response is
        /// decoded, and whole unless the caller streams it. A download asks for each of the responses that it is put
        /// together from.
        public static func call(_ interceptor: some Interceptor) -> Interception {
            Interception(.call, interceptor)
        }

        public static func call(
            _ intercept:
                @escaping @Sendable (
                    _ request: TransportRequest, _ next: HTTPSession.Next
                ) async throws -> TransportResponse
        ) -> Interception {
            Interception(.call, ClosureInterceptor(closure: intercept))
        }

        /// Around each exchange: every redirect, answer to a challenge and retry is one of its own. The head has all
        /// fields but those that frame the message (`Host`, `Content-Length`, `Transfer-Encoding`), and goes to the
        /// origin that it is for. The response is as it came, its body coded as its fields say.
        public static func exchange(_ interceptor: some Interceptor) -> Interception {
            Interception(.exchange, interceptor)
        }

        public static func exchange(
            _ intercept:
                @escaping @Sendable (
                    _ request: TransportRequest, _ next: HTTPSession.Next
                ) async throws -> TransportResponse
        ) -> Interception {
            Interception(.exchange, ClosureInterceptor(closure: intercept))
        }

        /// A transport around the session's own, or around `configuration.transport`: `wrap` gets that, and is called
        /// once. It stands around each exchange.
        public static func transport(_ wrap: (any Transport) -> any Transport) -> Interception {
            Interception(.exchange, TransportInterceptor(wrap))
        }

        typealias Intercept =
            @Sendable (_ request: TransportRequest, _ next: HTTPSession.Next) async throws -> TransportResponse
    }
}

extension HTTPSession.Interception: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name of the interceptor's type: what it holds may be secret.
    public var description: String { "\(place)(\(type(of: interceptor)))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

struct ClosureInterceptor: HTTPSession.Interceptor {
    let closure: HTTPSession.Interception.Intercept

    func intercept(_ request: TransportRequest, next: HTTPSession.Next) async throws -> TransportResponse {
        try await closure(request, next)
    }
}

/// A transport of the user's around whatever comes next.
private struct TransportInterceptor: HTTPSession.Interceptor {
    let outer: any Transport

    init(_ wrap: (any Transport) -> any Transport) {
        outer = wrap(Inner())
    }

    func intercept(_ request: TransportRequest, next: HTTPSession.Next) async throws -> TransportResponse {
        try await Inner.$present.withValue(next) { try await outer.exchange(request) }
    }

    /// What comes next for the exchange that the running code belongs to: one transport serves all of a session's.
    private struct Inner: Transport {
        @TaskLocal static var present: HTTPSession.Next?

        func exchange(_ request: TransportRequest) async throws -> TransportResponse {
            guard let next = Self.present else {
                throw NetworkError(
                    .interceptorFailed, "the session's transport was called outside of an exchange, by another task"
                )
            }
            return try await next(request)
        }
    }
}
