#if Metrics
    internal import Dunlin
    internal import Synchronization

    /// Measures the requests of a session.
    final class MetricsObserver: HTTPSession.Observer {
        private let instruments: Instruments

        init(_ settings: HTTPSession.MetricsSettings) {
            instruments = Instruments(settings)
        }

        var store: HandlerStore { instruments.settings.store }

        func began(_ request: HTTPSession.TaskSnapshot) -> (any HTTPSession.RequestObserver)? {
            MeasuredCall(request, instruments)
        }

        func connectionEnded(_ connection: HTTP.EndedConnection) {
            let settings = instruments.settings
            guard settings.includesDevelopment || settings.includesOwn else { return }
            var labels = LabelSet()
            labels.server = instruments.server(connection.origin.host, connection.origin.port, isOwn: false)
            if settings.includesDevelopment {
                var labels = labels
                if settings.includesPeers {
                    (labels.detail, labels.version) = (instruments.peer(connection.peer), .http11)
                }
                instruments.time(.connectionDuration, labels, connection.age)
            }
            guard settings.includesOwn else { return }
            instruments.give(connection.uses, to: .connectionUses, labels)
            labels.detail = instruments.detail(connection.reason.rawValue)
            instruments.count(.endedConnections, labels)
        }
    }

    /// Measures one request from its beginning to its end, with all its exchanges.
    final class MeasuredCall: HTTPSession.RequestObserver {
        private let instruments: Instruments
        private let method: HTTP.Method
        private let methodLabel: LabelValue
        private let template: LabelValue
        private let operation: LabelValue
        private let isRevalidation: Bool
        /// Whether it is where a redirect has led it, which its template does not describe.
        private let isRedirected = Atomic(false)
        /// When a handle was made; nil for a request that runs at once.
        private let made: ContinuousClock.Instant?
        /// How many nanoseconds its handle waited to be resumed; negative until it runs.
        private let unresumed: Atomic<Int64>

        init(_ request: HTTPSession.TaskSnapshot, _ instruments: Instruments) {
            self.instruments = instruments
            method = request.method
            methodLabel = instruments.method(request.method)
            template = instruments.template(request)
            operation = instruments.operation(request)
            isRevalidation = request.isRevalidation
            made = request.state == .suspended ? .now : nil
            unresumed = Atomic(made == nil ? 0 : -1)
        }

        /// Notes that a handle runs, with its first step or exchange: the thread that resumes it may tell so later.
        private func noteBeginning() {
            guard let made, unresumed.load(ordering: .relaxed) < 0 else { return }
            unresumed.store(Instruments.nanoseconds(made.duration(to: .now)), ordering: .relaxed)
        }

        func exchangeBegan(
            _ exchange: HTTPSession.Exchange, adding fields: inout Fields
        ) -> (any HTTPSession.ExchangeObserver)? {
            noteBeginning()
            var labels = LabelSet()
            let head = exchange.head
            labels.method = head.method == method ? methodLabel : instruments.method(head.method)
            labels.server = instruments.server(head.origin.host, head.origin.port, isOwn: !exchange.isElsewhere)
            if !exchange.isElsewhere, !isRedirected.load(ordering: .relaxed) {
                (labels.template, labels.operation) = (template, operation)
            }
            return MeasuredExchange(labels, instruments)
        }

        func noted(_ step: HTTPSession.RequestStep) {
            switch step {
            case .suspended: return
            case .redirected: isRedirected.store(true, ordering: .relaxed)
            case .retrying: isRedirected.store(false, ordering: .relaxed)
            default: break
            }
            noteBeginning()
            if instruments.settings.includesOwn { count(step) }
        }

        private func count(_ step: HTTPSession.RequestStep) {
            var labels = LabelSet()
            switch step {
            case .admitted(let wait): instruments.time(.queueDuration, labels, wait)
            case .waitingForConnectivity: instruments.count(.connectivityWaits)
            case .retrying(let attempt):
                labels.method = methodLabel
                switch attempt.cause {
                case .status(let status): labels.error = instruments.code(status)
                case .failure(let code, _): labels.error = instruments.code(code)
                }
                instruments.count(.retries, labels)
            case .redirected(let redirect, to: _):
                labels.status = instruments.valid(redirect.status)
                instruments.count(.redirects, labels)
            case .sendingAgain(let reason):
                labels.detail = instruments.detail(reason.rawValue)
                instruments.count(.resends, labels)
            case .joined: instruments.count(.joins)
            case .servedFromCache(let use):
                labels.detail = instruments.detail(use.source.rawValue)
                labels.state =
                    use.isRevalidated
                    ? LabelValue(number: 1, text: "revalidated")
                    : use.isStale ? LabelValue(number: 2, text: "stale") : LabelValue(number: 3, text: "fresh")
                instruments.count(.cacheHits, labels)
            default: break
            }
        }

        func ended(_ completion: HTTPSession.Completion) {
            // Nobody waits for a revalidation in the background.
            guard instruments.settings.includesOwn, !isRevalidation else { return }
            // A handle that was never resumed has made no request.
            let wait = unresumed.load(ordering: .relaxed)
            guard wait >= 0 else { return }
            var labels = LabelSet()
            labels.method = methodLabel
            labels.error = instruments.error(completion.error, completion.response)
            (labels.template, labels.operation) = (template, operation)
            instruments.time(.callDuration, labels, max(.zero, completion.task.age - .nanoseconds(wait)))
        }
    }

    /// Measures one exchange.
    final class MeasuredExchange: HTTPSession.ExchangeObserver {
        /// The phases, numbered.
        private static let phases = HTTP.Phase.allCases.enumerated().map { number, phase in
            (phase, LabelValue(number: UInt32(number) + 2, text: phase.rawValue))
        }

        private let instruments: Instruments
        /// Those that are known before the response.
        private let labels: LabelSet
        private let began = ContinuousClock.now
        /// Whether the number of exchanges under way has it.
        private let isCounted: Bool

        init(_ labels: LabelSet, _ instruments: Instruments) {
            self.instruments = instruments
            self.labels = labels
            isCounted =
                instruments.settings.includesDevelopment && instruments.give(1, to: .activeExchanges, labels)
        }

        func ended(_ end: HTTPSession.ExchangeEnd) {
            let duration = ContinuousClock.now - began
            var labels = labels
            if isCounted { instruments.give(-1, to: .activeExchanges, labels) }
            labels.status = instruments.valid(end.head?.status)
            labels.version = end.head?.version
            labels.error = instruments.error(end.error, end.head)
            instruments.time(.exchangeDuration, labels, duration)
            if instruments.settings.includesDevelopment, let hop = end.hop {
                if hop.requestBodyBytes > 0 { instruments.give(hop.requestBodyBytes, to: .requestBodySize, labels) }
                if end.head != nil { instruments.give(hop.bodyBytes, to: .responseBodySize, labels) }
            }
            if instruments.settings.includesOwn { measureOwn(end) }
        }

        private func measureOwn(_ end: HTTPSession.ExchangeEnd) {
            instruments.count(.droppedFields, LabelSet(), end.droppedFields)
            guard let hop = end.hop else { return }
            var labels = LabelSet(server: self.labels.server)
            instruments.count(.bytesSent, labels, hop.bytesSent)
            instruments.count(.bytesReceived, labels, hop.bytesReceived)
            for (phase, label) in Self.phases {
                guard let duration = hop.duration(of: phase) else { continue }
                labels.detail = label
                instruments.time(.phaseDuration, labels, duration)
            }
        }
    }
#endif
