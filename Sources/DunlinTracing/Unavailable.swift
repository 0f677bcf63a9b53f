#if !Tracing
    public import Dunlin

    // What the module offers with its trait, so that a program that forgot it is told.

    extension HTTPSession.Configuration {
        @available(
            *, unavailable,
            message: "enable the trait Tracing of the package dunlin: .package(url: …, traits: [\"Tracing\"])"
        )
        public mutating func recordSpans(
            with tracer: (any Sendable)? = nil, _ change: (inout HTTPSession.SpanSettings) -> Void = { _ in }
        ) {}
    }

    extension HTTPSession {
        @available(
            *, unavailable,
            message: "enable the trait Tracing of the package dunlin: .package(url: …, traits: [\"Tracing\"])"
        )
        public struct SpanSettings: Sendable {
            public enum Propagation: String, Sendable, Hashable, CaseIterable {
                case nowhere, requestedOrigin, everywhere
            }

            public var propagation = Propagation.requestedOrigin
            public var sendsBaggage = false
            public var recordsRequests = false
            public var showsPaths = true
            public var includesDevelopment = false
            public var includesOptional = false
            public var requestFields: [String] = []
            public var responseFields: [String] = []
            public var knownMethods: Set<HTTP.Method> = []

            public init() {}
        }
    }
#endif
