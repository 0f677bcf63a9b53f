extension HTTPSession {
    /// Stands around a session's requests: changes what is sent, answers without sending, looks at a response or puts
    /// another in its place, sends again, measures.
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
    /// **Rules.** `next` may be called again once it has returned, as often as 100 times; what it returned before is
    /// given up then. It may not be called twice at once, nor after `intercept` has returned: such a call throws code
    /// `interceptorFailed`, and the request goes on if the interceptor does. A response that is dropped frees its
    /// connection. What `intercept` throws is the request's error: a `NetworkError` as it is, and any other as the
    /// `underlying` one of code `interceptorFailed`.
    ///
    /// It runs off the session's loop, within the request's limits, and its task is cancelled with the request. A
    /// request that it makes through its own session does not pass it again.
    ///
    /// It can be tested alone: `intercept(request, next: HTTPSession.Next(MockTransport()))`.
    public protocol Interceptor: Sendable {
        func intercept(_ request: TransportRequest, next: HTTPSession.Next) async throws -> TransportResponse
    }
}
