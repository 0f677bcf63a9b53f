internal import DunlinTypes

/// Why a request was not sent, as the `underlying` of an error with code `rateLimited` or `circuitOpen`.
public struct ResilienceRefusal: Error, Sendable, Hashable {
    public enum Reason: Sendable, Hashable {
        /// The limit of the session, or that the server told.
        case rate(isServers: Bool)
        /// So many of the latest requests failed, were slow, or failed when they tried whether the server is well.
        case failures(Int, of: Int)
        case slow(Int, of: Int)
        case probe
        /// The budget of retries had none left for a request that tries whether the server is well.
        case budget
    }

    /// What was refused: an origin, or a key of yours.
    public let key: String
    public let reason: Reason
    /// How long the breaker has been open; nil for a limit of rate.
    public let openFor: Duration?
    /// When to come back.
    public let comesBack: Duration
}

extension ResilienceRefusal: CustomStringConvertible {
    public var description: String {
        let why =
            switch reason {
            case .rate(isServers: true): "the server's own limit is reached"
            case .rate(isServers: false): "the session's limit of rate is reached"
            case .failures(let count, let all): "\(count) of the last \(all) requests failed"
            case .slow(let count, let all): "\(count) of the last \(all) requests were slow"
            case .probe: "a request that tried whether the server is well again failed"
            case .budget: "the budget of retries has none left to try whether the server is well again"
            }
        let since = openFor.map { ", \($0.readable) ago" } ?? ""
        return "\(why)\(since); come back in \(comesBack.readable)"
    }
}
