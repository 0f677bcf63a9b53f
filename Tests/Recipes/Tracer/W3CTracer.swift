public import InMemoryTracing
public import Instrumentation
public import Tracing

/// Keeps spans in memory, and continues traces by `traceparent`. A program has a tracer that sends its spans on.
public struct W3CTracer: Tracer {
    private let memory = InMemoryTracer(
        idGenerator: .init(nextTraceID: { hex(bytes: 16) }, nextSpanID: { hex(bytes: 8) }))

    public init() {}

    /// The tracer of this process.
    public static let shared: W3CTracer = {
        let tracer = W3CTracer()
        InstrumentationSystem.bootstrap(tracer)
        return tracer
    }()

    public static func hex(bytes: Int) -> String {
        (0..<bytes).map { _ in
            let byte = UInt8.random(in: 1...255)
            return byte < 16 ? "0" + String(byte, radix: 16) : String(byte, radix: 16)
        }.joined()
    }

    public func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> InMemorySpan {
        memory.startSpan(
            operationName, context: context(), ofKind: kind, at: instant(), function: function, file: fileID,
            line: line)
    }

    public func forceFlush() {}

    public func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Carrier == Inject.Carrier {
        guard let span = context.inMemorySpanContext else { return }
        injector.inject("00-\(span.traceID)-\(span.spanID)-01", forKey: "traceparent", into: &carrier)
    }

    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Carrier == Extract.Carrier {
        let parts = extractor.extract(key: "traceparent", from: carrier)?.split(separator: "-") ?? []
        guard parts.count == 4 else { return }
        context.inMemorySpanContext = InMemorySpanContext(
            traceID: String(parts[1]), spanID: String(parts[2]), parentSpanID: nil)
    }

    /// The spans of one trace that have ended.
    public func spans(of trace: String) -> [FinishedInMemorySpan] {
        memory.finishedSpans.filter { $0.spanContext.traceID == trace }
    }
}
