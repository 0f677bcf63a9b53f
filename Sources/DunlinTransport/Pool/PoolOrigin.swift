internal import DunlinTypes

/// The connections, waiters and totals of one origin.
struct PoolOrigin<Connection: PoolMember, Waiter> {
    typealias Queue = OriginQueue<Waiter>

    struct Idle {
        var connection: Connection
        var since: HTTP.Instant
        /// The time from which it may not be used.
        var until: HTTP.Instant
    }

    let origin: HTTP.Origin
    var totals: PoolTotals.Origin
    var open = 0
    /// The number of connections beyond the caps.
    var beyond = 0
    var idle: [Idle] = []
    var queue = Queue()
    /// The number of connections that are being inspected, and soon idle again or gone.
    var lookedAt = 0
    /// The number of connections being opened, by phase.
    var opening = OpeningCounts()

    init(origin: HTTP.Origin, totals: PoolTotals.Origin) {
        self.origin = origin
        self.totals = totals
    }

    var mayAwaitOne: Bool { lookedAt > 0 && queue.count < lookedAt }
    /// Whether there are waiters beyond those that inspected connections will serve.
    var hasOthersWaiting: Bool { lookedAt == 0 || queue.openingCount > 0 || queue.count > lookedAt }
    var isDeserted: Bool { open == 0 && beyond == 0 && queue.isEmpty }

    /// Takes the newest idle connection on `loop`, or the newest of all if there is none.
    mutating func takeIdle(on loop: ObjectIdentifier) -> Idle? {
        guard let newest = idle.last else { return nil }
        guard newest.connection.loop != loop,
            let near = idle.lastIndex(where: { $0.connection.loop == loop })
        else { return idle.removeLast() }
        return idle.remove(at: near)
    }

    var gauges: HTTP.ConnectionGauges {
        var gauges = HTTP.ConnectionGauges(totals)
        (gauges.open, gauges.idle, gauges.waiting) = (open + beyond, idle.count, queue.count)
        (gauges.inResolve, gauges.inConnect, gauges.inTLS) = (opening[.resolve], opening[.connect], opening[.tls])
        gauges.inProxy = opening[.proxyTLS] + opening[.tunnel]
        return gauges
    }
}
