#if Metrics
    public import CoreMetrics
    public import Dunlin

    extension HTTPSession {
        /// What of a session `measure` measures, and how many handlers that may take.
        ///
        /// Copies share their handlers, and those made without a factory, for that of `MetricsSystem`, all do. Sessions
        /// that report to another factory are best measured with copies of one value: then they also share the limits.
        public struct MetricsSettings: Sendable {
            /// Whether to measure what OpenTelemetry has not declared stable yet, and may still rename: the label
            /// `url.template`, the sizes of bodies, requests under way, and connections.
            public var includesDevelopment = false
            /// Whether the metrics of connections that `includesDevelopment` measures say with whom and what is spoken:
            /// `network.protocol.version`, and for a closed connection `network.peer.address`, the address that it was
            /// connected to. Of these there are as many as `hostLimit` allows; all others are `_other`.
            public var includesPeers = false
            /// Whether to measure what only Dunlin has names for, which begin with `dunlin.`.
            public var includesOwn = true
            /// The methods that are reported by their names. All others are `_OTHER`.
            public var knownMethods: Set<HTTP.Method> = [
                .get, .head, .post, .put, .patch, .delete, .options, .trace, .connect, .query,
            ]
            /// How many servers, by host and port, are reported by their names: the first that there are requests to.
            /// The host of all others is `_other`.
            public var hostLimit = 100
            /// Whether requests and exchanges have the label `dunlin.operation`: what the API's description calls the
            /// request (`Options.operation`).
            public var includesOperations = false
            /// How many templates are reported as `url.template`, and how many operations: the first that there are
            /// requests with. All others are `_other`.
            public var templateLimit = 200
            /// How many handlers are kept. Above that, one that was not used for long is destroyed for each new one.
            /// What it counted then starts again at 0.
            public var handlerLimit = 2000
            /// Labels of every metric, such as a name for the session. Sessions should have the same names here, and
            /// different values. A name that a metric has already is left out. Of the sets of labels that sessions
            /// have, the first hundred are reported; the values of all others are `_other`.
            public var labels: [String: String] = [:]
            /// Whether labels without a value are left out, as OpenTelemetry wants it. If not, they are empty, so that
            /// all time series of a metric have labels of the same names: Prometheus makes no difference between an
            /// empty label and none, but versions of swift-prometheus before 2.2 end the process if the names differ.
            public var omitsEmptyLabels = true

            let store: HandlerStore

            /// Creates settings. `factory` makes the handlers; nil for the one that `MetricsSystem` was bootstrapped
            /// with.
            public init(factory: (any MetricsFactory)? = nil) {
                store = factory.map(HandlerStore.init) ?? .shared
            }

            /// The upper bounds of the buckets that OpenTelemetry recommends for durations of requests, from 5 ms to
            /// 10 s.
            public static let durationBuckets: [Duration] = [
                5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10_000,
            ].map(Duration.milliseconds)
        }
    }

    extension HTTPSession.Configuration {
        /// Measures the session's requests through swift-metrics, under the names of OpenTelemetry's conventions for
        /// HTTP clients. See the article *Metrics*.
        ///
        /// Called again with a copy of settings that were given before, or with others for the factory of
        /// `MetricsSystem`, it replaces those.
        public mutating func measure(with settings: HTTPSession.MetricsSettings = HTTPSession.MetricsSettings()) {
            observers.removeAll { ($0 as? MetricsObserver)?.store === settings.store }
            observers.append(MetricsObserver(settings))
        }
    }
#endif
