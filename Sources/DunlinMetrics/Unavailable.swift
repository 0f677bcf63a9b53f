#if !Metrics
    public import Dunlin

    // What the module offers with its trait, so that a program that forgot it is told.

    extension HTTPSession.Configuration {
        @available(
            *, unavailable,
            message: "enable the trait Metrics of the package dunlin: .package(url: …, traits: [\"Metrics\"])"
        )
        public mutating func measure(with settings: HTTPSession.MetricsSettings = HTTPSession.MetricsSettings()) {}
    }

    extension HTTPSession {
        @available(
            *, unavailable,
            message: "enable the trait Metrics of the package dunlin: .package(url: …, traits: [\"Metrics\"])"
        )
        public struct MetricsSettings: Sendable {
            public var includesDevelopment = false
            public var includesPeers = false
            public var includesOwn = true
            public var knownMethods: Set<HTTP.Method> = []
            public var hostLimit = 0
            public var includesOperations = false
            public var templateLimit = 0
            public var handlerLimit = 0
            public var labels: [String: String] = [:]
            public var omitsEmptyLabels = true

            public init(factory: (any Sendable)? = nil) {}

            public static let durationBuckets: [Duration] = []
        }

        @available(
            *, unavailable,
            message: "enable the trait Metrics of the package dunlin: .package(url: …, traits: [\"Metrics\"])"
        )
        public func measureConnections(
            every interval: Duration = .seconds(10), with settings: MetricsSettings = MetricsSettings()
        ) async {}
    }
#endif
