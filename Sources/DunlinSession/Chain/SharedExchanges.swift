internal import DunlinSemantics
internal import Synchronization

/// The exchanges under way that others may wait for, each under a text that says all that makes requests alike.
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
        /// All that is said beside the URL.
        let text: String
    }

    private struct Running {
        let outcome: Settlement<Outcome>
        /// The call that is sent.
        let call: HTTPSession.TaskID
        var waiting = 0
    }

    /// Where a request stands among those that are alike.
    enum Place {
        case first(Turn)
        case later(Settlement<Outcome>)
        /// It is made within the call that is sent, which cannot end before it.
        case within
    }

    private let running = Mutex<[Key: Running]>([:])

    /// Whoever comes later waits, and calls `leave` afterwards.
    func enter(_ key: Key, _ call: HTTPSession.TaskID) -> Place {
        let enclosures = Enclosure.subjects
        return running.withLock { running in
            if let present = running[key] {
                if enclosures.contains(.request(present.call)) { return .within }
                running[key]?.waiting += 1
                return .later(present.outcome)
            }
            let outcome = Settlement<Outcome>()
            running[key] = Running(outcome: outcome, call: call)
            return .first(Turn(exchanges: self, key: key, outcome: outcome))
        }
    }

    func leave(_ key: Key, _ outcome: Settlement<Outcome>) {
        running.withLock { if $0[key]?.outcome === outcome { $0[key]?.waiting -= 1 } }
    }

    /// Something at a URL may have changed: whoever comes from now on is not given what was asked for before.
    func forget(_ url: CacheKey) {
        running.withLock { running in
            for key in running.keys where key.url == url { running[key] = nil }
        }
    }

    /// How many wait, in all.
    var waiting: Int { running.withLock { $0.values.reduce(0) { $0 + $1.waiting } } }

    /// The place of the request that is sent.
    struct Turn: Sendable {
        fileprivate let exchanges: SharedExchanges
        fileprivate let key: Key
        fileprivate let outcome: Settlement<Outcome>

        /// Only the first of several ends counts.
        func end(_ outcome: Outcome) {
            exchanges.running.withLock { if $0[key]?.outcome === self.outcome { $0[key] = nil } }
            self.outcome.settle(outcome)
        }
    }
}
