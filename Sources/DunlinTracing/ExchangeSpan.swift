#if Tracing
    internal import Dunlin
    internal import Synchronization
    internal import Tracing

    /// The span of one exchange. It ends with the response's body, or with its head if nobody reads the body to its
    /// end: how long a program kept it is nothing of the server's.
    final class ExchangeSpan: HTTPSession.ExchangeObserver {
        private let span: any Tracing.Span
        private let settings: HTTPSession.SpanSettings
        private let begun = DefaultTracerClock.now
        /// When the response's head came, in nanoseconds since the epoch; zero before that.
        private let gotHead = Atomic<UInt64>(0)
        /// How many fields of the context were not handed on to be sent.
        private let droppedFields: Int

        private let secretFields: HTTP.SecretFields

        init(
            _ span: any Tracing.Span, _ settings: HTTPSession.SpanSettings, of exchange: HTTPSession.Exchange,
            droppedFields: Int
        ) {
            (self.span, self.settings, self.droppedFields) = (span, settings, droppedFields)
            secretFields = exchange.secretFields
        }

        func describe(_ exchange: HTTPSession.Exchange, _ method: SpanMethod, _ template: String?) {
            let head = exchange.head
            var attributes: SpanAttributes = [:]
            attributes[.method] = method.known
            attributes[.originalMethod] = method.original
            let path = settings.showsPaths ? nil : template ?? "REDACTED"
            attributes[.url] = SpanText.url(exchange.shownURL, path: path)
            attributes[.address] = SpanText.visible(head.origin.host)
            attributes[.port] = Int(head.origin.port)
            if exchange.number > 1 { attributes[.resendCount] = exchange.number - 1 }
            attributes[.task] = Int(clamping: exchange.task.id.rawValue)
            if exchange.attempt > 1 { attributes[.attempt] = exchange.attempt }
            if settings.includesDevelopment { attributes[.template] = template }
            if settings.includesOptional {
                attributes[.scheme] = head.origin.scheme.rawValue
                attributes[.userAgent] = shown("User-Agent", of: head.fields)?.first
            }
            for name in settings.requestFields {
                attributes["\(SpanKey.requestField.rawValue).\(name.lowercased())"] = shown(name, of: head.fields)
            }
            span.updateAttributes { $0.merge(attributes) }
        }

        func answered(_ head: ResponseHead) {
            gotHead.store(DefaultTracerClock.now.nanosecondsSinceEpoch, ordering: .relaxed)
        }

        func ended(_ end: HTTPSession.ExchangeEnd) {
            var time = DefaultTracerClock.now
            if end.body == .left {
                time = DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: gotHead.load(ordering: .relaxed))
            }
            if span.isRecording { describe(end, at: time) }
            span.end(at: time)
        }

        private func describe(_ end: HTTPSession.ExchangeEnd, at now: DefaultTracerClock.Timestamp) {
            var attributes: SpanAttributes = [:]
            if let head = end.head {
                attributes[.status] = head.status.code
                attributes[.version] = head.version.number
                for name in settings.responseFields {
                    attributes["\(SpanKey.responseField.rawValue).\(name.lowercased())"] = shown(
                        name, of: head.fields)
                }
            }
            if end.body == .left { attributes[.body] = "left" }
            let dropped = droppedFields + end.droppedFields
            if dropped > 0 { attributes[.droppedFields] = dropped }
            if let hop = end.hop { describe(hop, at: now, &attributes) }
            let failure = Failure(of: end)
            failure?.describe(&attributes)
            span.updateAttributes { $0.merge(attributes) }
            if let failure { span.setStatus(failure.status) }
            if end.error?.isCancellation == true { span.addEvent(.cancelled) }
        }

        /// A field's values, as far as they may be seen; nil if there is none, or they hold a secret.
        private func shown(_ name: String, of fields: Fields) -> [String]? {
            let values = fields.filter { $0.name.lowercased() == name.lowercased() }.prefix(Self.mostValues)
            if values.isEmpty || fields.holdsSecret(name, secretFields) { return nil }
            return values.map { SpanText.visible($0.value) }
        }

        private static let mostValues = 8

        private func describe(
            _ hop: HTTP.Hop, at now: DefaultTracerClock.Timestamp, _ attributes: inout SpanAttributes
        ) {
            if let peer = hop.peer {
                attributes[.peer] = SpanText.visible(peer.host)
                attributes[.peerPort] = peer.port
                if settings.includesOptional { attributes[.transport] = peer.port == nil ? "unix" : "tcp" }
            }
            if hop.connection != 0 { attributes[.isReused] = hop.isConnectionReused }
            attributes[.proxy] = hop.proxy.map(SpanText.proxy)
            if settings.includesDevelopment {
                attributes[.requestSize] = hop.bytesSent
                if hop.requestBodyBytes > 0 { attributes[.requestBodySize] = hop.requestBodyBytes }
                attributes[.responseSize] = hop.bytesReceived
                attributes[.bodySize] = hop.bodyBytes
            }
            for event in SpanEvent.phases(of: hop, from: begun, to: now) { span.addEvent(event) }
        }
    }

    extension HTTP.Version {
        fileprivate var number: String {
            switch self {
            case .http10: "1.0"
            case .http11: "1.1"
            }
        }
    }

    extension HTTP.SocketAddress {
        /// Nil for a Unix socket.
        fileprivate var port: Int? {
            switch self {
            case .v4(_, let port), .v6(_, _, let port, _): Int(port)
            case .unix: nil
            }
        }
    }
#endif
