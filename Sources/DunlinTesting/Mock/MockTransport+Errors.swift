public import DunlinTypes

extension MockTransport {
    /// A request that no route had an outcome for.
    public struct Unmatched: Error, Hashable, CustomStringConvertible {
        public let method: HTTP.Method
        public let target: String
        /// The routes there were, each with what was left of it.
        public let routes: [String]

        public var description: String {
            let known = routes.isEmpty ? "there are no routes" : "routes: \(routes.joined(separator: "; "))"
            return "no outcome for \(method) \(target); \(known)"
        }
    }

    /// What a test arranged and what happened do not go together.
    public struct VerificationFailure: Error, Hashable, CustomStringConvertible {
        /// Outcomes that no request asked for.
        public let unused: [String]
        /// Requests that nothing answered.
        public let unmatched: [Unmatched]

        public var description: String {
            let lines = unused.map { "not used: \($0)" } + unmatched.map { "not matched: \($0.method) \($0.target)" }
            return lines.joined(separator: "\n")
        }
    }

    /// The ways in which networks fail, as the socket transport would report them.
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

        /// The request was sent and the connection reset before a byte of the response came.
        public static let connectionReset = Failure(
            .connectionClosed, "the connection was reset", .firstByte, isSent: true)
        public static let connectionRefused = Failure(
            .connectionFailed, "no address accepted a connection", .connect)
        public static let nameNotResolved = Failure(.nameNotResolved, "the name was not resolved", .resolve)
        /// At once, as if the limit had passed: in the phase that it is for, or, with `total`, before the answer.
        public static func timedOut(_ limit: Timeouts.Limit) -> Failure {
            let isSent = [.send, .firstByte, .readIdle, .total].contains(limit)
            let own = HTTP.Phase.allCases.first { Timeouts.Limit($0) == limit }
            let phase = own ?? (limit == .queue ? .pool : .firstByte)
            let reason = "the \(limit.rawValue) limit was exceeded"
            return Failure(.timedOut, reason, phase, isSent: isSent, exceeding: limit)
        }
    }
}
