extension HTTPSession {
    /// A type whose code runs around a session's requests. It may change what is sent, answer without sending, inspect
    /// or replace a response, send again, or measure.
    ///
    /// ```swift
    /// struct Signer: HTTPSession.Interceptor {
    ///     let key: Bytes
    ///
    ///     func intercept(
    ///         _ request: TransportRequest, next: HTTPSession.Next
    ///     ) async throws -> TransportResponse {
    ///         let code = try HTTP.HMAC(.sha256, key: key).code(of: Bytes(request.head.target))
    ///         return try await next(request) { $0.head.fields["X-Signature"] = code.hex }
    ///     }
    /// }
    ///
    /// configuration.interceptors = [.exchange(Signer(key: key))]
    /// ```
    ///
    /// **Rules.** `next` may be called again after it has returned, up to 100 times, which discards the earlier
    /// response. It may not be called twice at once, nor after `intercept` has returned: such a call throws code
    /// `interceptorFailed`, and the request continues if the interceptor does. Releasing a response frees its
    /// connection. What `intercept` throws is the request's error: a `NetworkError` unchanged, and any other as the
    /// `underlying` error of code `interceptorFailed`.
    ///
    /// It runs off the session's loop, within the request's limits, and its task is cancelled with the request. Its own
    /// requests through the same session do not pass it again.
    ///
    /// To test it alone: `intercept(request, next: HTTPSession.Next(MockTransport()))`.
    public protocol Interceptor: Sendable {
        func intercept(_ request: TransportRequest, next: HTTPSession.Next) async throws -> TransportResponse
    }
}
