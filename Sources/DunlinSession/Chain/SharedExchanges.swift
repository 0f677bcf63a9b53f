internal import DunlinRules
internal import DunlinSemantics
internal import Synchronization

/// The exchanges under way that others may wait for, by the rules of `CoalescingMachine` and `WaitMachine`.
final class SharedExchanges: Sendable {
    /// What those get who wait.
    enum Outcome: Sendable {
        case answer(Answer)
        case failure(NetworkError)
        /// It is not to be shared: each is sent by itself.
        case alone
        /// It was given up for reasons of its own: another is sent in its place.
        case again
    }

    struct Answer: Sendable {
        let response: TransportResponse
        let cacheUse: HTTPSession.CacheUse?
        /// As of the call that it is of.
        let hasMadeBody: Bool
    }

    /// What makes requests alike.
    struct Key: Sendable, Hashable {
        let url: CacheKey
        let user: String
        let terms: String
        let options: RareOptions.Common
        let timeouts: HTTPSession.RequestTimeouts
        let fields: String
    }

    /// Where a request stands among those that are alike.
    enum Place {
        case first(Turn)
        case later(Settlement<Outcome>)
        /// The call that is sent cannot end before it.
        case within
    }

    private typealias Machine = CoalescingMachine<Key, HTTPSession.TaskID, Settlement<Outcome>>

    private let machine = Mutex(Machine())
    /// Of all sessions, for the code of one may ask through another.
    private static let waits = Mutex(WaitMachine<HTTPSession.TaskID>())

    /// Whoever comes later waits, and calls `leave` afterwards.
    func enter(_ key: Key, _ call: HTTPSession.TaskID) -> Place {
        let outcome = Settlement<Outcome>()
        let place = machine.withLock { $0.enter(key, call, outcome) }
        guard case .later(let present, let sent) = place else {
            return .first(Turn(exchanges: self, key: key, outcome: outcome))
        }
        let outer = Set(Enclosure.subjects.compactMap(\.request))
        if Self.waits.withLock({ $0.begin(call, within: outer, for: sent) }) { return .later(present) }
        machine.withLock { $0.leave(key, present) }
        return .within
    }

    func leave(_ key: Key, _ outcome: Settlement<Outcome>, _ call: HTTPSession.TaskID) {
        Self.waits.withLock { $0.end(call) }
        machine.withLock { $0.leave(key, outcome) }
    }

    /// Something at a URL may have changed: whoever comes from now on is not given what was asked for before.
    func forget(_ url: CacheKey) {
        machine.withLock { $0.forget { $0.url == url } }
    }

    /// How many wait, in all.
    var waiting: Int { machine.withLock { $0.waiting } }

    /// The place of the request that is sent.
    struct Turn: Sendable {
        fileprivate let exchanges: SharedExchanges
        fileprivate let key: Key
        fileprivate let outcome: Settlement<Outcome>

        /// Only the first of several ends counts.
        func end(_ outcome: Outcome) {
            exchanges.machine.withLock { $0.end(key, self.outcome) }
            self.outcome.settle(outcome)
        }
    }
}

extension Enclosure.Subject {
    fileprivate var request: HTTPSession.TaskID? {
        if case .request(let id) = self { id } else { nil }
    }
}
