/// Records identical requests under way, and which of them wait for another.
///
/// Rules:
/// 1. The first of several identical requests is sent; later ones wait for its result while it is under way.
/// 2. Only the first end of the sent request counts, and only while it has not been replaced.
/// 3. After something at a URL may have changed, new requests do not share earlier ones.
///
/// `WaitMachine` decides who may wait for whom. A `Outcome` is what later requests wait for.
package struct CoalescingMachine<Key: Hashable, Call: Hashable, Outcome: AnyObject> {
    private struct Running {
        let outcome: Outcome
        /// The call that is sent.
        let call: Call
        var waiting = 0
    }

    private var running: [Key: Running] = [:]

    package init() {}

    package enum Role {
        case first
        /// Another call is sent. Whoever waits for it must call `leave` afterwards.
        case later(Outcome, of: Call)
    }

    package mutating func enter(_ key: Key, _ call: Call, _ outcome: @autoclosure () -> Outcome) -> Role {
        guard let present = running[key] else {
            running[key] = Running(outcome: outcome(), call: call)
            return .first
        }
        running[key]?.waiting += 1
        return .later(present.outcome, of: present.call)
    }

    package mutating func leave(_ key: Key, _ outcome: Outcome) {
        if running[key]?.outcome === outcome { running[key]?.waiting -= 1 }
    }

    package mutating func end(_ key: Key, _ outcome: Outcome) {
        if running[key]?.outcome === outcome { running[key] = nil }
    }

    package mutating func forget(where isOutdated: (Key) -> Bool) {
        for key in running.keys where isOutdated(key) { running[key] = nil }
    }

    /// The number of waiting requests.
    package var waiting: Int { running.values.reduce(0) { $0 + $1.waiting } }
}
