#if Metrics
    internal import CoreMetrics
    internal import Synchronization

    /// A handler of swift-metrics.
    enum Handler: Sendable {
        case timer(any TimerHandler)
        case recorder(any RecorderHandler)
        case counter(any CounterHandler)
        case meter(any MeterHandler)

        init(_ instrument: Instrument, _ dimensions: [(String, String)], by factory: any MetricsFactory) {
            let name = instrument.name
            switch instrument.kind {
            case .timer:
                let timer = factory.makeTimer(label: name, dimensions: dimensions)
                timer.preferDisplayUnit(.seconds)
                self = .timer(timer)
            case .recorder: self = .recorder(factory.makeRecorder(label: name, dimensions: dimensions, aggregate: true))
            case .counter: self = .counter(factory.makeCounter(label: name, dimensions: dimensions))
            case .meter: self = .meter(factory.makeMeter(label: name, dimensions: dimensions))
            }
        }

        func destroy(by factory: any MetricsFactory) {
            switch self {
            case .timer(let handler): factory.destroyTimer(handler)
            case .recorder(let handler): factory.destroyRecorder(handler)
            case .counter(let handler): factory.destroyCounter(handler)
            case .meter(let handler): factory.destroyMeter(handler)
            }
        }

        /// A duration in nanoseconds, a size, a number to add, or the change of a level.
        func take(_ value: Int) {
            switch self {
            case .timer(let handler): handler.recordNanoseconds(Int64(value))
            case .recorder(let handler): handler.record(Int64(value))
            case .counter(let handler): handler.increment(by: Int64(value))
            case .meter(let handler) where value >= 0: handler.increment(by: Double(value))
            case .meter(let handler): handler.decrement(by: -Double(value))
            }
        }

        /// Which object it is, as long as somebody has it.
        var id: ObjectIdentifier {
            let object: AnyObject =
                switch self {
                case .timer(let handler): handler
                case .recorder(let handler): handler
                case .counter(let handler): handler
                case .meter(let handler): handler
                }
            return ObjectIdentifier(object)
        }
    }

    /// The handlers of one factory, and which values their labels may have. Handlers are made, used and destroyed
    /// outside the lock. What is measured at the moment in which its handler is discarded is lost. Other stores of the
    /// same factory may have the same handlers: see `HandlerUses`.
    final class HandlerStore: Sendable {
        /// The one of the factory of `MetricsSystem`.
        static let shared = HandlerStore(nil)

        struct State: Sendable {
            var handlers = HandlerCache<HandlerKey, Handler>()
            var servers = KnownValues<Server.Name>()
            var peers = KnownValues<String>()
            var templates = KnownValues<String>()
            var operations = KnownValues<String>()
            var methods = KnownValues<String>()
            var codes = KnownValues<String>()
            var details = KnownValues<String>()
            var sessions = KnownValues<[String]>()
        }

        private let chosen: (any MetricsFactory)?
        private let state = Mutex(State())

        convenience init(_ factory: any MetricsFactory) {
            self.init(.some(factory))
        }

        private init(_ factory: (any MetricsFactory)?) {
            chosen = factory
        }

        // The handlers stay: what they have counted is still to be reported.
        deinit {
            for handler in state.withLock({ $0.handlers.handlers }) { HandlerUses.gaveUp(handler) }
        }

        private var factory: any MetricsFactory { chosen ?? MetricsSystem.factory }

        /// Gives a value to the handler of a key, which is made if there is none. Returns false if it could not be
        /// given to any.
        @discardableResult
        func give(
            _ value: Int, to key: HandlerKey, of instrument: Instrument, limit: Int,
            dimensions: () -> [(String, String)]
        ) -> Bool {
            let change = instrument.kind == .meter ? value : 0
            switch state.withLock({ $0.handlers.find(key, changing: change) }) {
            case .handler(let handler): handler.take(value)
            case .leaving: return false
            case .missing:
                let factory = factory
                // Nothing is kept before `MetricsSystem` is bootstrapped: it would never reach the real factory.
                if factory is NOOPMetricsHandler { return false }
                guard let handler = HandlerUses.made({ Handler(instrument, dimensions(), by: factory) }),
                    let kept = keep(handler, of: factory, as: key, changing: change, limit: limit)
                else { return false }
                kept.take(value)
            }
            return true
        }

        /// Keeps a new handler, and discards what there is no room for. Returns the handler of the key; nil if none can
        /// be kept.
        private func keep(
            _ handler: Handler, of factory: any MetricsFactory, as key: HandlerKey, changing change: Int, limit: Int
        ) -> Handler? {
            switch state.withLock({ $0.handlers.add(key, handler, changing: change, limit: limit) }) {
            case .added(discarding: nil): return handler
            case .added(discarding: let old?):
                HandlerUses.discard(old.handler, by: factory)
                state.withLock { $0.handlers.left(old.key) }
                return handler
            case .existing(let existing):
                HandlerUses.discard(handler, by: factory)
                return existing
            case .leaving, .full:
                HandlerUses.discard(handler, by: factory)
                return nil
            }
        }

        /// The number of a value of a label. A value that is new is kept if it is `valid` and there is room for it.
        func number<Value>(
            of value: Value, in values: WritableKeyPath<State, KnownValues<Value>>, limit: Int = .max,
            valid: (Value) -> Bool = { _ in true }
        ) -> UInt32? {
            if let number = state.withLock({ $0[keyPath: values].number(of: value) }) { return number }
            guard valid(value) else { return nil }
            return state.withLock { $0[keyPath: values].add(value, limit: limit) }
        }
    }
#endif
