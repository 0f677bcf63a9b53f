public import DunlinTypes

extension MockTransport {
    /// A request that no route had an outcome for.
    public struct Unmatched: Error, Hashable, CustomStringConvertible {
        public let method: HTTP.Method
        public let target: String
        /// The routes, each with what was left of it.
        public let routes: [String]

        public var description: String {
            let known = routes.isEmpty ? "there are no routes" : "routes: \(routes.joined(separator: "; "))"
            return "no outcome for \(method) \(target); \(known)"
        }
    }

    /// The difference between what a test arranged and what happened.
    public struct VerificationFailure: Error, Hashable, CustomStringConvertible {
        /// The outcomes that no request used.
        public let unused: [String]
        /// The requests that nothing answered.
        public let unmatched: [Unmatched]

        public var description: String {
            let lines = unused.map { "not used: \($0)" } + unmatched.map { "not matched: \($0.method) \($0.target)" }
            return lines.joined(separator: "\n")
        }
    }

    /// The ways in which networks fail, with the errors that the socket transport would report.
    public struct Failure: Sendable {
        let make: @Sendable (TransportRequest) -> NetworkError

        private init(
            _ code: NetworkError.Code, _ reason: String, _ phase: HTTP.Phase, isSent: Bool = false,
            exceeding limit: Timeouts.Limit? = nil
        ) {
            make = { request in
                let time = limit.flatMap { request.timeouts[$0] }
                return NetworkError(
                    code, reason, phase: phase, requestMayHaveBeenSent: isSent,
                    isSafeToRetry: !isSent || request.head.isRepeatable,
                    exceeding: limit, limit: time, elapsed: time, peer: "\(request.head.origin)")
            }
        }

        /// The connection was reset after the request was sent and before any byte of the response.
        public static let connectionReset = Failure(
            .connectionClosed, "the connection was reset", .firstByte, isSent: true)
        public static let connectionRefused = Failure(
            .connectionFailed, "no address accepted a connection", .connect)
        public static let nameNotResolved = Failure(.nameNotResolved, "the name was not resolved", .resolve)
        /// Fails at once as if the limit had passed, in its phase, or for `total` before the answer.
        public static func timedOut(_ limit: Timeouts.Limit) -> Failure {
            let isSent = [.send, .firstByte, .readIdle, .total].contains(limit)
            let own = HTTP.Phase.allCases.first { Timeouts.Limit($0) == limit }
            let phase = own ?? (limit == .queue ? .pool : .firstByte)
            let reason = "the \(limit.rawValue) limit was exceeded"
            return Failure(.timedOut, reason, phase, isSent: isSent, exceeding: limit)
        }
    }
}
