import Dunlin
import DunlinTesting
import DunlinTracing
import InMemoryTracing
import Tracing

/// A session with a mock transport, whose spans are kept.
struct Traced {
    let transport = MockTransport()
    let tracer: W3CTracer
    let session: HTTPSession

    init(
        injecting fields: [(String, String)]? = nil, _ change: (inout HTTPSession.SpanSettings) -> Void = { _ in },
        configure: (inout HTTPSession.Configuration) -> Void = { _ in }
    ) throws {
        tracer = W3CTracer(fields: fields)
        var configuration = HTTPSession.Configuration(baseURL: "https://api.test/v1/", transport: transport)
        configuration.recordSpans(with: tracer, change)
        configure(&configuration)
        session = try HTTPSession(configuration)
    }

    /// The spans that have ended, by the order of their beginnings.
    var spans: [FinishedInMemorySpan] { tracer.spans }

    var sent: [Fields] { transport.requests.map(\.fields) }
}

/// Keeps spans in memory, and injects their context as W3C recommends, or the given fields.
struct W3CTracer: Tracer {
    let memory = InMemoryTracer()
    var fields: [(String, String)]?

    func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> InMemorySpan {
        memory.startSpan(
            operationName, context: context(), ofKind: kind, at: instant(), function: function, file: fileID,
            line: line)
    }

    func forceFlush() {}

    func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Carrier == Inject.Carrier {
        for (name, value) in fields ?? Self.fields(of: context) {
            injector.inject(value, forKey: name, into: &carrier)
        }
    }

    private static func fields(of context: ServiceContext) -> [(String, String)] {
        guard let span = context.inMemorySpanContext else { return [] }
        return [
            ("traceparent", "00-\(span.traceID)-\(span.spanID)-01"), ("tracestate", "memory=1"),
            ("baggage", "user=\(context.user ?? "none")"),
        ]
    }

    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Carrier == Extract.Carrier {}

    var spans: [FinishedInMemorySpan] {
        memory.finishedSpans.sorted { $0.number < $1.number }
    }
}

private enum UserKey: ServiceContextKey {
    typealias Value = String
}

extension ServiceContext {
    var user: String? {
        get { self[UserKey.self] }
        set { self[UserKey.self] = newValue }
    }
}

extension FinishedInMemorySpan {
    /// `span-7` is the seventh.
    var number: Int { Int(spanContext.spanID.dropFirst(5)) ?? 0 }

    var eventNames: [String] { events.map(\.name) }

    /// The attributes as text.
    var texts: [String: String] { attributes.texts }

    /// What a reader of the trace can see of it.
    var everything: String {
        let events = events.map { "\($0.name) \($0.attributes.texts)" }
        return "\(operationName) \(texts) \(events) \(status as Any) \(errors.map { "\($0)" })"
    }
}

extension SpanAttributes {
    var texts: [String: String] {
        var texts: [String: String] = [:]
        forEach { name, value in
            switch value {
            case .int64(let number): texts[name] = "\(number)"
            case .int32(let number): texts[name] = "\(number)"
            case .string(let text): texts[name] = text
            case .bool(let flag): texts[name] = "\(flag)"
            case .double(let number): texts[name] = "\(number)"
            default: texts[name] = "\(value)"
            }
        }
        return texts
    }
}
