#if !OpenAPI
    public import Dunlin

    // What the module offers with its trait, so that a program that forgot it is told.

    @available(
        *, unavailable,
        message: "enable the trait OpenAPI of the package dunlin: .package(url: …, traits: [\"OpenAPI\"])"
    )
    public struct OpenAPITransport: Sendable {
        public init(_ session: HTTPSession, options: HTTPSession.Options = HTTPSession.Options()) {}

        public func send<Request, Body, URL>(
            _ request: Request, body: Body?, baseURL: URL, operationID: String
        ) async throws -> (Never, Never?) { throw CancellationError() }
    }
#endif
