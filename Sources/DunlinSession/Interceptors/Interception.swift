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
    /// The first interceptor of each place is the outermost.
    public struct Interception: Sendable {
        package enum Scope {
            case call
            case exchange
        }

        let scope: Scope
        let interceptor: any Interceptor

        /// The user's transport, if it is one around the session's.
        var outerTransport: (any Transport)? { (interceptor as? TransportInterceptor)?.outer }

        private init(_ scope: Scope, _ interceptor: any Interceptor) {
            (self.scope, self.interceptor) = (scope, interceptor)
        }

        /// An interceptor around a whole call: redirects, answers to challenges and retries appear as one. The request
        /// is the original one, before cookies and what `authentication` adds. If the interceptor sends it to another
        /// origin, secret fields for this one are removed unless it gives them other values. The response's body is
        /// decoded, and complete unless the caller streams it. A download may ask for several responses that it is put
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

        /// An interceptor around each exchange: every redirect, answer to a challenge and retry is a separate one. The
        /// head has all fields except those that frame the message (`Host`, `Content-Length`, `Transfer-Encoding`), and
        /// must stay at its origin. The response is as received, with its content codings.
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

        /// A transport around the session's own, or around `configuration.transport`, which `wrap` is called with once.
        /// It surrounds each exchange.
        public static func transport(_ wrap: (any Transport) -> any Transport) -> Interception {
            Interception(.exchange, TransportInterceptor(wrap))
        }

        package typealias Intercept =
            @Sendable (_ request: TransportRequest, _ next: HTTPSession.Next) async throws -> TransportResponse
    }
}

extension HTTPSession.Interception: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The type of the interceptor, whose contents may be secret.
    public var description: String { "\(scope)(\(type(of: interceptor)))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

struct ClosureInterceptor: HTTPSession.Interceptor {
    let closure: HTTPSession.Interception.Intercept

    func intercept(_ request: TransportRequest, next: HTTPSession.Next) async throws -> TransportResponse {
        try await closure(request, next)
    }
}

/// The user's transport around whatever comes next.
private struct TransportInterceptor: HTTPSession.Interceptor {
    let outer: any Transport

    init(_ wrap: (any Transport) -> any Transport) {
        outer = wrap(Inner())
    }

    func intercept(_ request: TransportRequest, next: HTTPSession.Next) async throws -> TransportResponse {
        try await Inner.$present.withValue(next) { try await outer.exchange(request) }
    }

    /// What comes next for the exchange of the running code: one transport serves all exchanges of a session.
    private struct Inner: Transport {
        @TaskLocal static var present: HTTPSession.Next?

        func exchange(_ request: TransportRequest) async throws -> TransportResponse {
            guard let next = Self.present else {
                throw NetworkError(
                    .interceptorFailed,
                    "the transport in `.transport` called the session's transport outside the task that runs "
                        + "`exchange`; call it in that task or a child of it"
                )
            }
            return try await next(request)
        }
    }
}
