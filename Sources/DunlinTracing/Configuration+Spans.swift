#if Tracing
    public import Dunlin
    public import Tracing

    extension HTTPSession.Configuration {
        /// Records a span of kind `client` for each exchange, and sends its context along:
        ///
        /// ```swift
        /// configuration.recordSpans()
        /// configuration.recordSpans { $0.recordsRequests = true }
        /// ```
        ///
        /// A span is a child of the `ServiceContext` of the task that makes the request. Names and attributes are those
        /// of OpenTelemetry's stable conventions for HTTP clients; see the article *Traces*. No attribute, event or
        /// status has a value of a field, cookie or body, a user, a password, the text of an error, or a value in a URL
        /// whose name looks secret.
        ///
        /// By default the tracer is that of `InstrumentationSystem` when a request is made, and every instrument there
        /// injects context. The tracer is called synchronously, often by a thread that serves other requests too, so it
        /// must not block. Called again, it replaces what was set before.
        public mutating func recordSpans(
            with tracer: (any Tracer)? = nil, _ change: (inout HTTPSession.SpanSettings) -> Void = { _ in }
        ) {
            var settings = HTTPSession.SpanSettings()
            change(&settings)
            observers.removeAll { $0 is SessionSpans }
            observers.append(SessionSpans(tracer, settings))
        }
    }
#endif
