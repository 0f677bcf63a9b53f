#if Metrics
    internal import Dunlin
    internal import Synchronization

    /// Measures the requests of a session.
    final class MetricsObserver: HTTPSession.Observer {
        private let instruments: Instruments

        init(_ options: MetricsOptions) {
            instruments = Instruments(options)
        }

        var store: HandlerStore { instruments.options.store }

        func began(_ request: HTTPSession.TaskSnapshot) -> (any HTTPSession.RequestObserver)? {
            MeasuredCall(request, instruments)
        }

        func connectionEnded(_ connection: HTTP.EndedConnection) {
            let options = instruments.options
            guard options.includesDevelopment || options.includesOwn else { return }
            let server = instruments.server(connection.origin, isOwn: false)
            if options.includesDevelopment { instruments.time(.connectionDuration, server.labels, connection.age) }
            guard options.includesOwn else { return }
            instruments.count(.endedConnections, server.labels + [connection.reason.rawValue])
            instruments.give(connection.uses, to: .connectionUses, server.labels)
        }
    }

    /// Measures one request from its beginning to its end, with all its exchanges.
    final class MeasuredCall: HTTPSession.RequestObserver {
        private let instruments: Instruments
        private let method: String
        private let template: String
        private let isRevalidation: Bool
        /// Whether it is where a redirect has led it, which its template does not describe.
        private let isRedirected = Atomic(false)

        init(_ request: HTTPSession.TaskSnapshot, _ instruments: Instruments) {
            self.instruments = instruments
            method = instruments.method(request.method)
            template = instruments.template(request)
            isRevalidation = request.isRevalidation
        }

        func exchangeBegan(
            _ exchange: HTTPSession.Exchange, adding fields: inout Fields
        ) -> (any HTTPSession.ExchangeObserver)? {
            let isTemplate = !exchange.isElsewhere && !isRedirected.load(ordering: .relaxed)
            return MeasuredExchange(exchange, template: isTemplate ? template : "", instruments)
        }

        func noted(_ step: HTTPSession.RequestStep) {
            switch step {
            case .redirected: isRedirected.store(true, ordering: .relaxed)
            case .retrying: isRedirected.store(false, ordering: .relaxed)
            default: break
            }
            if instruments.options.includesOwn { count(step) }
        }

        private func count(_ step: HTTPSession.RequestStep) {
            switch step {
            case .admitted(let wait): instruments.time(.queueDuration, [], wait)
            case .waitingForConnectivity: instruments.count(.connectivityWaits)
            case .retrying(let attempt):
                switch attempt.cause {
                case .status(let status): instruments.count(.retries, [method, instruments.status(status)])
                case .failure(let code, _): instruments.count(.retries, [method, instruments.code(code)])
                }
            case .redirected(let redirect, to: _):
                instruments.count(.redirects, [instruments.status(redirect.status)])
            case .sendingAgain(let reason): instruments.count(.resends, [reason.rawValue])
            case .joined: instruments.count(.joins)
            case .servedFromCache(let use):
                let state = use.isRevalidated ? "revalidated" : use.isStale ? "stale" : "fresh"
                instruments.count(.cacheHits, [use.source.rawValue, state])
            default: break
            }
        }

        func ended(_ completion: HTTPSession.Completion) {
            // Nobody waits for a revalidation in the background.
            guard instruments.options.includesOwn, !isRevalidation else { return }
            let error = instruments.error(completion.error, completion.response)
            instruments.time(.callDuration, [method, error, template], completion.task.age)
        }
    }

    /// Measures one exchange.
    final class MeasuredExchange: HTTPSession.ExchangeObserver {
        private let instruments: Instruments
        private let method: String
        private let server: Server
        private let template: String
        private let began = ContinuousClock.now
        /// Whether the number of exchanges under way has it.
        private let isCounted: Bool

        init(_ exchange: HTTPSession.Exchange, template: String, _ instruments: Instruments) {
            self.instruments = instruments
            self.template = template
            method = instruments.method(exchange.head.method)
            server = instruments.server(exchange.head.origin, isOwn: !exchange.isElsewhere)
            isCounted =
                instruments.options.includesDevelopment
                && instruments.give(1, to: .activeExchanges, [method, server.address, server.port, template])
        }

        func ended(_ end: HTTPSession.ExchangeEnd) {
            let duration = ContinuousClock.now - began
            let values = [
                method, server.address, server.port, instruments.status(end.head), instruments.version(end.head),
                instruments.error(end.error, end.head), template,
            ]
            instruments.time(.exchangeDuration, values, duration)
            if isCounted {
                instruments.give(-1, to: .activeExchanges, [method, server.address, server.port, template])
            }
            if instruments.options.includesDevelopment, end.head != nil, let hop = end.hop {
                instruments.give(hop.bodyBytes, to: .responseBodySize, values)
            }
            if instruments.options.includesOwn { measureOwn(end) }
        }

        private func measureOwn(_ end: HTTPSession.ExchangeEnd) {
            instruments.count(.droppedFields, [], end.droppedFields)
            guard let hop = end.hop else { return }
            for phase in HTTP.Phase.allCases {
                guard let duration = hop.duration(of: phase) else { continue }
                instruments.time(.phaseDuration, server.labels + [phase.rawValue], duration)
            }
            instruments.count(.bytesSent, server.labels, hop.bytesSent)
            instruments.count(.bytesReceived, server.labels, hop.bytesReceived)
        }
    }
#endif
