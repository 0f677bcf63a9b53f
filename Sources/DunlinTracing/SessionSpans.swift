#if Tracing
    internal import Dunlin
    internal import Tracing

    /// Records the spans of a session.
    struct SessionSpans: HTTPSession.Observer {
        private let tracer: (any Tracer)?
        private let settings: HTTPSession.SpanSettings

        init(_ tracer: (any Tracer)?, _ settings: HTTPSession.SpanSettings) {
            (self.tracer, self.settings) = (tracer, settings)
        }

        func began(_ request: HTTPSession.TaskSnapshot) -> (any HTTPSession.RequestObserver)? {
            guard let instruments = Instruments.current(tracer) else { return nil }
            return RequestSpans(request, ServiceContext.current ?? .topLevel, instruments, settings)
        }
    }

    /// What makes the spans of one request, and what sends their context.
    struct Instruments: Sendable {
        let tracer: any Tracer
        let injecting: any Instrument

        /// Nil if nothing would be recorded or sent.
        static func current(_ chosen: (any Tracer)?) -> Instruments? {
            if let chosen { return chosen is NoOpTracer ? nil : Instruments(tracer: chosen, injecting: chosen) }
            let instrument = InstrumentationSystem.instrument
            if instrument is NoOpInstrument || instrument is NoOpTracer { return nil }
            return Instruments(tracer: InstrumentationSystem.tracer, injecting: instrument)
        }
    }
#endif
