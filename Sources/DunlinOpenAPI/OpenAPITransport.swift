#if OpenAPI
    public import Dunlin
    internal import DunlinHTTPTypes
    public import FoundationEssentials
    public import HTTPTypes
    public import OpenAPIRuntime

    /// Sends the requests of a client that swift-openapi-generator made, over a session.
    ///
    /// ```swift
    /// let session = try HTTPSession(baseURL: "https://api.example.com")
    /// let client = Client(serverURL: try Servers.Server1.url(), transport: OpenAPITransport(session))
    /// ```
    ///
    /// Everything that the session is configured for applies: retries, redirects, cookies, credentials, trust, limits.
    /// The session stays its owner's, who shuts it down. A request's label and `operation` are the operation's name.
    ///
    /// Bodies stream both ways, as fast as the slower side. A body that can be iterated several times can be sent
    /// again; one that cannot makes the request fail where that would be necessary. A response's exchange ends when its
    /// body has been read to the end, when the request is cancelled, or when the body is released.
    public struct OpenAPITransport: ClientTransport {
        private let session: HTTPSession
        private let options: HTTPSession.Options

        /// Creates a transport. The options are those of every request; their fields give way to the operation's.
        public init(_ session: HTTPSession, options: HTTPSession.Options = HTTPSession.Options()) {
            self.session = session
            self.options = options
        }

        /// Sends a request. Returns the response when its head has come, whatever its status.
        ///
        /// `baseURL` may have a path, to which the request's is appended; one without scheme and host is relative to
        /// the session's base URL. A `NetworkError`, also one that reading the body throws, names the operation.
        public func send(
            _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String
        ) async throws -> (HTTPResponse, HTTPBody?) {
            do {
                let parts = try ServerURL(baseURL).parts(of: request)
                var options = options
                options.label = options.label ?? operationID
                options.operation = options.operation ?? operationID
                let response = try await session.stream(
                    .url(parts.target), method: HTTP.Method(request.method.rawValue), fields: parts.fields,
                    body: RequestBody(body), options: options)
                return (
                    try HTTPResponse(response.head),
                    HTTPBody(response.body, of: response.status, to: request.method, operationID)
                )
            } catch {
                throw OperationName.added(to: error, operationID)
            }
        }
    }

    /// The name of an operation in errors.
    enum OperationName {
        static func added(to error: any Error, _ operationID: String) -> any Error {
            guard var error = error as? NetworkError else { return error }
            error.reason = "operation \(operationID): \(error.reason)"
            return error
        }
    }
#endif
