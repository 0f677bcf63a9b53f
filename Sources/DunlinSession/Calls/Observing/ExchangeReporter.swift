internal import DunlinReactor
internal import DunlinTransport

/// Reports what one exchange of an observed call sends and receives: interim heads to hooks and events, everything to
/// readers of the trace.
final class ExchangeReporter: WireObserver {
    private let delegate: TaskDelegate
    private let observers: RequestObservers
    private let tracers: [TraceReader]
    let wantedBytes: Int?
    var wantsAll: Bool { !tracers.isEmpty }

    init(_ delegate: TaskDelegate, _ observers: RequestObservers, _ tracers: [TraceReader]) {
        self.delegate = delegate
        self.observers = observers
        self.tracers = tracers
        wantedBytes = tracers.compactMap(\.wantedBytes).max()
    }

    func saw(_ step: HTTP.WireStep) {
        if !wantsAll {
            guard case .interimHead = step else { return }
        }
        let step = step.marked(observers.curlSettings.secretFields)
        if case .interimHead(let head) = step {
            observers.interim?.continuation.yield(head)
            observers.events.tell(.interimResponse(snapshot, head))
        }
        if tracers.isEmpty { return }
        let snapshot = snapshot
        for tracer in tracers { tracer.tell(.step(step, of: snapshot)) }
    }

    /// Secrets stand in heads and trailers, so only whoever wants to see them gets the bytes of those.
    func saw(_ step: HTTP.WireStep, as part: WirePart) {
        for tracer in tracers where part == .both || (part == .all) == tracer.showsSecrets {
            if let step = step.cut(to: tracer.wantedBytes) { tracer.tell(.step(step, of: snapshot)) }
        }
    }

    private var snapshot: HTTPSession.TaskSnapshot { delegate.snapshot(at: delegate.loop.now()) }
}

extension RequestObservers {
    /// The reporter for an exchange; nil if nobody wants reports.
    func reporter(for delegate: TaskDelegate) -> ExchangeReporter? {
        guard interim != nil || events.hasReaders else { return nil }
        let tracers = events.tracers.filter { $0.tag.map(delegate.hasTag) ?? true }
        return ExchangeReporter(delegate, self, tracers)
    }
}

extension HTTP.WireStep {
    fileprivate func marked(_ secret: HTTP.SecretFields) -> HTTP.WireStep {
        if secret.more.isEmpty { return self }
        switch self {
        case .requestHead(var head):
            head.fields.mark(secret)
            return .requestHead(head)
        case .interimHead(var head):
            head.mark(secret)
            return .interimHead(head)
        case .responseHead(var head):
            head.mark(secret)
            return .responseHead(head)
        case .responseEnd(let count, var trailers):
            trailers.mark(secret)
            return .responseEnd(bodyBytes: count, trailers: trailers)
        case .connected, .requestSent, .responseLeft, .sent, .received, .failed: return self
        }
    }

    /// The step with at most `limit` bytes; nil for bytes if none are wanted.
    fileprivate func cut(to limit: Int?) -> HTTP.WireStep? {
        switch self {
        case .sent(let bytes, let count):
            return limit.map { .sent(bytes[0..<min($0, bytes.count)], count: count) }
        case .received(let bytes, let count):
            return limit.map { .received(bytes[0..<min($0, bytes.count)], count: count) }
        default: return self
        }
    }
}
