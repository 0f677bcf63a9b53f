public import Dunlin

extension Resilience {
    /// A decision about a request, or about a server.
    public enum Event: Sendable, Hashable {
        /// A breaker opened: requests to this key are refused.
        case opened(key: String)
        /// A request tries whether the server is well again.
        case probing(key: String)
        case closed(key: String)
        /// A request waits at a limit of rate.
        case waiting(key: String, for: Duration)
        /// A server has said something of its limits.
        case learned(key: String)
        case refused(ResilienceRefusal)
    }

    /// How things stand.
    public struct Gauges: Sendable, Hashable {
        public enum BreakerState: Sendable, Hashable {
            case open, halfOpen
        }

        /// The breakers that are not closed, by their keys.
        public var breakers: [String: BreakerState] = [:]
        /// How many requests wait at limits of rate, by their keys.
        public var waiting: [String: Int] = [:]
        /// How many requests were refused so far.
        public var refused = 0

        init() {}
    }
}

extension HTTPSession {
    /// What is decided for servers that are slow, busy or down, from now on; nothing without `resilience`. Of a reader
    /// that is very late, the oldest are dropped.
    public var resilienceEvents: AsyncStream<Resilience.Event> {
        (configuration.gate as? ResilienceGate)?.events ?? AsyncStream { $0.finish() }
    }

    /// How its limits and breakers stand.
    public var resilienceGauges: Resilience.Gauges {
        (configuration.gate as? ResilienceGate)?.gauges ?? Resilience.Gauges()
    }
}
