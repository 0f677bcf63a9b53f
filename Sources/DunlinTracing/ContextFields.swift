#if Tracing
    internal import Dunlin
    internal import Tracing

    /// The fields that send a span's context along with one exchange.
    ///
    /// Rules:
    /// 1. If the request has a field of a trace already, its trace goes on and ours is not sent, since a mixed context
    ///    is invalid. Baggage does not count.
    /// 2. Another origin than the requested one gets nothing, and nobody gets baggage, unless the settings say so.
    /// 3. An instrument may write anything. There is room for a few fields of a kilobyte or so, and what is no valid
    ///    field, or may not be added, is dropped where it would be sent. All that is dropped is counted.
    struct ContextFields {
        private(set) var fields = Fields()
        private(set) var dropped = 0

        private static let mostFields = 16
        private static let longestName = 128
        /// What W3C's recommendation for baggage asks to be passed on.
        private static let longestValue = 8192

        init(
            _ context: ServiceContext, of exchange: HTTPSession.Exchange, by instrument: any Instrument,
            _ settings: HTTPSession.SpanSettings
        ) {
            switch settings.propagation {
            case .nowhere: return
            case .requestedOrigin where exchange.isElsewhere: return
            case .requestedOrigin, .everywhere: break
            }
            var injected = Injected()
            instrument.inject(context, into: &injected, using: FieldInjector())
            let own = exchange.head.fields
            let hasTrace =
                Self.traceFields.contains(where: own.contains)
                || injected.fields.contains { !Self.isBaggage($0.name) && own.contains($0.name) }
            for (name, value) in injected.fields where Self.isBaggage(name) ? settings.sendsBaggage : !hasTrace {
                add(name, value)
            }
            dropped += injected.dropped
        }

        private mutating func add(_ name: String, _ value: String) {
            guard fields.count < Self.mostFields, name.utf8.count <= Self.longestName,
                value.utf8.count <= Self.longestValue
            else {
                dropped += 1
                return
            }
            fields[name] = value
        }

        func add(to fields: inout Fields) {
            fields.append(contentsOf: self.fields)
        }

        /// Fields that continue a trace, by W3C's recommendation and by what came before it.
        private static let traceFields = [
            "traceparent", "b3", "x-b3-traceid", "uber-trace-id", "x-amzn-trace-id", "x-cloud-trace-context",
            "ot-tracer-traceid",
        ]

        private static func isBaggage(_ name: String) -> Bool {
            let name = name.lowercased()
            return name == "baggage" || name == "correlation-context" || name.hasPrefix("uberctx-")
                || name.hasPrefix("ot-baggage-")
        }
    }

    /// What an instrument has injected.
    struct Injected: Sendable {
        private(set) var fields: [(name: String, value: String)] = []
        private(set) var dropped = 0

        private static let most = 64

        mutating func add(_ name: String, _ value: String) {
            if let index = fields.firstIndex(where: { $0.name.lowercased() == name.lowercased() }) {
                fields[index].value = value
            } else if fields.count < Self.most {
                fields.append((name, value))
            } else {
                dropped += 1
            }
        }
    }

    struct FieldInjector: Injector {
        func inject(_ value: String, forKey key: String, into carrier: inout Injected) {
            carrier.add(key, value)
        }
    }
#endif
