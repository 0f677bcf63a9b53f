#if Metrics
    public import Dunlin

    extension HTTPSession {
        /// Measures the session's connections now and at every interval, until the session is shut down or the task is
        /// cancelled: how many are open, active and idle, how many were opened, and how many requests wait.
        ///
        /// `options` should be a copy of those that the session's requests are measured with. A session with a custom
        /// transport has no connections of its own, only requests.
        ///
        /// ```swift
        /// async let connections: Void = client.measureConnections(with: options)
        /// ```
        public func measureConnections(
            every interval: Duration = .seconds(10), with options: MetricsOptions = MetricsOptions()
        ) async {
            var report = GaugeReport(Instruments(options))
            for await gauges in gauges(every: interval) { report.take(gauges) }
            report.end()
        }
    }

    /// Turns a session's gauges into changes, so that what several sessions report adds up.
    struct GaugeReport {
        private struct Level: Hashable {
            let instrument: Instrument
            let values: [String]
        }

        private let instruments: Instruments
        private var levels: [Level: Int] = [:]
        private var pool = HTTPSession.Gauges.Pool()

        init(_ instruments: Instruments) {
            self.instruments = instruments
        }

        mutating func take(_ gauges: HTTPSession.Gauges) {
            var new: [Level: Int] = [:]
            let pool = gauges.pool ?? HTTPSession.Gauges.Pool()
            for (origin, numbers) in pool.origins {
                let server = server(origin).labels
                if instruments.options.includesDevelopment {
                    new[Level(instrument: .openConnections, values: server + ["active"]), default: 0] += numbers.leased
                    new[Level(instrument: .openConnections, values: server + ["idle"]), default: 0] += numbers.idle
                }
                guard instruments.options.includesOwn else { continue }
                new[Level(instrument: .waitingRequests, values: server), default: 0] += numbers.waiting
            }
            if instruments.options.includesOwn {
                new[Level(instrument: .runningRequests, values: [])] = gauges.running
                new[Level(instrument: .queuedRequests, values: [])] = gauges.queued
                count(.openedConnections, \.opened, in: pool)
                count(.reusedConnections, \.reuses, in: pool)
                count(.failedConnections, \.failed, in: pool)
            }
            change(to: new)
            self.pool = pool
        }

        /// Takes back all that is reported as open, waiting or running.
        mutating func end() {
            change(to: [:])
        }

        private mutating func change(to new: [Level: Int]) {
            for level in Set(levels.keys).union(new.keys) {
                let (from, to) = (levels[level, default: 0], new[level, default: 0])
                if levels[level] == nil || from != to {
                    guard instruments.give(to - from, to: level.instrument, level.values) else { continue }
                }
                levels[level] = new[level]
            }
        }

        /// Counts what was added since the last time. An origin that is no longer listed is part of the others from
        /// then on, with all that was counted of it before.
        private func count(
            _ instrument: Instrument, _ number: KeyPath<HTTP.ConnectionGauges, Int>, in new: HTTPSession.Gauges.Pool
        ) {
            for (origin, numbers) in new.origins {
                let (from, to) = (pool.origins[origin]?[keyPath: number] ?? 0, numbers[keyPath: number])
                instruments.count(instrument, server(origin).labels, to < from ? to : to - from)
            }
            let moved = pool.origins.lazy.filter { new.origins[$0.key] == nil }.reduce(0) {
                $0 + $1.value[keyPath: number]
            }
            let others = new.others[keyPath: number] - pool.others[keyPath: number] - moved
            instruments.count(instrument, Server.other.labels, others)
        }

        /// The server of an origin as gauges name it: `https://host:8443`, and what follows a blank says which way
        /// there.
        private func server(_ origin: String) -> Server {
            let name = origin.prefix { $0 != " " }
            let isSecure = name.hasPrefix("https://")
            var authority = name.dropFirst(isSecure ? 8 : 7)
            var port: UInt16 = isSecure ? 443 : 80
            if let colon = authority.lastIndex(of: ":"), let number = UInt16(authority[colon...].dropFirst()) {
                port = number
                authority = authority[..<colon]
            }
            if authority.hasPrefix("["), authority.hasSuffix("]") { authority = authority.dropFirst().dropLast() }
            return instruments.server(String(authority), port, isOwn: false)
        }
    }
#endif
