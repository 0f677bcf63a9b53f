internal import DunlinTypes

extension Resilience {
    /// The rules for what servers say: nothing but that counts.
    var toldRules: RateRules {
        RateRules(requests: .max, per: .seconds(1), burst: .max, longestWait: longestWait)
    }

    /// What is wrong with the settings, and what to write; nil if nothing.
    var problem: String? {
        if longestWait < .zero { return "longestWait must be at least zero, not \(longestWait)" }
        if let attempt, attempt <= .zero { return "attempt must be above zero, not \(attempt)" }
        return rates.lazy.compactMap(\.problem).first.map { "rates: \($0)" } ?? breaker?.problem.map { "breaker.\($0)" }
    }
}

extension Resilience.RateLimit {
    var rules: RateRules {
        RateRules(requests: requests, per: per, burst: burst, mostWaiting: mostWaiting, longestWait: longestWait)
    }

    fileprivate var problem: String? {
        if requests < 1 { return "requests must be at least 1, not \(requests)" }
        if per <= .zero { return "per must be above zero, not \(per)" }
        if burst < 1 { return "burst must be at least 1, not \(burst)" }
        if mostWaiting < 0 { return "mostWaiting must be at least 0, not \(mostWaiting)" }
        return longestWait < .zero ? "longestWait must be at least zero, not \(longestWait)" : nil
    }
}

extension Resilience.Breaker {
    fileprivate var problem: String? {
        if minimum < 1 { return "minimum must be at least 1, not \(minimum)" }
        if outcomes < minimum { return "outcomes must be at least minimum (\(minimum)), not \(outcomes)" }
        for (name, time) in [("window", window), ("openFor", openFor)] where time <= .zero {
            return "\(name) must be above zero, not \(time)"
        }
        for (name, rate) in [("failureRate", failureRate), ("slowRate", slowRate)] where !(rate > 0 && rate <= 1) {
            return "\(name) must be above 0 and at most 1, not \(rate)"
        }
        if longestOpen < openFor { return "longestOpen must be at least openFor (\(openFor)), not \(longestOpen)" }
        if let slowAfter, slowAfter <= .zero { return "slowAfter must be above zero, not \(slowAfter)" }
        return probes < 1 ? "probes must be at least 1, not \(probes)" : nil
    }
}
