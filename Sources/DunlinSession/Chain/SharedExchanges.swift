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

    private struct Running {
        let outcome: Settlement<Outcome>
        var waiting = 0
    }

    /// Where a request stands among those that are alike.
    enum Place {
        case first(Turn)
        case later(Settlement<Outcome>)
    }

    private let running = Mutex<[String: Running]>([:])

    /// Whoever comes later waits, and calls `leave` afterwards.
    func enter(_ key: String) -> Place {
        running.withLock { running in
            if let outcome = running[key]?.outcome {
                running[key]?.waiting += 1
                return .later(outcome)
            }
            let outcome = Settlement<Outcome>()
            running[key] = Running(outcome: outcome)
            return .first(Turn(exchanges: self, key: key, outcome: outcome))
        }
    }

    func leave(_ key: String, _ outcome: Settlement<Outcome>) {
        running.withLock { if $0[key]?.outcome === outcome { $0[key]?.waiting -= 1 } }
    }

    /// How many wait, in all.
    var waiting: Int { running.withLock { $0.values.reduce(0) { $0 + $1.waiting } } }

    /// The place of the request that is sent.
    struct Turn: Sendable {
        fileprivate let exchanges: SharedExchanges
        fileprivate let key: String
        fileprivate let outcome: Settlement<Outcome>

        /// Only the first of several ends counts.
        func end(_ outcome: Outcome) {
            exchanges.running.withLock { if $0[key]?.outcome === self.outcome { $0[key] = nil } }
            self.outcome.settle(outcome)
        }

        var isAwaited: Bool {
            exchanges.running.withLock { running in
                running[key].map { $0.outcome === outcome && $0.waiting > 0 } ?? false
            }
        }
    }
}
