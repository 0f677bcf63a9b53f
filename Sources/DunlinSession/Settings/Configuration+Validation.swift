extension HTTPSession.Configuration {
    /// Throws for settings that contradict each other, before any request would. A message begins with the setting's
    /// name, and ends with its value where that is a number.
    func validate() throws {
        try validateConnections()
        try validateLimits()
        if let problem = `guard`?.problem { try Self.require(false, "\(problem)") }
        if let problem = sockets.problem { try Self.require(false, "sockets.\(problem)") }
        if let problem = gate?.problem { try Self.require(false, "resilience.\(problem)") }
        if let problem = retry.problem { try Self.require(false, "retry.\(problem)") }
        try ClearTextRule.check(tls.policy, baseURL: baseURL)
        try Self.require(
            loops?.isEmpty != true, "loops must have at least 1 loop, not 0; nil stands for the shared loops")
        for limit in Timeouts.Limit.allCases {
            try Self.require(timeouts[limit], isPositive: "timeouts.\(limit.rawValue)")
        }
    }

    private func validateConnections() throws {
        try Self.require(connections.perOrigin, isAtLeast: 1, "connections.perOrigin")
        try Self.require(connections.total, isAtLeast: 1, "connections.total")
        try Self.require(connections.maximumWaiting, isAtLeast: 0, "connections.maximumWaiting")
        try Self.require(connections.maximumAge, isPositive: "connections.maximumAge")
        try Self.require(connections.maximumUses, isAtLeast: 1, "connections.maximumUses")
        try Self.require(connections.idleTime, isAtLeast: .zero, "connections.idleTime")
        try Self.require(queue.running, isAtLeast: 1, "queue.running")
        try Self.require(queue.runningPerOrigin, isAtLeast: 1, "queue.runningPerOrigin")
        try Self.require(queue.maximumWaiting, isAtLeast: 0, "queue.maximumWaiting")
        if let problem = queue.problem { try Self.require(false, "queue.\(problem)") }
        try Self.require(nameResolution.timeToLive, isAtLeast: .zero, "nameResolution.timeToLive")
        try Self.require(nameResolution.negativeTimeToLive, isAtLeast: .zero, "nameResolution.negativeTimeToLive")
        try Self.require(nameResolution.capacity, isAtLeast: 0, "nameResolution.capacity")
        try Self.require(
            nameResolution.connectionAttemptDelay, isAtLeast: .milliseconds(10), "nameResolution.connectionAttemptDelay"
        )
    }

    /// Zero is a limit where a response may do without: a body, interim responses, the bytes that an error keeps.
    private func validateLimits() throws {
        try Self.require(limits.bodyBytes, isAtLeast: 0, "limits.bodyBytes")
        try Self.require(limits.decodedBytes, isAtLeast: 0, "limits.decodedBytes")
        try Self.require(limits.decodingRatio, isAtLeast: 1, "limits.decodingRatio")
        try Self.require(limits.headBytes, isAtLeast: 1, "limits.headBytes")
        try Self.require(limits.lineBytes, isAtLeast: 1, "limits.lineBytes")
        try Self.require(limits.fieldCount, isAtLeast: 1, "limits.fieldCount")
        try Self.require(limits.interimResponses, isAtLeast: 0, "limits.interimResponses")
        // Trailers end with an empty line, even where there are none.
        try Self.require(limits.trailerBytes, isAtLeast: 2, "limits.trailerBytes")
        try Self.require(limits.errorBodyBytes, isAtLeast: 0, "limits.errorBodyBytes")
        try Self.require(limits.resends, isAtLeast: 0, "limits.resends")
        try Self.require(redirects.limit, isAtLeast: 0, "redirects.limit")
        try Self.require(coalescing.largestBody, isAtLeast: 0, "coalescing.largestBody")
    }

    private static func require(_ condition: Bool, _ reason: @autoclosure () -> String) throws {
        guard condition else { throw NetworkError(.invalidConfiguration, reason()) }
    }

    /// Nil stands for no limit.
    private static func require<Value: Comparable>(_ value: Value?, isAtLeast least: Value, _ name: String) throws {
        guard let value else { return }
        try require(value >= least, "\(name) must be at least \(least), not \(value)")
    }

    private static func require(_ value: Duration?, isPositive name: String) throws {
        guard let value else { return }
        try require(value > .zero, "\(name) must be above zero, not \(value)")
    }
}
