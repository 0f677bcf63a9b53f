#if HTTPTypes
    public import Dunlin
    public import HTTPTypes

    extension HTTPSession {
        /// Sends a request. Returns the response with its whole body.
        ///
        /// ```swift
        /// let request = HTTPRequest(method: .get, scheme: "https", authority: "api.test", path: "/users/42")
        /// let (response, body) = try await client.send(request)
        /// ```
        ///
        /// A request without scheme and authority goes to the origin of the session's base URL; its path is the whole
        /// path. What the request may contain is what `RequestHead.init(_:)` accepts. Its fields replace the session's
        /// with the same name. A status other than 2xx is an error unless `options.validatesResponse` is false.
        ///
        /// The response's fields are as received, so Content-Encoding and Content-Length are about what was on the
        /// wire, and the body has been decoded unless `options.decodesContent` is false.
        public func send(
            _ request: HTTPRequest, body: RequestBody = .none, timeout: Duration? = nil, options: Options = Options()
        ) async throws -> (response: HTTPResponse, body: Bytes) {
            let parts = try RequestParts(request)
            let response = try await self.request(
                parts.target(), method: HTTP.Method(request.method.rawValue), fields: parts.fields,
                body: body, timeout: timeout, options: options)
            return (try HTTPResponse(response.head), response.value)
        }

        /// Sends a request. Returns the response when its head has come, whatever its status. The body can be read
        /// anywhere as it arrives, only as fast as it is read.
        ///
        /// The exchange ends when the body has been read to its end, when the request is cancelled, or when the last
        /// copy of the body and its iterators is released. The rest is as with `send(_:body:timeout:options:)`.
        public func stream(
            _ request: HTTPRequest, body: RequestBody = .none, timeout: Duration? = nil, options: Options = Options()
        ) async throws -> (response: HTTPResponse, body: BodySequence) {
            let parts = try RequestParts(request)
            let response = try await stream(
                parts.target(), method: HTTP.Method(request.method.rawValue), fields: parts.fields,
                body: body, timeout: timeout, options: options)
            return (try HTTPResponse(response.head), response.body)
        }
    }

    extension RequestParts {
        /// What a session is to request. It resolves the text like any URL, and finds nothing in it to change.
        fileprivate func target() throws -> HTTP.Target {
            if path == "*" { throw Refusal.request(":path is *, which is no URL and cannot be requested") }
            if let origin { return .url("\(origin)\(path)") }
            guard scheme == nil else { throw Refusal.request(":authority is missing") }
            if path.hasPrefix("//") {
                throw Refusal.request(":path begins with two slashes, and without :authority they would name a host")
            }
            return .url(path)
        }
    }
#endif
