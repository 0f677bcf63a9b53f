/// Which requests are alike and under way, and who of them waits for another.
///
/// Rules:
/// 1. The first of those that are alike is sent; whoever comes while it is under way waits for what it brings.
/// 2. Only the first end of what was sent counts, and only while nobody else was sent in its place.
/// 3. After something at a URL may have changed, whoever comes is not given what was asked for before.
///
/// Who waits for whom is `WaitMachine`'s business. `Ticket` is what those wait for who come later.
package struct CoalescingMachine<Key: Hashable, Call: Hashable, Ticket: AnyObject> {
    private struct Running {
        let ticket: Ticket
        /// The call that is sent.
        let call: Call
        var waiting = 0
    }

    private var running: [Key: Running] = [:]

    package init() {}

    package enum Place {
        case first
        /// Another call is sent, and whoever waits for it calls `leave` afterwards.
        case later(Ticket, of: Call)
    }

    package mutating func enter(_ key: Key, _ call: Call, _ ticket: @autoclosure () -> Ticket) -> Place {
        guard let present = running[key] else {
            running[key] = Running(ticket: ticket(), call: call)
            return .first
        }
        running[key]?.waiting += 1
        return .later(present.ticket, of: present.call)
    }

    package mutating func leave(_ key: Key, _ ticket: Ticket) {
        if running[key]?.ticket === ticket { running[key]?.waiting -= 1 }
    }

    package mutating func end(_ key: Key, _ ticket: Ticket) {
        if running[key]?.ticket === ticket { running[key] = nil }
    }

    package mutating func forget(where isOutdated: (Key) -> Bool) {
        for key in running.keys where isOutdated(key) { running[key] = nil }
    }

    /// How many wait, in all.
    package var waiting: Int { running.values.reduce(0) { $0 + $1.waiting } }
}
