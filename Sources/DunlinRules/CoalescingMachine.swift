/// Records identical requests under way, and how many wait for them.
///
/// Rules:
/// 1. The first of several identical requests is sent; later ones wait for its result while it is under way.
/// 2. Only the first end of the sent request counts, and only while it has not been replaced.
/// 3. After something at a URL may have changed, new requests do not share earlier ones.
///
/// An `Outcome` is what later requests wait for.
package struct CoalescingMachine<Key: Hashable, Outcome: AnyObject> {
    private struct Running {
        let outcome: Outcome
        var waiting = 0
    }

    private var running: [Key: Running] = [:]

    package init() {}

    /// Enters a request. Returns what it waits for, and it must call `leave` afterwards; nil if it is sent itself, and
    /// `outcome` is what others wait for.
    package mutating func enter(_ key: Key, _ outcome: @autoclosure () -> Outcome) -> Outcome? {
        guard let present = running[key] else {
            running[key] = Running(outcome: outcome())
            return nil
        }
        running[key]?.waiting += 1
        return present.outcome
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
