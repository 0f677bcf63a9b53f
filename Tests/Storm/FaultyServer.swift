import Dunlin
import DunlinTesting
import Synchronization

/// A loopback server that misbehaves by plan, and now and then goes away as a whole: another takes its place, at
/// another port, while requests are still on their way to the old one.
final class FaultyServer: Sendable {
    private let plan: FaultPlan
    private let masks: Masks?
    private let current: Mutex<LoopbackServer>
    private let tally: Tally
    private let arrivals: Arrivals

    /// The numbers of the requests that have come, whole or not: what a request that was refused is compared with.
    private final class Arrivals: Sendable {
        private let numbers = Mutex<Set<Int>>([])

        func note(_ number: Int) { numbers.withLock { _ = $0.insert(number) } }
        func has(_ number: Int) -> Bool { numbers.withLock { $0.contains(number) } }
    }

    init(_ tally: Tally, _ masks: Masks?) throws {
        let arrivals = Arrivals()
        plan = Self.plan(tally.seed)
        self.masks = masks
        self.tally = tally
        self.arrivals = arrivals
        current = Mutex(try Self.server(plan, masks, arrivals))
    }

    func hasSeen(_ number: Int) -> Bool { arrivals.has(number) }

    func baseURL(of host: Masks.Name) -> String {
        let server = current.withLock { $0 }
        return masks == nil ? server.baseURL : "https://\(host.rawValue):\(server.port)"
    }

    /// Blocks until every thread of the old server has gone, while requests already find the new one.
    func replaceServer() throws {
        let next = try Self.server(plan, masks, arrivals)
        let old = current.withLock { server in
            defer { server = next }
            return server
        }
        end(old)
    }

    func stop() { end(current.withLock { $0 }) }

    private func end(_ server: LoopbackServer) {
        server.stop()
        for failure in server.failures where !isExpected(failure) {
            tally.violation("the server complains: \(failure)")
        }
    }

    /// A request that was given up may end anywhere; in a handshake too, or with an alert.
    private func isExpected(_ failure: LoopbackServer.Failure) -> Bool {
        switch failure.kind {
        case .truncated: true
        case .tls: masks != nil && Self.excuses.contains { failure.detail.contains($0) }
        case .malformed, .system: false
        }
    }

    /// The client left, or said why it would not go on. That it could not read what we wrote is no excuse.
    private static let excuses = [
        "the client closed the connection", "the client ended TLS", "unknown ca", "certificate expired",
        "bad certificate",
    ]

    static func plan(_ seed: UInt64) -> FaultPlan {
        var weights = FaultPlan.Weights()
        (weights.none, weights.stalled) = (800, 10)
        (weights.refused, weights.reset, weights.truncated, weights.wrongLength) = (15, 25, 25, 15)
        (weights.dripping, weights.delayed, weights.unavailable) = (25, 25, 15)
        var plan = FaultPlan(seed: seed, weights: weights)
        plan.bytes = 0...2000
        plan.delays = .milliseconds(1)...(.milliseconds(20))
        return plan
    }

    private static func server(_ plan: FaultPlan, _ masks: Masks?, _ arrivals: Arrivals) throws -> LoopbackServer {
        var configuration = LoopbackServer.Configuration()
        configuration.recordsRequests = false
        let server = try LoopbackServer(tls: masks?.tls, configuration: configuration)
        server.onConnect { connection in
            let fault = plan.fault(for: connection, of: "connect")
            return masks == nil ? arrival(fault, connection) : secureArrival(fault, connection)
        }
        server.respond { request in
            guard let call = PlannedCall(target: request.target) else { return .response(.notFound) }
            arrivals.note(call.number)
            guard call.accepts(request) else { return .response(.badRequest) }
            let fault = plan.fault(for: call.number)
            return masks == nil
                ? call.reply.suffering(fault, answering: request.method)
                : call.reply.sufferingOverTLS(fault, call, answering: request.method)
        }
        return server
    }

    static func arrival(_ fault: Fault, _ connection: Int) -> LoopbackServer.Arrival {
        switch fault {
        case .refused: .resetAtOnce
        case .truncated: connection.isMultiple(of: 3) ? .closeAtOnce : .accept
        case .stalled: connection.isMultiple(of: 4) ? .stallBeforeReading : .accept
        default: .accept
        }
    }

    /// The same, and whatever can go wrong in a handshake.
    static func secureArrival(_ fault: Fault, _ connection: Int) -> LoopbackServer.Arrival {
        switch fault {
        case .none, .delayed: .accept
        case .refused: connection.isMultiple(of: 2) ? .resetAtOnce : .closeAtOnce
        case .reset(let count): .handshake(.reset(after: count))
        case .truncated(let count): .handshake(.close(after: count))
        case .stalled(let count): .handshake(.stall(after: count))
        case .dripping(let pieces, let pause): .handshake(.drip(size: 1 + 2000 / pieces, every: pause))
        case .unavailable: .handshake(.answer("HTTP/1.1 503 Service Unavailable\r\n\r\n"))
        case .wrongLength: .handshake(.alert(connection.isMultiple(of: 2) ? 40 : 80))
        }
    }
}

extension LoopbackServer.Reply {
    /// What a fault makes of a reply over TLS: an end that nobody announced, a record that is not whole, one that the
    /// server never made; and now and then new keys, which are no fault.
    fileprivate func sufferingOverTLS(_ fault: Fault, _ call: PlannedCall, answering method: HTTP.Method) -> Self {
        let whole = suffering(.none, answering: method)
        let reply = call.number.isMultiple(of: 9) ? whole.after(.renewKeys) : whole
        switch fault {
        case .truncated(let count): return reply.cutAfter(count)
        case .wrongLength(let missing): return reply.cutAfter(missing).breakingOff(isForged: call.number % 2 == 0)
        default: return reply.suffering(fault, answering: method)
        }
    }

    /// A record begins before the end, and does not end; a forged one does.
    private func breakingOff(isForged: Bool) -> Self {
        let record = Bytes([23, 3, 3, 0, 40] + [UInt8](repeating: 7, count: isForged ? 40 : 12))
        return Self(steps.dropLast() + [.outsideTLS(record)] + steps.suffix(1))
    }
}
