/// Counts how often a call is sent again, and why, and decides when that is too often.
///
/// Rules:
/// 1. Each reason has a limit of its own, which is kept by those who know the reason:
///
///    | reason | limit |
///    |---|---|
///    | retry | the policy's `attempts` |
///    | redirect | the policy's `limit` |
///    | password | five answers of hooks and three by a password, each time another request is sent |
///    | credential | one refresh and three credentials that expired too soon, likewise |
///    | connection | once for each request |
///    | expectation | once |
///    | cache | once for each stored response |
///    | proxy | once for each realm |
///    | continuation | `next` 100 times in each interceptor; a download's own rules |
/// 2. They multiply: each redirect of each retry may be challenged. So there is one limit over all, which is a setting,
///    and more by as much as the user allows elsewhere. A redirect beyond the usual twenty adds one; a retry adds two,
///    for itself and for a redirect or a challenge on its way.
/// 3. A call that waited for a network was not sent, and is not counted: networks may come and go for days.
/// 4. A download counts from its last progress, and each of its segments by itself.
/// 5. What is refused is not counted.
///
/// It must not know requests, clocks or connections.
struct SendingMachine: Sendable {
    /// `usual` is how often a call may be sent again that may be redirected and retried no more often than usual.
    static func limit(_ usual: Int, redirects: Int, attempts: Int) -> Int {
        let others = max(0, redirects - HTTPSession.RedirectPolicy().limit)
        return [others, max(0, attempts - 1), max(0, attempts - 1)].reduce(usual) {
            let (sum, isOver) = $0.addingReportingOverflow($1)
            return isOver ? .max : sum
        }
    }

    private var hasBegun = false
    private var counts: [SendingReason: Int] = [:]
    private var last = SendingReason.continuation
    /// How often it was sent again.
    private(set) var count = 0

    /// It is about to be sent, for the first time or again. The first time needs no reason.
    mutating func begin(_ why: SendingReason?) {
        guard hasBegun else { return hasBegun = true }
        if why != .network { add(why ?? .continuation) }
    }

    /// A request went out again where `begin` is not asked.
    mutating func add(_ why: SendingReason) {
        count += 1
        counts[why, default: 0] += 1
        last = why
    }

    /// Something of a download has come.
    mutating func progressed() {
        self = SendingMachine()
    }

    /// What was counted last is refused, and is not sent.
    mutating func refuse() {
        guard count > 0 else { return }
        count -= 1
        counts[last, default: 1] -= 1
    }

    /// Each reason with its count.
    var reasons: String {
        // In the table's order, of which the first say most.
        let all = SendingReason.allCases.compactMap { reason in counts[reason].map { (reason, $0) } }
        return all.filter { $1 > 0 }.map { $0.described($1) }.joined(separator: ", ")
    }
}
