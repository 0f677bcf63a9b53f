/// Counts how often a call is sent again, and why, and decides when that is too often.
///
/// Rules:
/// 1. Each reason has its own limit, which is enforced where the reason is known. A stage's limit begins anew when a
///    stage before it sends again:
///
///    | reason | limit |
///    |---|---|
///    | retry | the policy's `attempts` |
///    | redirect | the policy's `limit` |
///    | password | five answers of hooks and three by a password |
///    | credential | one refresh and three credentials that expired too soon |
///    | connection | once |
///    | expectation | once |
///    | cache | once for each stored response |
///    | proxy | once for each realm |
///    | continuation | `next` 100 times in each interceptor; a download's own rules |
/// 2. The limits multiply: each redirect of each retry may be challenged. So there is one limit for all reasons
///    together, which is a setting, and is raised by what the user allows elsewhere: a redirect beyond the usual twenty
///    adds one; a retry adds two, for itself and for a redirect or challenge on its way.
/// 3. A call that waited for a network was not sent, and is not counted: networks may come and go for days.
/// 4. A download is counted from its last progress, and each of its segments separately.
/// 5. A refused sending is not counted.
///
/// It must not know requests, clocks or connections.
package struct SendingMachine: Sendable {
    /// The limit of a call; `usual` is the one for the usual numbers of redirects and retries.
    static func limit(_ usual: Int, redirects: Int, attempts: Int) -> Int {
        let others = max(0, redirects - HTTPSession.RedirectPolicy().limit)
        return [others, max(0, attempts - 1), max(0, attempts - 1)].reduce(usual) {
            let (sum, isOver) = $0.addingReportingOverflow($1)
            return isOver ? .max : sum
        }
    }

    package init() {}

    private var hasBegun = false
    private var counts: [SendingReason: Int] = [:]
    private var last = SendingReason.continuation
    /// How often the call was sent again.
    private(set) var count = 0

    /// Counts a sending. The first one has no reason.
    mutating func begin(_ why: SendingReason?) {
        guard hasBegun else { return hasBegun = true }
        if why != .network { add(why ?? .continuation) }
    }

    /// Counts a sending that `begin` was not asked about.
    mutating func add(_ why: SendingReason) {
        count += 1
        counts[why, default: 0] += 1
        last = why
    }

    /// Notes that a download has made progress.
    package mutating func progressed() {
        self = SendingMachine()
    }

    /// Takes back the last count: that sending was refused.
    mutating func refuse() {
        guard count > 0 else { return }
        count -= 1
        counts[last, default: 1] -= 1
    }

    /// The reasons with their counts.
    var reasons: String {
        // In the order of the table, whose first reasons are the most useful.
        let all = SendingReason.allCases.compactMap { reason in counts[reason].map { (reason, $0) } }
        return all.filter { $1 > 0 }.map { $0.described($1) }.joined(separator: ", ")
    }
}

/// Why a call is sent again.
enum SendingReason: Hashable, Sendable, CaseIterable {
    case retry
    case redirect
    /// A challenge was answered.
    case password
    /// The credential was refused, and there is a newer one.
    case credential
    /// The connection had been closed.
    case connection
    /// There was no network; nothing was sent.
    case network
    /// The server refused `Expect`.
    case expectation
    /// The stored response was useless.
    case cache
    /// A proxy asked for a password.
    case proxy
    /// An interceptor sent again, or a download continued.
    case continuation
}

extension SendingReason {
    /// The reason and its count, as in an error.
    func described(_ count: Int) -> String {
        let (one, more) = words
        return "\(count) \(count == 1 ? one : more)"
    }

    private var words: (one: String, more: String) {
        switch self {
        case .retry: ("retry", "retries")
        case .redirect: ("redirect", "redirects")
        case .password: ("answer to a challenge", "answers to challenges")
        case .credential: ("newer credential", "newer credentials")
        case .connection: ("lost connection", "lost connections")
        case .network: ("wait for a network", "waits for a network")
        case .expectation: ("refused expectation", "refused expectations")
        case .cache: ("unusable stored response", "unusable stored responses")
        case .proxy: ("challenge of a proxy", "challenges of proxies")
        case .continuation: ("continuation", "continuations")
        }
    }
}
