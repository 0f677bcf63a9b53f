#if !Logging
    public import Dunlin

    extension HTTPSession.Configuration {
        @available(
            *, unavailable,
            message: "enable the trait Logging of the package dunlin: .package(url: …, traits: [\"Logging\"])"
        )
        public mutating func log<Logger>(
            to logger: Logger, _ change: (inout HTTPSession.LogSettings) -> Void = { _ in }
        ) {}
    }

    extension HTTPSession {
        @available(
            *, unavailable,
            message: "enable the trait Logging of the package dunlin: .package(url: …, traits: [\"Logging\"])"
        )
        public struct LogSettings: Sendable {
            public var requestIDField: String?
            public var requestIDKeys: [String] = []
            public var passesErrors = false
        }
    }
#endif
