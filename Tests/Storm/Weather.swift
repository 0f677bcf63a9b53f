import Dunlin
import DunlinTesting
import Synchronization

/// A loopback server that misbehaves by plan, and now and then goes away as a whole: another takes its place, at
/// another port, while requests are still on their way to the old one.
final class Weather: Sendable {
    private let plan: FaultPlan
    private let current: Mutex<LoopbackServer>
    private let tally: Tally

    init(_ tally: Tally) throws {
        plan = Self.plan(tally.seed)
        self.tally = tally
        current = Mutex(try Self.server(plan))
    }

    var baseURL: String { current.withLock { $0.baseURL } }

    /// Blocks until every thread of the old server has gone, while requests already find the new one.
    func replaceServer() throws {
        let next = try Self.server(plan)
        let old = current.withLock { server in
            defer { server = next }
            return server
        }
        end(old)
    }

    func stop() { end(current.withLock { $0 }) }

    private func end(_ server: LoopbackServer) {
        server.stop()
        for failure in server.failures where failure.kind != .truncated {
            tally.violation("the server complains: \(failure)")
        }
    }

    private static func plan(_ seed: UInt64) -> FaultPlan {
        var weights = FaultPlan.Weights()
        (weights.none, weights.stalled) = (800, 10)
        (weights.refused, weights.reset, weights.truncated, weights.wrongLength) = (15, 25, 25, 15)
        (weights.dripping, weights.delayed, weights.unavailable) = (25, 25, 15)
        var plan = FaultPlan(seed: seed, weights: weights)
        plan.bytes = 0...2000
        plan.delays = .milliseconds(1)...(.milliseconds(20))
        return plan
    }

    private static func server(_ plan: FaultPlan) throws -> LoopbackServer {
        var configuration = LoopbackServer.Configuration()
        configuration.recordsRequests = false
        let server = try LoopbackServer(configuration: configuration)
        server.onConnect { connection in
            switch plan.fault(for: connection, of: "connect") {
            case .refused: .resetAtOnce
            case .truncated: connection.isMultiple(of: 3) ? .closeAtOnce : .accept
            case .stalled: connection.isMultiple(of: 4) ? .stallBeforeReading : .accept
            default: .accept
            }
        }
        server.respond { request in
            guard let errand = Errand(target: request.target) else { return .response(.notFound) }
            guard errand.accepts(request) else { return .response(.badRequest) }
            return errand.reply.suffering(plan.fault(for: errand.number), answering: request.method)
        }
        return server
    }
}
