#if !OpenAPI
    public import Dunlin

    /// What the module offers with its trait, so that a program that forgot it is told.
    public struct OpenAPITransport: Sendable {
        @available(
            *, unavailable,
            message: "enable the trait OpenAPI of the package dunlin: .package(url: …, traits: [\"OpenAPI\"])"
        )
        public init(_ session: HTTPSession, options: HTTPSession.Options = HTTPSession.Options()) {}
    }
#endif
