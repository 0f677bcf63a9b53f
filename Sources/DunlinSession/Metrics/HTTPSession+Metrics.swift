extension HTTPSession {
    /// How a request spent its time: one `HTTP.Hop` for each hop, the last of which is the response's.
    ///
    /// The usual single hop is stored in place, so that measuring allocates nothing.
    public struct Metrics: Sendable, Hashable {
        /// The earlier hops; nil for none, because even an empty array is counted by reference.
        private var earlier: [HTTP.Hop]?
        private var last: HTTP.Hop?

        public init() {}

        /// Creates metrics without the empty hops, for which nothing was sent or measured.
        init(hops: [HTTP.Hop]) {
            let hops = hops.filter { $0 != HTTP.Hop() }
            last = hops.last
            earlier = hops.count > 1 ? Array(hops.dropLast()) : nil
        }

        /// Creates metrics of the usual single hop.
        init(last: HTTP.Hop) {
            if last != HTTP.Hop() { self.last = last }
        }

        public var hops: [HTTP.Hop] {
            guard let last else { return [] }
            return (earlier ?? []) + [last]
        }

        mutating func append(_ hop: HTTP.Hop) {
            if let last { earlier = (earlier ?? []) + [last] }
            last = hop
        }

        /// The metrics of a request that waited in a queue for this many nanoseconds before it was sent.
        func after(waiting time: Int64) -> HTTPSession.Metrics {
            var hops = hops
            guard time > 0, !hops.isEmpty else { return self }
            hops[0] = hops[0].after(waiting: time)
            return HTTPSession.Metrics(hops: hops)
        }

        /// The time from the start of the first hop to the end of the last; zero while that is under way.
        public var total: Duration {
            guard let last else { return .zero }
            return max(.zero, last.ended.duration(since: (earlier?.first ?? last).started))
        }
    }
}

extension HTTPSession.Metrics: CustomStringConvertible {
    /// A waterfall of all hops.
    public var description: String {
        hops.map(\.waterfall).joined(separator: "\n")
    }
}

extension HTTP.Hop {
    /// The hop, beginning with a wait of this many nanoseconds in a queue.
    func after(waiting time: Int64) -> HTTP.Hop {
        var hop = self
        hop.started = hop.started.advanced(by: -time)
        hop[.pool] += time
        return hop
    }

    /// One line for each phase that took place: its name, its duration, and a proportional bar.
    public var waterfall: String {
        let phases = HTTP.Phase.allCases.filter { self[$0] > 0 }
        let whole = phases.reduce(max(1, total.clampedNanoseconds)) { max($0, self[$1]) }
        let peer = (peer.map { " to \($0)" } ?? "") + (proxy.map { " (\($0))" } ?? "")
        let heading = "\(isConnectionReused ? "reused" : "new") connection \(connection)\(peer), \(total.readable)"
        let lines = phases.map { phase in
            let bar = String(repeating: "▇", count: max(1, Int(self[phase] * 30 / whole)))
            let duration = Duration.nanoseconds(self[phase]).readable
            return "  \(phase.rawValue.padded(to: 9)) \(duration.padded(to: 10)) \(bar)"
        }
        return ([heading] + lines).joined(separator: "\n")
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, width - count))
    }
}
