internal import DunlinRules
internal import DunlinSemantics
internal import Synchronization

/// The running exchanges that others may wait for, by the rules of `CoalescingMachine`.
final class SharedExchanges: Sendable {
    /// What the waiters get.
    enum Outcome: Sendable {
        case answer(Answer)
        case failure(NetworkError)
        /// The result cannot be shared: each is sent separately.
        case alone
        /// The exchange was given up for its own reasons: another is sent instead.
        case again
    }

    struct Answer: Sendable {
        let response: TransportResponse
        let cacheUse: HTTPSession.CacheUse?
        /// Whether an interceptor made the body, as in the call.
        let hasMadeBody: Bool
    }

    /// What identical requests have in common.
    struct Key: Sendable, Hashable {
        let url: CacheKey
        let user: ExactText
        let terms: ExactText
        let options: AlikeOptions
        let fields: ExactText
        /// The number of the jar: what was asked for before all cookies were removed is not for who asks after it.
        let jar: String?
        /// The count of removals from the cache: what was asked for before a removal is not for who asks after it.
        let removals: UInt64?
    }

    /// The options that count for what identical requests have in common.
    struct AlikeOptions: Sendable, Hashable {
        let options: HTTPSession.Options

        static func == (one: Self, other: Self) -> Bool {
            RequestOption.all.allSatisfy { $0.sharing != .alike || $0.isSame(one.options, other.options) }
        }

        /// Most say none, and the URL tells the others apart.
        func hash(into hasher: inout Hasher) {}
    }

    /// The place of a request among identical ones.
    enum Role {
        case first(Turn)
        case later(Settlement<Outcome>)
    }

    private typealias Machine = CoalescingMachine<Key, Settlement<Outcome>>

    private let machine = Mutex(Machine())

    /// Enters a request. Later ones wait, and must call `leave` afterwards.
    func enter(_ key: Key) -> Role {
        let outcome = Settlement<Outcome>()
        if let present = machine.withLock({ $0.enter(key, outcome) }) { return .later(present) }
        return .first(Turn(exchanges: self, key: key, outcome: outcome))
    }

    func leave(_ key: Key, _ outcome: Settlement<Outcome>) {
        machine.withLock { $0.leave(key, outcome) }
    }

    /// Notes that a URL may have changed: new requests do not get what was requested before.
    func forget(_ url: CacheKey) {
        machine.withLock { $0.forget { $0.url == url } }
    }

    /// The number of requests that wait.
    var waiting: Int { machine.withLock { $0.waiting } }

    /// The turn of the request that is sent.
    struct Turn: Sendable {
        fileprivate let exchanges: SharedExchanges
        fileprivate let key: Key
        fileprivate let outcome: Settlement<Outcome>

        /// Ends the exchange. Only the first of several ends counts.
        func end(_ outcome: Outcome) {
            exchanges.machine.withLock { $0.end(key, self.outcome) }
            self.outcome.settle(outcome)
        }
    }
}
