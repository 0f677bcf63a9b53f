#if !Metrics
    public import Dunlin

    @available(
        *, unavailable,
        message: "enable the trait Metrics of the package dunlin: .package(url: …, traits: [\"Metrics\"])"
    )
    public struct MetricsOptions: Sendable {
        public init(factory: (any Sendable)? = nil) {}
    }

    extension HTTPSession.Configuration {
        @available(
            *, unavailable,
            message: "enable the trait Metrics of the package dunlin: .package(url: …, traits: [\"Metrics\"])"
        )
        public mutating func measure(with options: MetricsOptions = MetricsOptions()) {}
    }

    extension HTTPSession {
        @available(
            *, unavailable,
            message: "enable the trait Metrics of the package dunlin: .package(url: …, traits: [\"Metrics\"])"
        )
        public func measureConnections(
            every interval: Duration = .seconds(10), with options: MetricsOptions = MetricsOptions()
        ) async {}
    }
#endif
