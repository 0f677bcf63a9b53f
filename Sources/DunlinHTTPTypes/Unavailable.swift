#if !HTTPTypes
    public import Dunlin

    // What the module offers with its trait, so that a program that forgot it is told.

    extension HTTPSession {
        @available(
            *, unavailable,
            message: "enable the trait HTTPTypes of the package dunlin: .package(url: …, traits: [\"HTTPTypes\"])"
        )
        public func send<Request>(
            _ request: Request, body: RequestBody = .none, timeout: Duration? = nil, options: Options = Options()
        ) async throws -> (response: Never, body: Bytes) { throw CancellationError() }

        @available(
            *, unavailable,
            message: "enable the trait HTTPTypes of the package dunlin: .package(url: …, traits: [\"HTTPTypes\"])"
        )
        public func stream<Request>(
            _ request: Request, body: RequestBody = .none, timeout: Duration? = nil, options: Options = Options()
        ) async throws -> (response: Never, body: BodySequence) { throw CancellationError() }
    }

    extension Fields {
        @available(
            *, unavailable,
            message: "enable the trait HTTPTypes of the package dunlin: .package(url: …, traits: [\"HTTPTypes\"])"
        )
        public init<HTTPFields>(_ fields: HTTPFields) throws { self.init() }
    }

    extension RequestHead {
        @available(
            *, unavailable,
            message: "enable the trait HTTPTypes of the package dunlin: .package(url: …, traits: [\"HTTPTypes\"])"
        )
        public init<HTTPRequest>(_ request: HTTPRequest) throws { throw CancellationError() }
    }

    extension ResponseHead {
        @available(
            *, unavailable,
            message: "enable the trait HTTPTypes of the package dunlin: .package(url: …, traits: [\"HTTPTypes\"])"
        )
        public init<HTTPResponse>(_ response: HTTPResponse) throws { throw CancellationError() }
    }
#endif
