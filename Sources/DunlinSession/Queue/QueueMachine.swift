internal import DunlinTransport

/// Decides which requests may run, and which wait for a turn.
///
/// Rules:
/// 1. There are two caps: one for all requests, and one for each host. A request within both caps runs at once.
/// 2. Waiting requests are served by priority, then in order of arrival, among those whose host has room: a full host
///    does not delay requests to others. So a request waits because all is full or its host is full, and each request
///    that leaves makes room for at most one.
/// 3. A change of priority takes effect at once; the order of arrival stays.
/// 4. The number of waiting requests is limited. A request that stepped aside and returns with its number gets its old
///    position and is not refused.
/// 5. The machine wakes nobody; it returns whom to wake.
struct QueueMachine<Waiter> {
    enum Action: Equatable {
        case go
        case wait(number: UInt64)
        case refuse
    }

    private typealias Turn = PriorityQueue<Waiter>.Position

    private struct Host {
        var running = 0
        var queue = PriorityQueue<Waiter>()

        var isDeserted: Bool { running == 0 && queue.isEmpty }
    }

    private let limits: HTTPSession.QueueLimits
    private var hosts: [String: Host] = [:]
    /// The hosts with room and waiting requests, in the order of each host's first waiter.
    private var ready: [(turn: Turn, host: String)] = []
    private var nextNumber: UInt64 = 0
    private(set) var running = 0
    private(set) var waiting = 0

    init(_ limits: HTTPSession.QueueLimits) {
        self.limits = limits
    }

    /// Admits a request, which must then `leave`, or has it wait. `number` is that of an earlier wait that ended.
    mutating func enter(
        _ host: String, _ priority: HTTP.Priority, as number: UInt64? = nil, _ waiter: @autoclosure () -> Waiter
    ) -> Action {
        let host = queueName(of: host)
        if running < limits.running ?? .max, hasRoom(hosts[host] ?? Host()) {
            running += 1
            change(host) { $0.running += 1 }
            return .go
        }
        guard number != nil || waiting < limits.maximumWaiting else { return .refuse }
        let given = number ?? nextNumber
        if number == nil { nextNumber += 1 }
        waiting += 1
        let waiter = waiter()
        change(host) { $0.queue.append(waiter, priority: priority, number: given) }
        return .wait(number: given)
    }

    /// Ends an admitted request. Returns who goes next, and to which host.
    mutating func leave(_ host: String) -> (waiter: Waiter, host: String)? {
        running -= 1
        change(queueName(of: host)) { $0.running -= 1 }
        guard running < limits.running ?? .max, let next = ready.first else { return nil }
        let waiter = change(next.host) { host in
            host.running += 1
            return host.queue.popFirst()
        }
        guard let waiter else { return nil }
        running += 1
        waiting -= 1
        return (waiter, next.host)
    }

    /// Ends a wait. Returns the waiter; nil if it was not waiting.
    mutating func giveUp(_ number: UInt64, _ host: String) -> Waiter? {
        guard let waiter = change(queueName(of: host), { $0.queue.leave(number) }) else { return nil }
        waiting -= 1
        return waiter
    }

    /// Changes the priority of a waiting request; no effect on others.
    mutating func move(_ number: UInt64, _ host: String, to priority: HTTP.Priority) {
        change(queueName(of: host)) { $0.queue.move(number, to: priority) }
    }
}

extension QueueMachine {
    /// The queue for `host`; all hosts share one if there is no cap for each.
    private func queueName(of host: String) -> String { limits.runningPerOrigin == nil ? "" : host }

    private func hasRoom(_ host: Host) -> Bool { host.running < limits.runningPerOrigin ?? .max }

    /// The turn of the first waiter at `host`, if the host has room.
    private func turn(at host: String) -> Turn? {
        guard let host = hosts[host], hasRoom(host) else { return nil }
        return host.queue.first
    }

    /// Changes a host. All changes go through here, so that `ready` stays correct.
    private mutating func change<Result>(_ host: String, _ change: (inout Host) -> Result) -> Result {
        let before = turn(at: host)
        let result = change(&hosts[host, default: Host()])
        let after = turn(at: host)
        if before != after {
            if let before { ready.remove(at: index(of: before)) }
            if let after { ready.insert((after, host), at: index(of: after)) }
        }
        if hosts[host]?.isDeserted == true { hosts[host] = nil }
        return result
    }

    /// The index of a turn in `ready`, or where it would be inserted.
    private func index(of turn: Turn) -> Int {
        var low = 0
        var high = ready.count
        while low < high {
            let middle = (low + high) / 2
            if ready[middle].turn < turn { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
