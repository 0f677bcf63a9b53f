public import DunlinTypes
internal import Synchronization

extension LoopbackServer {
    /// Answers every request without a route or queued reply with `normal`'s reply, with the faults of the plan. This
    /// replaces the closure of `respond`.
    ///
    /// Requests are counted in order of arrival; with `byRoute`, within their method and path.
    public func apply(
        _ plan: FaultPlan, byRoute: Bool = false, _ normal: @escaping @Sendable (RecordedRequest) -> Reply
    ) {
        let counter = FaultCounter(plan, byRoute: byRoute)
        respond { normal($0).suffering(counter.next($0.method, $0.target), answering: $0.method) }
    }
}

extension LoopbackServer.Reply {
    /// Returns the reply with a fault. Name the method if it answers a HEAD: with a fault, heads and bodies are just
    /// bytes.
    public func suffering(_ fault: Fault, answering method: HTTP.Method = .get) -> Self {
        Self(steps(answering: method)).spoiled(by: fault)
    }

    private func spoiled(by fault: Fault) -> Self {
        switch fault {
        case .none: self
        case .refused: [.reset]
        case .reset(let count): resetAfter(count)
        case .truncated(let count): truncatedAfter(count)
        case .stalled(let count): stallingAfter(count)
        case .dripping(let pieces, let pause):
            dripping((byteCount + pieces - 1) / max(pieces, 1), every: pause)
        case .delayed(let duration): delayed(duration)
        case .unavailable: .response(.serviceUnavailable)
        case .wrongLength(let missing): announcing(missing)
        }
    }

    private var byteCount: Int { steps.reduce(0) { $0 + $1.byteCount } }

    /// The reply with a declared length that is too long. A reply without a length, such as a chunked one, is cut
    /// instead.
    private func announcing(_ more: Int) -> Self {
        var hasLength = false
        let longer = steps.map { step -> LoopbackServer.Step in
            guard case .message(var message) = step, let length = message.fields["Content-Length"].flatMap(Int.init)
            else { return step }
            hasLength = true
            message.fields["Content-Length"] = "\(length + more)"
            return .message(message)
        }
        return hasLength ? Self(longer).closingSilently : truncatedAfter(byteCount - min(more, byteCount))
    }
}

/// Counts requests and asks a plan about each.
final class FaultCounter: Sendable {
    private let plan: FaultPlan
    private let byRoute: Bool
    private let counts = Mutex<[String: Int]>([:])

    init(_ plan: FaultPlan, byRoute: Bool) {
        self.plan = plan
        self.byRoute = byRoute
    }

    func next(_ method: HTTP.Method, _ target: String) -> Fault {
        let route = byRoute ? "\(method) \(target.prefix { $0 != "?" })" : nil
        let number = counts.withLock { counts in
            defer { counts[route ?? "", default: 0] += 1 }
            return counts[route ?? "", default: 0]
        }
        return plan.fault(for: number, of: route)
    }
}
