extension HTTPSession.RetryPolicy: SettingsGroup {
    mutating func visitSettings<Visitor: SettingsVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.visit("attempts", &attempts)
        try visitor.visit("when", &conditions, as: { $0.map(\.name).sorted() }) { names in
            let conditions = names.compactMap(Condition.init(name:))
            return conditions.count == names.count ? Set(conditions) : nil
        }
        try visitor.visit("base", seconds: &base)
        try visitor.visit("cap", seconds: &cap)
        try visitor.visit("jitter", &jitter, as: \.rawValue) { Jitter(rawValue: $0) }
        try visitor.visit("retryAfterLimit", seconds: &retryAfterLimit)
        try visitor.visit("retriesNonIdempotent", &retriesNonIdempotent)
        try visitor.visit("budget", &budget, as: Share.init) { $0.budget }
    }

    /// A budget as it is encoded: without a ratio there is no limit.
    private struct Share: Codable {
        var ratio: Double?
        var floor: Int?

        init(_ budget: Budget) {
            if case .ratio(let ratio, let floor) = budget { (self.ratio, self.floor) = (ratio, floor) }
        }

        var budget: Budget {
            guard let ratio else { return .unlimited }
            return floor.map { .ratio(ratio, floor: $0) } ?? .ratio(ratio)
        }
    }
}

extension HTTPSession.RetryPolicy.Condition {
    fileprivate var name: String {
        switch self {
        case .connectionFailure: "connectionFailure"
        case .timeout: "timeout"
        case .status(let status): "\(status)"
        }
    }

    fileprivate init?(name: String) {
        switch name {
        case "connectionFailure": self = .connectionFailure
        case "timeout": self = .timeout
        default:
            guard let code = Int(name), 0...65_535 ~= code else { return nil }
            self = .status(HTTP.Status(code))
        }
    }
}
